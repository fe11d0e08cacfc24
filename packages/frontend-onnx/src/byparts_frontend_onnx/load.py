"""Models from files, bytes or messages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Union

from onnx import ModelProto

from byparts_graph_ir import ArgumentError, FormatError

Source = Union[str, "os.PathLike[str]", bytes, ModelProto]
_DEEPEST = 100  # messages inside each other, which protobuf bounds itself
_NEWEST = 1000  # more than any version of operators will be
_MOST_BYTES = (1 << 31) - 1  # of a protobuf


def load(source: Source) -> tuple[ModelProto, Path | None]:
    """The model, and the path of its file if it has one.

    Raises:
        FormatError: no such file, or one that holds no model.
        ArgumentError: it is none of these.
    """
    if isinstance(source, ModelProto):
        return _checked(source, "the model"), None
    if isinstance(source, bytes):
        return _parsed(source, "the bytes"), None
    if not isinstance(source, (str, os.PathLike)):
        raise ArgumentError(
            f"from_onnx takes a path, bytes or a ModelProto, got {type(source).__name__}"
        )
    path = Path(source)
    if not path.is_file():
        raise FormatError(f"there is no file {str(path)!r}")
    size = path.stat().st_size
    if size > _MOST_BYTES:
        raise FormatError(f"{path.name} has {size} bytes; a model has less than 2 GiB, with its "
                          "weights in a file beside it")  # fmt: skip
    return _parsed(path.read_bytes(), path.name), path


def _parsed(data: bytes, what: str) -> ModelProto:
    model = ModelProto()
    try:
        model.ParseFromString(data)
    except Exception as error:  # protobuf's DecodeError; protobuf comes with onnx alone
        raise FormatError(f"{what} holds no ONNX model: {error}") from None
    return _checked(model, what)


def _checked(model: ModelProto, what: str) -> ModelProto:
    if not _is_text(model, 0):
        raise FormatError(f"{what} holds no ONNX model: a name is not UTF-8")
    imports = [*model.opset_import, *(o for f in model.functions for o in f.opset_import)]
    unknown = [o.version for o in imports if not 1 <= o.version <= _NEWEST]
    if unknown:
        raise FormatError(f"{what} asks for version {unknown[0]} of its operators")
    if not model.opset_import or not model.HasField("graph"):
        lacks = "graph" if model.opset_import else "version of its operators (opset_import)"
        raise FormatError(f"{what} holds no ONNX model: there is no {lacks}")
    return model


def _is_text(message: Any, depth: int) -> bool:
    """Whether all texts are UTF-8; protobuf gives those that are not as bytes."""
    for field, value in message.ListFields() if depth < _DEEPEST else ():
        values = value if field.is_repeated else [value]
        if field.message_type is not None:
            if not all(_is_text(v, depth + 1) for v in values):
                return False
        elif field.type == field.TYPE_STRING and not all(isinstance(v, str) for v in values):
            return False
    return True
