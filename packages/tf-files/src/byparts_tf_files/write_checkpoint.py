"""Writes checkpoints: TensorFlow's second format, with a data file that is a .safetensors as well.

`m.ckpt-3.data-00000-of-00001` is a .safetensors file (github.com/huggingface/safetensors,
"Format"): the length of a header in JSON, the header, the bytes of the tensors.  `m.ckpt-3.index`
is the index that TensorFlow wants (`bundle.py`): it says where in that file each tensor stands.  So
both TensorFlow and whatever reads .safetensors read it, and we read our own as TensorFlow's.
Texts, complex and quantized numbers, which .safetensors has not, stand in it as bytes (U8), and
its metadata says what they are.

Each file is replaced as a whole, the index last.  Until the new index stands, the data that the old
one speaks of is kept in a file that ends in `.old`, where `bundle.py` looks for it: whenever the
process is killed, one of the two checkpoints is whole.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from glob import escape, glob
from typing import IO, Any, NamedTuple

import numpy as np

from byparts_tf_files.arrays import as_array
from byparts_tf_files.atomic import beside, replace_file, to_disk
from byparts_tf_files.bundle import OLD, Bundle, data_file, index_file
from byparts_tf_files.checkpoint import FIVE_DIGITS, first_format_files
from byparts_tf_files.crc32c import crc32c, masked
from byparts_tf_files.dtypes import DType, as_dtype, string
from byparts_tf_files.errors import InvalidArgumentError, OpError
from byparts_tf_files.messages.checkpoint import BundleEntryProto, BundleHeaderProto
from byparts_tf_files.paths import path_of
from byparts_tf_files.shape import shape_proto
from byparts_tf_files.system_errors import as_tensorflow_errors
from byparts_tf_files.table import is_table, write_table
from byparts_tf_files.tensors_by_name import Array
from byparts_tf_files.text_tensors import bytes_of_texts, checksum_of_texts
from byparts_tf_files.written import remember, remove_ours

_SAFETENSORS = {
    **{"float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64", "bool": "BOOL"},
    **{"int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "uint8": "U8"},
    **{"uint16": "U16", "uint32": "U32", "uint64": "U64"},
}
_ALIGNMENT = 8


class _Tensor(NamedTuple):
    name: str
    dtype: DType
    dims: tuple[int, ...]
    content: memoryview  # the bytes in the file
    texts: tuple[bytes, ...] | None


def write_checkpoint(
    path: Any, tensors: Mapping[str, Array], meta_graph: bytes | None = None
) -> str:
    """Write the tensors by name; the path.

    Args:
        path: what is common to the names of its files; its folder is made.
        tensors: arrays; of texts, arrays of `bytes` objects.
        meta_graph: what the `.meta` file has, if there is to be one.

    Raises:
        OpError: a file cannot be written; an older checkpoint of that path is whole then.
        ValueError: a name is empty or begins with a zero byte.
        TypeError: an array is of a dtype that TensorFlow does not have.
    """
    prefix = path_of(path)
    ordered = _ordered(tensors)
    data, index = data_file(prefix, 0, 1), index_file(prefix)
    with as_tensorflow_errors(prefix):
        os.makedirs(os.path.dirname(prefix) or ".", exist_ok=True)
        with beside(data) as new_data, beside(index) as new_index:
            write_table(new_index, _write_data(new_data, ordered))
            to_disk(new_data)
            to_disk(new_index)
            if meta_graph is not None:
                replace_file(f"{prefix}.meta", meta_graph)
                remember(f"{prefix}.meta")
            _put_in_place(prefix, new_data.name, new_index.name)
        remember(data)
        remember(index)
    return prefix


def _put_in_place(prefix: str, new_data: str, new_index: str) -> None:
    """Give the files that were written beside them their names, and remove older ones."""
    data, index = data_file(prefix, 0, 1), index_file(prefix)
    _settle(prefix)
    shards = _older_shards(prefix)
    if os.path.exists(index) and os.path.exists(data):
        os.replace(data, data + OLD)
    os.replace(new_data, data)
    os.replace(new_index, index)
    for file in filter(os.path.isfile, (data + OLD, *shards)):
        os.remove(file)


def _settle(prefix: str) -> None:
    """If a process was killed while it wrote this checkpoint: make the older one whole again."""
    data = data_file(prefix, 0, 1)
    if not os.path.exists(data + OLD):
        return
    older = _older(prefix)
    if older is not None and not older.is_in(data):
        os.replace(data + OLD, data)
    else:
        os.remove(data + OLD)


def remove_checkpoint(path: Any, **_: Any) -> None:
    """Remove the files of a checkpoint, of either format; none is no error.

    Raises:
        InvalidArgumentError: a file of that name is none of a checkpoint; nothing is removed.
        OpError: one cannot be removed.
    """
    prefix = path_of(path)
    index = index_file(prefix)
    files = [index] if os.path.lexists(index) else first_format_files(prefix)
    with as_tensorflow_errors(prefix):
        for file in files:
            if not is_table(file):
                what = f"{file} is no part of a checkpoint: it is not removed"
                raise InvalidArgumentError(None, None, what)
        if files == [index]:
            files += _data_files(prefix)
        for file in (*files, f"{prefix}.meta"):
            if files and os.path.lexists(file):
                os.remove(file)


def remove_own_checkpoint(path: Any) -> bool:
    """Remove the files of a checkpoint that this process wrote; whether there was one.

    What another process wrote under the same names stays.
    """
    prefix = path_of(path)
    files = (index_file(prefix), data_file(prefix, 0, 1), f"{prefix}.meta")
    with as_tensorflow_errors(prefix):
        return any([remove_ours(file) for file in files])  # each, also behind the first


def _ordered(tensors: Mapping[str, Array]) -> list[_Tensor]:
    """Tensors with large elements first, so that each is aligned; then by name."""
    all_tensors = [_tensor(name, as_array(value)) for name, value in tensors.items()]
    return sorted(all_tensors, key=lambda t: (-_item_bytes(t.dtype), t.name))


def _item_bytes(dtype: DType) -> int:
    return dtype.size if dtype.name in _SAFETENSORS else 1


def _tensor(name: str, array: Array) -> _Tensor:
    if not name or name.startswith("\0"):
        raise ValueError(f"no tensor can be called {name!r}")
    dtype = as_dtype(array.dtype)
    if dtype is string:
        texts = tuple(array.reshape(-1).tolist())
        return _Tensor(name, dtype, array.shape, memoryview(bytes_of_texts(texts)), texts)
    contiguous = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    content = contiguous.reshape(-1).view(np.uint8).data
    return _Tensor(name, dtype, array.shape, content, None)


def _write_data(file: IO[bytes], tensors: list[_Tensor]) -> dict[bytes, bytes]:
    """Write the data file; the entries of the index."""
    header = _header(tensors)
    file.write(len(header).to_bytes(8, "little") + header)
    at = 8 + len(header)
    front = BundleHeaderProto(num_shards=1, version={"producer": 1})
    entries = {b"": front.serialize()}
    for tensor in tensors:
        file.write(tensor.content)
        crc = crc32c(tensor.content) if tensor.texts is None else checksum_of_texts(tensor.texts)
        entry = BundleEntryProto(
            dtype=tensor.dtype.as_datatype_enum,
            shape=shape_proto(tensor.dims),
            offset=at,
            size=len(tensor.content),
            crc32c=masked(crc),
        )
        entries[tensor.name.encode()] = entry.serialize()
        at += len(tensor.content)
    return entries


def _header(tensors: Iterable[_Tensor]) -> bytes:
    """The header of a .safetensors file, filled up with spaces."""
    described: dict[str, Any] = {}
    others, at = {}, 0
    for tensor in tensors:
        kind, dims = _SAFETENSORS.get(tensor.dtype.name), list(tensor.dims)
        if kind is None:
            others[tensor.name] = f"{tensor.dtype.name}{dims}"
            kind, dims = "U8", [len(tensor.content)]
        end = at + len(tensor.content)
        described[tensor.name] = {"dtype": kind, "shape": dims, "data_offsets": [at, end]}
        at = end
    if others:
        described["__metadata__"] = others
    text = json.dumps(described, ensure_ascii=False, separators=(",", ":")).encode()
    return text + b" " * (-len(text) % _ALIGNMENT)


def _data_files(prefix: str) -> list[str]:
    """Files with the names of data files of a checkpoint of this path, older ones too."""
    name = f"{escape(prefix)}.data-{FIVE_DIGITS}-of-{FIVE_DIGITS}"
    return [*glob(name), *glob(name + OLD)]


def _older(prefix: str) -> Bundle | None:
    """The checkpoint that is to be replaced, if its index can be read."""
    try:
        return Bundle(prefix)
    except OpError:
        return None


def _older_shards(prefix: str) -> list[str]:
    """Data files of an older checkpoint in several shards, which a new one leaves without use."""
    there = _data_files(prefix)
    if there in ([], [data_file(prefix, 0, 1)]):
        return []
    older = _older(prefix)
    names = re.compile(rf".*\.data-[0-9]{{5}}-of-{older.shards if older else 0:05d}", re.DOTALL)
    return [f for f in there if names.fullmatch(f) and f != data_file(prefix, 0, 1)]
