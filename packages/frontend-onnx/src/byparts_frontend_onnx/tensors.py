"""Tensors of ONNX files as NumPy arrays, also those whose bytes lie in files beside the model.

Such a file is only read where it really lies in the folder of the model: the folder that the
model's path names, or the one that the model itself is a link into (the cache of Hugging Face has
links to model and data, both into one folder).  Nothing else is opened, and no more bytes are read
than the tensor's shape says.
"""

from __future__ import annotations

from math import prod
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import SparseTensorProto, TensorProto, numpy_helper

from byparts_frontend_onnx.errors import UnsupportedOp
from byparts_graph_ir import FormatError
from byparts_opset.dtypes import numpy_dtype

Array = NDArray[Any]

OURS = {
    TensorProto.FLOAT: "f32",
    TensorProto.DOUBLE: "f64",
    TensorProto.FLOAT16: "f16",
    TensorProto.BFLOAT16: "bf16",
    TensorProto.INT4: "i4",
    TensorProto.INT8: "i8",
    TensorProto.INT16: "i16",
    TensorProto.INT32: "i32",
    TensorProto.INT64: "i64",
    TensorProto.UINT8: "u8",
    TensorProto.UINT16: "u16",
    TensorProto.UINT32: "u32",
    TensorProto.UINT64: "u64",
    TensorProto.BOOL: "bool",
}
THEIRS = {ours: theirs for theirs, ours in OURS.items()}


def dtype_of(element: int) -> str:
    """`TensorProto.FLOAT` -> "f32".

    Raises:
        UnsupportedOp: there is no such dtype in byparts.
    """
    if element not in OURS:
        raise UnsupportedOp(f"elements of type {_name(element)}, which byparts has not: "
                            f"it has {', '.join(THEIRS)}")  # fmt: skip
    return OURS[element]


_MOST_DENSE = 1 << 24


class Tensors:
    """Reader of the tensors of one model.

    Args:
        model: the path of its file, or `None` where it came as bytes or a message.
    """

    def __init__(self, model: Path | None = None) -> None:
        self._folder = None if model is None else model.parent
        self._roots = () if model is None else _folders(model)
        # Kept with the message, whose number is its own as long as it lives.
        self._read: dict[int, tuple[TensorProto, Array]] = {}

    def array(self, tensor: TensorProto) -> Array:
        """The elements of a tensor.

        Raises:
            FormatError: its bytes do not fit its shape, or lie where they must not.
            UnsupportedOp: byparts has no such dtype.
        """
        if id(tensor) not in self._read:
            self._read[id(tensor)] = (tensor, self._array(tensor))
        return self._read[id(tensor)][1]

    def _array(self, tensor: TensorProto) -> Array:
        dtype_of(tensor.data_type)
        size = prod(tensor.dims)
        if any(d < 0 for d in tensor.dims) or size > 1 << 40:
            raise FormatError(f"tensor {tensor.name!r} has the shape {list(tensor.dims)}")
        try:
            if tensor.data_location == TensorProto.EXTERNAL:
                return self._external(tensor, size)
            return np.asarray(numpy_helper.to_array(tensor))
        except (ValueError, TypeError, OverflowError, KeyError, OSError) as error:
            raise FormatError(f"tensor {tensor.name!r} cannot be read: {error}") from None

    def dense(self, sparse: SparseTensorProto) -> Array:
        """The elements of a sparse tensor, with its zeros.

        Raises:
            FormatError: an index is out of range, or the tensor has more than 2^24 elements.
        """
        values, places = self.array(sparse.values), self.array(sparse.indices)
        size = prod(sparse.dims)
        flat = places if places.ndim == 1 else np.ravel_multi_index(
            tuple(places.T), tuple(sparse.dims), "clip") if places.size else places  # fmt: skip
        if size > _MOST_DENSE or (flat.size and not 0 <= flat.min() <= flat.max() < size):
            raise FormatError(
                f"sparse tensor {sparse.values.name!r} of shape {list(sparse.dims)} has more than "
                f"{_MOST_DENSE} elements, or an index out of range"
            )
        array = np.zeros(size, values.dtype)
        array[flat.reshape(-1)] = values
        return array.reshape(tuple(sparse.dims))

    def _external(self, tensor: TensorProto, size: int) -> Array:
        entries = {e.key: e.value for e in tensor.external_data}
        path = self._path(tensor.name, entries.get("location", ""))
        offset = int(entries.get("offset") or 0)
        four_bits = tensor.data_type == TensorProto.INT4
        kind = numpy_dtype(dtype_of(tensor.data_type))
        needed = -(-size // 2) if four_bits else size * kind.itemsize
        length = int(entries.get("length") or needed)
        if offset < 0 or length != needed or offset + needed > path.stat().st_size:
            raise FormatError(
                f"tensor {tensor.name!r} needs {needed} bytes from {offset} on, says {length}, "
                f"and {path.name} has {path.stat().st_size}"
            )
        data = np.fromfile(path, np.uint8, needed, offset=offset)
        if four_bits:
            packed = TensorProto(dims=tensor.dims, data_type=tensor.data_type)
            packed.raw_data = data.tobytes()
            return np.asarray(numpy_helper.to_array(packed))
        return data.view(kind).reshape(tuple(tensor.dims))

    def _path(self, name: str, location: str) -> Path:
        if self._folder is None:
            raise FormatError(
                f"tensor {name!r} lies in the file {location!r}: give from_onnx the path of the "
                "model, not its bytes"
            )
        parts = (*PurePosixPath(location).parts, *PureWindowsPath(location).parts)
        absolute = PurePosixPath(location).is_absolute() or PureWindowsPath(location).drive
        if not location or "\0" in location or absolute or ".." in parts:
            raise FormatError(f"tensor {name!r}: {location!r} is no path inside the model's folder")
        path = (self._folder / location).resolve()
        if not any(path.is_relative_to(root) for root in self._roots):
            raise FormatError(f"tensor {name!r}: {location!r} is a link out of the model's folder")
        if not path.is_file():
            raise FormatError(f"tensor {name!r}: there is no file {location!r} beside the model")
        return path


def _folders(model: Path) -> tuple[Path, ...]:
    """The folders in which data of the model may lie, without links."""
    return (model.parent.resolve(), model.resolve().parent)


def _name(element: int) -> str:
    try:
        return str(TensorProto.DataType.Name(element))
    except ValueError:
        return f"number {element}"
