"""Saved models: a folder with `saved_model.pb` (or `.pbtxt`) and the variables beside it.

Source: TensorFlow's `saved_model.proto` and the documentation of `tf.saved_model`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from byparts_tf_files.atomic import replace_file
from byparts_tf_files.errors import DataLossError
from byparts_tf_files.file_system import make_directories
from byparts_tf_files.message import DecodeError
from byparts_tf_files.messages.meta_graph import MetaGraphDef, SavedModel
from byparts_tf_files.paths import local_path
from byparts_tf_files.system_errors import as_tensorflow_errors
from byparts_tf_files.text_format import MessageToString, Parse, ParseError

FILE, TEXT_FILE = "saved_model.pb", "saved_model.pbtxt"
VARIABLES, ASSETS = "variables", "assets"


def contains_saved_model(export_dir: Any) -> bool:
    """Whether a folder has a saved model."""
    folder = local_path(export_dir)
    return any(os.path.isfile(os.path.join(folder, name)) for name in (FILE, TEXT_FILE))


def read_saved_model(export_dir: Any) -> SavedModel:
    """The message of a saved model.

    Raises:
        OSError: the folder has none, as TensorFlow says it.
        DataLossError: it is damaged.
    """
    folder = local_path(export_dir)
    for name in (FILE, TEXT_FILE):
        path = os.path.join(folder, name)
        if not os.path.isfile(path):
            continue
        with as_tensorflow_errors(path), open(path, "rb") as file:
            data = file.read()
        try:
            if name == FILE:
                return SavedModel.FromString(data)
            return Parse(data.decode(), SavedModel())
        except (DecodeError, ParseError, UnicodeDecodeError) as error:
            raise DataLossError(None, None, f"{path}: {error}") from error
    raise OSError(f"SavedModel file does not exist at: {folder}/{{{TEXT_FILE}|{FILE}}}")


def meta_graph_of(model: SavedModel, tags: Iterable[str]) -> MetaGraphDef:
    """The graph of a saved model that has just these tags.

    Raises:
        RuntimeError: none has.
    """
    wanted = set(tags)
    graph: MetaGraphDef
    for graph in model.meta_graphs:
        if set(graph.meta_info_def.tags) == wanted:
            return graph
    there = [sorted(g.meta_info_def.tags) for g in model.meta_graphs]
    raise RuntimeError(
        f"MetaGraphDef associated with tags {sorted(wanted)} could not be found in SavedModel; "
        f"there are {there}"
    )


def write_saved_model(export_dir: Any, model: SavedModel, as_text: bool = False) -> str:
    """Write the message of a saved model into a folder, which is made; the path."""
    folder = local_path(export_dir)
    make_directories(folder)
    path = os.path.join(folder, TEXT_FILE if as_text else FILE)
    replace_file(path, MessageToString(model).encode() if as_text else model.serialize())
    return path


def variables_path(export_dir: Any) -> str:
    """Path with which the names of all files with the variables begin."""
    return os.path.join(local_path(export_dir), VARIABLES, VARIABLES)
