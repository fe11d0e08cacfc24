"""C sources become functions.  All that wait are compiled by one call of gcc, and kept on disk.

A source names no sizes, so one function serves all shapes; functions have the name of their content
and take one argument, a table of addresses and sizes.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from byparts_graph_ir import GraphError
from byparts_graph_ir.backend.kernel import Run
from byparts_graph_ir.fork import make_lock

FLAGS = "-O3 -march=native -fno-math-errno -fno-trapping-math -fopenmp-simd -shared -fPIC -w"

_waiting: dict[str, str] = {}  # name -> source
_functions: dict[str, Any] = {}
_lock = make_lock()


class MissingCompiler(RuntimeError):
    """There is no gcc here."""


def check_compiler() -> str:
    """The path of gcc.

    Raises:
        MissingCompiler: there is none; says how to get one.
    """
    found = shutil.which(os.environ.get("CC", "gcc"))
    if found is None:
        name = os.environ.get("CC", "gcc")
        raise MissingCompiler(
            f"acme-byparts-c needs a C compiler, and there is no {name!r} on PATH: install gcc, or "
            "set CC to one that takes gcc's flags"
        )
    return found


def later(body: str) -> str:
    """The name of `void NAME(void **a) { body }`; compiled when the first function is asked for."""
    name = "f" + hashlib.sha256(body.encode()).hexdigest()[:20]
    with _lock:
        if name not in _functions:
            _waiting[name] = f"void {name}(void **a) {{\n{body}\n}}\n"
    return name


def call(name: str, arguments: Sequence[Any]) -> Run:
    """A call of the function on arrays and sizes, as a partial of a function of C."""
    with _lock:
        if name not in _functions:
            _compile()
    numbers = [getattr(a, "__array_interface__", {"data": (a,)})["data"][0] for a in arguments]
    table = (ctypes.c_void_p * len(numbers))(*[n or None for n in numbers])
    setattr(table, "arrays", tuple(arguments))  # noqa: B010  (must live as long as addresses)
    return partial(_functions[name], table)


def _compile() -> None:
    """Make functions of all sources that wait."""
    names = sorted(_waiting)
    source = prelude() + "".join(_waiting[name] for name in names)
    library = ctypes.CDLL(str(shared_library(source)))
    for name in names:
        function = library[name]
        function.restype = None
        _functions[name] = function
    _waiting.clear()


@cache
def prelude() -> str:
    """What all sources begin with."""
    return (Path(__file__).parent / "prelude.h").read_text()


def shared_library(source: str) -> Path:
    """The path of the library that this source makes; compiled unless it is there already."""
    compiler = check_compiler()
    key = hashlib.sha256(f"{compiler} {FLAGS} {os.uname()} {source}".encode()).hexdigest()[:24]
    folder = Path(os.environ.get("ACME_BYPARTS_C_CACHE", Path.home() / ".cache" / "acme-byparts-c"))
    path = folder / f"{key}.so"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        made = folder / f"{key}.{os.getpid()}.so"  # another process may make the same one
        command = [compiler, *FLAGS.split(), "-x", "c", "-", "-o", str(made), "-lm"]
        done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
        if done.returncode:
            raise GraphError(f"acme-byparts-c: {compiler} refuses generated C: {done.stderr[:800]}")
        made.rename(path)
    return path
