"""Weights as .safetensors, the format of Hugging Face: a JSON header and the bytes of each tensor.

Their library reads and writes it (https://github.com/huggingface/safetensors, the extra
`byparts-runtime[safetensors]`); it checks the header before it gives out a byte.  What it finds
wrong is a `FormatError` here.  So are a name that stands there twice, of which it takes the last,
and a tensor whose dtype is none of ours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import IO, Any

import numpy as np

from byparts_graph_ir import FormatError, GraphError, ShapeError, TensorType
from byparts_runtime.arrays import Array, carrier, possible_type, type_of

_DTYPES = {
    **{"F16": "f16", "BF16": "bf16", "F32": "f32", "F64": "f64", "BOOL": "bool"},
    **{"I8": "i8", "I16": "i16", "I32": "i32", "I64": "i64", "U8": "u8"},
}
_NUMPY = {
    **{"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "bool": "bool"},
    **{"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8"},
}
_METADATA = "__metadata__"  # beside the tensors in a header: texts that belong to none of them


class SafetensorsFile:
    """The tensors of an open file.

    Raises:
        FormatError: it is damaged.
        ImportError: the library is not installed.
    """

    def __init__(self, file: IO[bytes], path: str) -> None:
        library = _library()
        self._bytes, self._path = file, path
        try:
            self._file: Any = library.safe_open(path, framework="np", backend="pread")
        except library.SafetensorError as error:
            raise self._fault(str(error)) from error
        self._check_names_differ()

    @property
    def names(self) -> tuple[str, ...]:
        """Of the tensors, in order."""
        return tuple(self._file.offset_keys())

    def type(self, name: str) -> TensorType:
        """What the header says of a tensor.

        Raises:
            FormatError: its dtype is none of ours, or no array has its shape.
        """
        found = self._file.get_slice(name)
        dtype = _DTYPES.get(found.get_dtype())
        if dtype is None:
            known = ", ".join(_DTYPES)
            raise self._fault(f"tensor {name!r} is {found.get_dtype()}; expected one of {known}")
        try:
            return possible_type(dtype, tuple(found.get_shape()))
        except ShapeError as error:
            raise self._fault(f"tensor {name!r}: {error}") from error

    def read(self, name: str) -> Array:
        """The array."""
        kind = self.type(name)
        if kind.dtype == "bf16" and carrier("bf16").kind == "V":  # ml_dtypes is not installed
            self._bytes.seek(0)
            data = dict(_library().deserialize(self._bytes.read()))[name]["data"]
            return np.frombuffer(data, carrier("bf16")).reshape(kind.dims)
        array: Array = self._file.get_tensor(name)
        return array

    def _check_names_differ(self) -> None:
        length = int.from_bytes(self._bytes.read(8), "little")
        try:
            json.loads(self._bytes.read(length), object_pairs_hook=_distinct)
        except ValueError as error:
            raise self._fault(str(error)) from error

    def _fault(self, what: str) -> FormatError:
        return FormatError(f"{self._path} is no .safetensors of arrays: {what}")


def to_safetensors(tensors: Mapping[str, Array]) -> bytes:
    """The bytes of the file.

    Raises:
        GraphError: the format cannot have a tensor of that name.
        ImportError: the library is not installed.
    """
    library = _library()
    if _METADATA in tensors:
        raise GraphError(f"no tensor in .safetensors can be called {_METADATA!r}; save as .npz")
    kept = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    specs = {name: _spec(library, kept[name], type_of(array)) for name, array in tensors.items()}
    return bytes(library.serialize(specs))  # reads `kept` by address


def _spec(library: ModuleType, array: Array, kind: TensorType) -> object:
    address, size_bytes, dtype = array.ctypes.data, array.nbytes, _NUMPY[kind.dtype]
    made: object = library.TensorSpec(
        dtype=dtype, shape=kind.dims, data_ptr=address, data_len=size_bytes
    )
    return made


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise ValueError(f"a second {name!r:.80}")
            seen.add(name)
    return found


def _library() -> ModuleType:
    try:
        library = import_module("safetensors")  # an optional extra
    except ImportError as error:
        how = "pip install 'byparts-runtime[safetensors]', or use a file called .npz"
        raise ImportError(f".safetensors needs the library safetensors: {how}") from error
    return library
