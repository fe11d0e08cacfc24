"""Version of TensorFlow, and files beside a program: `tf.VERSION`, `tf.sysconfig` and such."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import byparts_frontend_tf
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.gfile import read_file_to_string

VERSION = byparts_frontend_tf.__version__
GIT_VERSION, COMPILER_VERSION = "v1.15.0-0-g590d6ee", "none"
CXX11_ABI_FLAG = MONOLITHIC_BUILD = 0
GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER, GRAPH_DEF_VERSION_MIN_PRODUCER = 134, 0, 0


@symbol(
    *("sysconfig.get_include", "sysconfig.get_lib"),
    *("sysconfig.get_compile_flags", "sysconfig.get_link_flags"),
)
def get_include() -> NoReturn:
    """Raise NotImplementedError: there is no TensorFlow in C++ here to compile against."""
    raise NotImplementedError("there is no TensorFlow in C++ here to compile operations against")


@symbol("resource_loader.get_data_files_path")
def get_data_files_path() -> str:
    """The folder of the file that calls this."""
    return os.path.dirname(sys._getframe(1).f_code.co_filename)


@symbol("resource_loader.get_path_to_datafile")
def get_path_to_datafile(path: str) -> str:
    """The path of a file beside the file that calls this."""
    return os.path.join(os.path.dirname(sys._getframe(1).f_code.co_filename), path)


@symbol("resource_loader.load_resource")
def load_resource(path: str) -> bytes:
    """The bytes of a file beside the file that calls this.

    Raises:
        NotFoundError: there is none.
    """
    folder = os.path.dirname(sys._getframe(1).f_code.co_filename)
    data: bytes = read_file_to_string(os.path.join(folder, path), binary_mode=True)
    return data


_NAMES = ("VERSION", "GIT_VERSION", "COMPILER_VERSION")
_GRAPH = ("GRAPH_DEF_VERSION", "GRAPH_DEF_VERSION_MIN_CONSUMER", "GRAPH_DEF_VERSION_MIN_PRODUCER")
_BUILD = ("CXX11_ABI_FLAG", "MONOLITHIC_BUILD")
SYMBOLS = {
    **{name: name for name in (*_NAMES, *_GRAPH, *_BUILD)},
    **{f"version.{name}": name for name in (*_NAMES, *_GRAPH)},
    **{f"sysconfig.{name}": name for name in _BUILD},
}
