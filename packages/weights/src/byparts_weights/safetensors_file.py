"""Weights as .safetensors, the format of Hugging Face: a JSON header and the bytes of each tensor.

Their library reads and writes it (https://github.com/huggingface/safetensors, the extra
`byparts-weights[safetensors]`); it checks the header before it gives out a byte.  What it finds
wrong is a `FormatError` here.  So are a name that stands in the header twice, of which the library
takes the last, and a tensor whose dtype graph-ir does not have.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import IO, Any

import numpy as np

from byparts_graph_ir import ARRAY_DTYPES, FormatError, GraphError, ShapeError, TensorType
from byparts_weights.array_file import ArrayFile
from byparts_weights.dtypes import Array, claimed_type, numpy_dtype, type_of

_DTYPES = {
    **{"F16": "f16", "BF16": "bf16", "F32": "f32", "F64": "f64", "BOOL": "bool"},
    **{"I8": "i8", "I16": "i16", "I32": "i32", "I64": "i64"},
    **{"U8": "u8", "U16": "u16", "U32": "u32", "U64": "u64"},
}
_METADATA = "__metadata__"  # beside the tensors in a header: texts that belong to none of them


class SafetensorsFile(ArrayFile):
    """The arrays of an open .safetensors.

    Raises:
        FormatError: it is damaged.
        ImportError: the library is not installed.
    """

    def __init__(self, file: IO[bytes], path: str) -> None:
        super().__init__(path)
        library = _library()
        self._bytes = file
        try:
            self._file: Any = library.safe_open(path, framework="np", backend="pread")
        except library.SafetensorError as error:
            raise self._fault(str(error)) from error
        self._check_names_differ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._file.offset_keys())

    def type(self, name: str) -> TensorType:
        header = self._file.get_slice(name)
        dtype = _DTYPES.get(header.get_dtype())
        if dtype is None:
            known = ", ".join(_DTYPES)
            raise self._fault(f"tensor {name!r} is {header.get_dtype()}; expected one of {known}")
        try:
            return claimed_type(dtype, tuple(header.get_shape()))
        except ShapeError as error:
            raise self._fault(f"tensor {name!r}: {error}") from error

    def _read(self, name: str) -> Array:
        kind = self.type(name)
        if kind.dtype == "bf16" and numpy_dtype("bf16").kind == "V":  # ml_dtypes is not installed
            self._bytes.seek(0)
            data = dict(_library().deserialize(self._bytes.read()))[name]["data"]
            return np.frombuffer(data, numpy_dtype("bf16")).reshape(kind.dims)
        array: Array = self._file.get_tensor(name)
        return array

    def _check_names_differ(self) -> None:
        """Refuse a name that stands in the header twice."""
        length = int.from_bytes(self._bytes.read(8), "little")
        try:
            json.loads(self._bytes.read(length), object_pairs_hook=_distinct)
        except ValueError as error:
            raise self._fault(str(error)) from error

    def _fault(self, what: str) -> FormatError:
        return FormatError(f"{self.path} is no .safetensors of arrays: {what}")


def to_safetensors(arrays: Mapping[str, Array]) -> bytes:
    """The bytes of a file with these arrays.

    Raises:
        GraphError: the format cannot have a tensor of that name or that dtype.
        ImportError: the library is not installed.
    """
    library = _library()
    if _METADATA in arrays:
        raise GraphError(f"no tensor in .safetensors can be called {_METADATA!r}; save as .npz")
    kept = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    specs = {
        name: _spec(library, name, kept[name], type_of(array)) for name, array in arrays.items()
    }
    return bytes(library.serialize(specs))  # reads `kept` by address


def _spec(library: ModuleType, name: str, array: Array, kind: TensorType) -> object:
    if kind.dtype not in _DTYPES.values():
        what = f"array {name!r:.60} is {kind}, a dtype that .safetensors does not have"
        raise GraphError(f"{what}; save as .npz, or convert it to int8")
    address, size_bytes = array.ctypes.data, array.nbytes
    spec: object = library.TensorSpec(
        dtype=ARRAY_DTYPES[kind.dtype], shape=kind.dims, data_ptr=address, data_len=size_bytes
    )
    return spec


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The pairs as a dictionary; a `ValueError` names a key that is there twice."""
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            raise ValueError(f"a second {name!r:.80}")
        values[name] = value
    return values


def _library() -> ModuleType:
    try:
        library = import_module("safetensors")  # an optional extra
    except ImportError as error:
        how = "pip install 'byparts-weights[safetensors]', or use a file called .npz"
        raise ImportError(f".safetensors needs the library safetensors: {how}") from error
    return library
