"""Checkpoints of TensorFlow's first format: tables of `SavedTensorSlices`, in one or several files.

Source: TensorFlow's `saved_tensor_slice.proto`.  In each file (`table.py`), key "" has the names,
dtypes and shapes of its tensors and their parts; each part is a value under a key of its own
(`slices.py`), with the numbers in a `TensorProto`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import NamedTuple

from byparts_graph_ir import FormatError
from byparts_tf_files.dtypes import DType, as_dtype, string
from byparts_tf_files.errors import DataLossError
from byparts_tf_files.messages.checkpoint import SavedSliceMeta, SavedTensorSlices
from byparts_tf_files.messages.tensor import TensorSliceProto
from byparts_tf_files.slices import check_parts, extents, joined, key_of, sizes
from byparts_tf_files.table import Table
from byparts_tf_files.tensors import dims_of, elements_of
from byparts_tf_files.tensors_by_name import Array, TensorsByName


class _Saved(NamedTuple):
    """A tensor, and the file of each of its parts."""

    dtype: DType
    dims: tuple[int, ...]
    parts: list[tuple[Table, TensorSliceProto]]


class FirstFormat(TensorsByName):
    """A checkpoint of the first format.

    Raises:
        OpError: a file cannot be read.
        DataLossError: one is damaged.
    """

    def __init__(self, prefix: str, files: Sequence[str]) -> None:
        super().__init__(prefix)
        self._tensors: dict[str, _Saved] = {}
        for file in files:
            table = Table(file)
            try:
                for meta in SavedTensorSlices.FromString(table.get(b"") or b"").meta.tensor:
                    self._add(table, meta)
            except (FormatError, TypeError) as error:
                raise table.fault(0, f"the list of tensors: {error}") from error
        names = sorted(self._tensors)  # as they stand in the files, so that blocks are read once
        self._tensors = {name: self._tensors[name] for name in names}

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __contains__(self, name: object) -> bool:
        return name in self._tensors

    def dtype(self, name: str) -> DType:
        return self._tensors[name].dtype

    def dims(self, name: str) -> tuple[int, ...]:
        return self._tensors[name].dims

    def __getitem__(self, name: str) -> Array:
        saved = self._tensors[name]
        try:
            places = [extents(part, saved.dims) for _, part in saved.parts]
            check_parts(places, saved.dims)
            arrays = [
                (place, self._part(name, saved.dtype, *part, sizes(place)))
                for place, part in zip(places, saved.parts, strict=True)
            ]
            kind = object if saved.dtype is string else saved.dtype.as_numpy_dtype
            return arrays[0][1] if len(arrays) == 1 else joined(arrays, saved.dims, kind)
        except FormatError as error:
            raise DataLossError(None, None, f"{self.path}: {name}: {error}") from error

    def _add(self, table: Table, meta: SavedSliceMeta) -> None:
        dims, dtype = dims_of(meta.shape), as_dtype(meta.type).base_dtype
        saved = self._tensors.setdefault(meta.name, _Saved(dtype, dims, []))
        if (saved.dtype, saved.dims) != (dtype, dims):
            raise FormatError(
                f"{meta.name} is {dtype.name}{dims} and {saved.dtype.name}{saved.dims}"
            )
        saved.parts.extend([(table, part) for part in meta.slice])

    def _part(
        self, name: str, dtype: DType, table: Table, part: TensorSliceProto, dims: tuple[int, ...]
    ) -> Array:
        value = table.get(key_of(name, part))
        if value is None:
            raise FormatError(f"no part {part!r:.60} in {table.path}")
        array = elements_of(SavedTensorSlices.FromString(value).data.data, dtype)
        if len(array) != prod(dims):
            raise FormatError(f"{len(array)} numbers of {list(dims)}")
        return array.reshape(dims)
