"""Checkpoints of TensorFlow's second format, "tensor bundles": `.index` and `.data-?????-of-?????`.

Source: TensorFlow's `tensor_bundle.proto` and `core/util/tensor_bundle/tensor_bundle.h`.  The index
is a table (`table.py`): key "" has the header, each name an entry with dtype, shape, file, place,
size and checksum.  The data files are the bytes of the tensors.  A tensor saved in parts has an
entry that lists them, and each part an entry under a key of its own (`slices.py`).

Checksums are compared for each tensor that is read.  While a checkpoint is written over an older
one (`write_checkpoint.py`), the older data stands in a file that ends in `.old`: what has not the
checksum of the index is looked for there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import prod
from os import SEEK_END
from typing import Any

import numpy as np

from byparts_graph_ir import FormatError
from byparts_tf_files.crc32c import crc32c, masked
from byparts_tf_files.dtypes import DType, as_dtype, string
from byparts_tf_files.errors import DataLossError, OpError
from byparts_tf_files.messages.checkpoint import BundleEntryProto, BundleHeaderProto
from byparts_tf_files.slices import check_parts, extents, joined, key_of, sizes
from byparts_tf_files.system_errors import as_tensorflow_errors
from byparts_tf_files.table import Table
from byparts_tf_files.tensors import dims_of
from byparts_tf_files.tensors_by_name import Array, TensorsByName
from byparts_tf_files.text_tensors import checksum_of_texts, texts_of

OLD = ".old"


def index_file(prefix: str) -> str:
    """The name of the index of a checkpoint."""
    return f"{prefix}.index"


def data_file(prefix: str, shard: int, shards: int) -> str:
    """The name of one of the files with the bytes of the tensors."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


class Bundle(TensorsByName):
    """A checkpoint of the second format.

    Attributes:
        shards: in how many data files its tensors are.

    Raises:
        OpError: the index cannot be read.
        DataLossError: the index is damaged.
    """

    def __init__(self, prefix: str) -> None:
        super().__init__(prefix)
        table = Table(index_file(prefix))
        self._entries: dict[bytes, BundleEntryProto] = {}
        header = BundleHeaderProto()
        try:
            for key, value in table.items():
                if key:
                    self._entries[key] = BundleEntryProto.FromString(value)
                else:
                    header.ParseFromString(value)
            self._check_places()
            self._names = {k.decode(): k for k in self._entries if not k.startswith(b"\0")}
        except (FormatError, UnicodeDecodeError) as error:
            raise self._fault("the index", error) from error
        if header.num_shards < 1 or header.version.min_consumer > 1:
            raise self._fault("the index", f"its header is {str(header)!r:.80}")
        self.shards = header.num_shards
        self._swapped = header.endianness == BundleHeaderProto.BIG

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def dtype(self, name: str) -> DType:
        return self._checked_dtype(name, self._entry(name))

    def dims(self, name: str) -> tuple[int, ...]:
        try:
            return dims_of(self._entry(name).shape)
        except FormatError as error:
            raise self._fault(name, error) from error

    def __getitem__(self, name: str) -> Array:
        entry = self._entry(name)
        try:
            return self._in_parts(name, entry) if len(entry.slices) else self._read(name, entry)
        except FormatError as error:
            raise self._fault(name, error) from error

    def is_in(self, path: str) -> bool:
        """Whether all tensors of the first data file stand in the file `path`, undamaged."""
        try:
            for key, entry in self._entries.items():
                if entry.shard_id == 0 and not len(entry.slices):
                    self._read_from(path, repr(key), entry)
        except (OpError, FormatError):
            return False
        return True

    def _entry(self, name: str) -> BundleEntryProto:
        return self._entries[self._names[name]]

    def _checked_dtype(self, name: str, entry: BundleEntryProto) -> DType:
        try:
            dtype = as_dtype(entry.dtype)
        except TypeError as error:
            raise self._fault(name, f"no dtype is {entry.dtype}") from error
        return dtype.base_dtype

    def _in_parts(self, name: str, entry: BundleEntryProto) -> Array:
        dims, dtype = dims_of(entry.shape), self._checked_dtype(name, entry)
        places = [extents(part, dims) for part in entry.slices]
        check_parts(places, dims)
        parts = []
        for part, place in zip(entry.slices, places, strict=True):
            own = self._entries.get(key_of(name, part))
            if own is None or own.dtype != entry.dtype or dims_of(own.shape) != sizes(place):
                raise FormatError(f"no part at {[(s.start, s.stop) for s in place]}")
            parts.append((place, self._read(name, own)))
        return joined(parts, dims, object if dtype is string else dtype.as_numpy_dtype)

    def _read(self, name: str, entry: BundleEntryProto) -> Array:
        """The tensor of an entry, from the data file or the one before it."""
        path = data_file(self.path, entry.shard_id, self.shards)
        try:
            return self._read_from(path, name, entry)
        except OpError:
            try:
                return self._read_from(path + OLD, name, entry)
            except (OpError, FormatError):
                pass  # the file itself is at fault, and not that it was being written
            raise

    def _read_from(self, path: str, name: str, entry: BundleEntryProto) -> Array:
        dtype, dims = self._checked_dtype(name, entry), dims_of(entry.shape)
        if not dtype.is_numpy_compatible:
            raise FormatError(f"no array has elements of {dtype.name}")
        with as_tensorflow_errors(path), open(path, "rb") as file:
            size_bytes = file.seek(0, SEEK_END)
            if not 0 <= entry.offset <= entry.offset + entry.size <= size_bytes:
                there = f"bytes [{entry.offset}, {entry.offset + entry.size})"
                raise self._fault(name, f"{there} of {path}, which has {size_bytes}")
            file.seek(entry.offset)
            data = bytearray(entry.size)
            file.readinto(data)
        if dtype is string:
            texts = texts_of(bytes(data), prod(dims))
            self._check(name, path, entry, checksum_of_texts(texts))
            made = np.empty(len(texts), object)
            made[:] = texts
            return made.reshape(dims)
        self._check(name, path, entry, crc32c(data))
        return self._array(data, np.dtype(dtype.as_numpy_dtype), dims)

    def _check(self, name: str, path: str, entry: BundleEntryProto, crc: int) -> None:
        if masked(crc) != entry.crc32c:
            what = f"checksum {masked(crc):08x} at byte {entry.offset} of {path}"
            raise self._fault(name, f"{what}; the index has {entry.crc32c:08x}")

    def _array(self, data: bytearray, kind: Any, dims: tuple[int, ...]) -> Array:
        if len(data) != prod(dims) * kind.itemsize:
            raise FormatError(f"{len(data)} bytes of {kind}{list(dims)}")
        if kind == np.bool_ and data.translate(None, b"\0\1"):
            raise FormatError("a bool is neither 0 nor 1")
        array = np.frombuffer(data, kind).reshape(dims)
        return array.byteswap() if self._swapped else array

    def _check_places(self) -> None:
        """Refuse two tensors in the same bytes: a small file would be read many times over."""
        places = sorted((e.shard_id, e.offset, e.offset + e.size) for e in self._entries.values())
        for (shard, _, end), (next_shard, start, _) in pairwise(places):
            if shard == next_shard and start < end:
                raise FormatError(f"two tensors have byte {start} of file {shard}")

    def _fault(self, name: str, what: object) -> DataLossError:
        return DataLossError(None, None, f"{self.path}: {name}: {what}")
