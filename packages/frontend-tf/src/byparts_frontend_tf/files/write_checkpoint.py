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
from collections.abc import Iterable, Mapping
from contextlib import suppress
from glob import escape, glob
from typing import IO, Any, NamedTuple

import numpy as np

from byparts_frontend_tf.files.atomic import beside, drop_part, part_of, replace_file
from byparts_frontend_tf.files.bundle import OLD, Bundle, data_file, index_file
from byparts_frontend_tf.files.checkpoint import first_format_files
from byparts_frontend_tf.files.crc32c import crc32c, masked
from byparts_frontend_tf.files.messages.checkpoint import BundleEntryProto, BundleHeaderProto
from byparts_frontend_tf.files.paths import path_of
from byparts_frontend_tf.files.system_errors import as_tensorflow_errors
from byparts_frontend_tf.files.table import write_table
from byparts_frontend_tf.files.tensors import shape_proto
from byparts_frontend_tf.files.tensors_by_name import Array
from byparts_frontend_tf.files.text_tensors import bytes_of_texts, checksum_of_texts
from byparts_frontend_tf.graph.arrays import as_array
from byparts_frontend_tf.graph.dtypes import DType, as_dtype, string

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
    try:
        with beside(data) as file:
            entries = _write_data(file, ordered)
        with beside(index) as file:
            write_table(file, entries)
        if meta_graph is not None:
            replace_file(f"{prefix}.meta", meta_graph)
        _put_in_place(prefix)
    finally:
        drop_part(data)
        drop_part(index)
    return prefix


def _put_in_place(prefix: str) -> None:
    """Give the files that were written beside them their names, and remove older ones."""
    data, index = data_file(prefix, 0, 1), index_file(prefix)
    with as_tensorflow_errors(prefix):
        _settle(prefix)
        if os.path.exists(index) and os.path.exists(data):
            os.replace(data, data + OLD)
        os.replace(part_of(data), data)
        os.replace(part_of(index), index)
        for file_of_older in _other_data(prefix):
            os.remove(file_of_older)


def _settle(prefix: str) -> None:
    """If a process was killed while it wrote this checkpoint: make the older one whole again."""
    data, index = data_file(prefix, 0, 1), index_file(prefix)
    if not os.path.exists(data + OLD):
        return
    if os.path.exists(index) and not Bundle(prefix).is_in(data):
        os.replace(data + OLD, data)
    else:
        os.remove(data + OLD)


def remove_checkpoint(path: Any, **_: Any) -> None:
    """Remove the files of a checkpoint, of either format; none is no error."""
    prefix = path_of(path)
    files = [index_file(prefix), f"{prefix}.meta", *glob(f"{escape(prefix)}.data-?????-of-?????*")]
    with as_tensorflow_errors(prefix):
        for file in [*first_format_files(prefix), *files]:
            with suppress(FileNotFoundError):
                os.remove(file)


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


def _other_data(prefix: str) -> list[str]:
    """Data files of older checkpoints of this path."""
    old = glob(f"{escape(prefix)}.data-?????-of-?????{OLD}")
    all_new = glob(f"{escape(prefix)}.data-?????-of-?????")
    return [*old, *[file for file in all_new if file != data_file(prefix, 0, 1)]]
