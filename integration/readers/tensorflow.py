"""TensorFlow's files, as tf-files reads them: graphs, records, checkpoints of both formats."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from byparts_conformance.fuzz.mutations import changed_bytes, changed_words
from byparts_conformance.fuzz.reader import Data, Reader, scratch_folder
from byparts_graph_ir import FormatError
from byparts_tf_files.bmp import array_of_bmp
from byparts_tf_files.bundle import data_file, index_file
from byparts_tf_files.checkpoint import read_checkpoint
from byparts_tf_files.errors import DataLossError, NotFoundError
from byparts_tf_files.messages.example import Example
from byparts_tf_files.messages.graph import GraphDef
from byparts_tf_files.png_reader import SIGNATURE, array_of_png
from byparts_tf_files.records import TFRecordWriter, tf_record_iterator
from byparts_tf_files.snappy import unpacked
from byparts_tf_files.table import Table, write_table
from byparts_tf_files.tensors import make_ndarray
from byparts_tf_files.text_format import MessageToString, Parse
from byparts_tf_files.wav import samples_of_wav, wav_of
from byparts_tf_files.write_checkpoint import write_checkpoint

_REFUSALS = (FormatError, DataLossError)
_WORDS = (
    "{",
    "}",
    ":",
    "[",
    "]",
    '"',
    "tensor",
    "DT_HALF",
    "dim",
    "size",
    "-",
    "1e999",
    "nan",
    "#",
)
_RECORDED = Path(__file__).parents[2] / "packages/tf-files/tests/recorded"
_MOST_BYTES = 1 << 24


def graph_def() -> Reader:
    """A graph as bytes, and the tensors in it."""
    return Reader(
        "graph-def", [_graph().serialize()], changed_bytes, GraphDef.FromString, _check_graph
    )


def pbtxt() -> Reader:
    """A graph as text."""

    def mutate(random: Random, seed: str) -> Data:
        if random.random() < 0.1:
            return changed_bytes(random, seed.encode()).decode("utf-8", "surrogateescape")
        return changed_words(random, seed, _WORDS)

    def read(text: str) -> GraphDef:
        return Parse(text, GraphDef())

    return Reader("pbtxt", [MessageToString(_graph())], mutate, read, _check_graph)


def tfrecord() -> Reader:
    """Examples in a file, plain or packed, which its first byte says."""
    path = scratch_folder() / "r"
    kinds = ("", "GZIP", "ZLIB")
    seeds = []
    for i, kind in enumerate(kinds):
        with TFRecordWriter(path, kind) as writer:
            for record in _examples():
                writer.write(record)
        seeds.append(bytes([i]) + path.read_bytes())

    def read(data: bytes) -> list[Example]:
        kind = kinds[data[0] % 3] if data else ""
        path.write_bytes(data[1:])
        return [Example.FromString(record) for record in tf_record_iterator(path, kind)]

    return Reader("tfrecord", seeds, _changed_records, read, _check_examples, _REFUSALS)


def second_format() -> Reader:
    """A checkpoint's index with other entries; its data, whose length is in front."""
    prefix = str(scratch_folder() / "m")
    tensors = {"w": np.arange(6.0).reshape(2, 3), "b": np.ones(3, bool), "e": np.zeros((0, 2))}
    texts = np.array([b"a", b"", b"long" * 9], object)
    write_checkpoint(prefix, {**tensors, "texts": texts})
    index, data = Path(index_file(prefix)), Path(data_file(prefix, 0, 1))
    recorded = [_entries(_RECORDED / "v2.ckpt-7.index"), _entries(index)]
    shards = [(_RECORDED / "v2.ckpt-7.data-00000-of-00001").read_bytes(), data.read_bytes()]

    def read(file: bytes) -> dict[str, Any]:
        size = int.from_bytes(file[:4], "little")
        data.write_bytes(file[4 : 4 + size])
        index.write_bytes(file[4 + size :])
        return dict(read_checkpoint(prefix))

    seeds = list(zip(recorded, shards, strict=True))
    errors = (*_REFUSALS, NotFoundError)
    return Reader("checkpoint", seeds, _changed_checkpoint, read, _check_tensors, errors)


def first_format() -> Reader:
    """A checkpoint of the first format with other entries."""
    path = scratch_folder() / "m"

    def read(file: bytes) -> dict[str, Any]:
        path.write_bytes(file[4:])
        return dict(read_checkpoint(path))

    seeds = [(_entries(_RECORDED / "v1.ckpt-7"), b"")]
    return Reader("checkpoint-1", seeds, _changed_checkpoint, read, _check_tensors, _REFUSALS)


def snappy() -> Reader:
    """Data packed by snappy."""
    with np.load(_RECORDED / "snappy.npz") as file:
        packed = file["packed"].tobytes()
    seeds = [packed, b"\x0f\x08abc\x2e\3\0", b"\x07\0a\x17\1\0\0\0"]

    def check(found: bytes) -> None:
        assert len(found) <= 64 * len(packed), len(found)

    return Reader("snappy", seeds, changed_bytes, unpacked, check)


def png() -> Reader:
    """A picture: 13 bytes of its head, a palette of four colours, and its pixels, packed anew."""
    seeds = [
        struct.pack(">2I5B", width, 3, depth, colours, 0, 0, 0) + bytes(range(12)) + rows
        for width, depth, colours, rows in (
            *((2, 8, 2, bytes([0, 1, 2, 3, 4, 5, 6, 4, *range(6), 3, *range(6)])),),
            *((5, 2, 3, b"\0\x1b\x40\0\x1b\x40\1\0\0"), (4, 16, 4, b"\2" + bytes(50))),
        )
    ]

    def read(data: bytes) -> Any:
        chunks = (b"IHDR", data[:13]), (b"PLTE", data[13:25]), (b"IDAT", zlib.compress(data[25:]))
        made = SIGNATURE
        for kind, content in (*chunks, (b"IEND", b"")):
            made += struct.pack(">I", len(content)) + kind + content
            made += struct.pack(">I", zlib.crc32(kind + content))
        return array_of_png(made)

    return Reader(
        "png", seeds, changed_bytes, read, _check_picture, (*_REFUSALS, NotImplementedError)
    )


def bmp() -> Reader:
    """A picture that is not packed."""
    head = struct.pack("<2s4i2i2H", b"BM", 0, 0, 54, 40, 3, 2, 1, 24).ljust(54, b"\0")
    return Reader("bmp", [head + bytes(range(24))], changed_bytes, array_of_bmp, _check_picture)


def wav() -> Reader:
    """Samples of 16 bits."""
    data = wav_of(np.linspace(-1, 1, 24).reshape(12, 2), 8000)

    def check(found: Any) -> None:
        assert found[0].ndim == 2 and found[0].size <= len(data) and found[1] > 0, found

    return Reader("wav", [data], changed_bytes, samples_of_wav, check)


def _check_picture(found: Any) -> None:
    assert found.ndim == 3 and found.size and found.nbytes <= _MOST_BYTES, found.shape


def _graph() -> GraphDef:
    return GraphDef.FromString((_RECORDED / "graph.pb").read_bytes())


def _examples() -> list[bytes]:
    return list(tf_record_iterator(_RECORDED / "plain.tfrecord"))


def _entries(path: Path) -> dict[bytes, bytes]:
    return dict(Table(str(path)).items())


def _changed_records(random: Random, seed: bytes) -> Data:
    """Other bytes; or other records with right checksums; or other bytes before they are packed."""
    if random.random() < 0.3:
        return seed[:1] + changed_bytes(random, seed[1:])
    with TFRecordWriter(path := scratch_folder() / "s") as writer:
        for record in _examples():
            writer.write(changed_bytes(random, record) if random.random() < 0.3 else record)
    data = path.read_bytes()
    path.unlink()
    path.parent.rmdir()
    if random.random() < 0.3:
        data = changed_bytes(random, data)
    return b"\2" + zlib.compress(data) if random.random() < 0.5 else b"\0" + data


def _changed_checkpoint(random: Random, seed: tuple[dict[bytes, bytes], bytes]) -> Data:
    """Entries with other bytes in a right table; or a table with other bytes."""
    entries, data = dict(seed[0]), seed[1]
    for key in random.sample(sorted(entries), random.choice((0, 1, 1, 2))):
        kind = random.randrange(8)
        value = entries.pop(key)
        if kind == 0:
            continue
        if kind == 1:
            key = changed_bytes(random, key)
        if kind == 2:
            value = random.choice(list(entries.values()))
        entries[key] = changed_bytes(random, value) if kind > 2 else value
    with io.BytesIO() as file:
        write_table(file, entries)
        table = file.getvalue()
    if random.random() < 0.2:
        table = changed_bytes(random, table)
    if data and random.random() < 0.2:
        data = changed_bytes(random, data)
    return len(data).to_bytes(4, "little") + data + table


def _check_graph(found: GraphDef) -> None:
    """In bytes and in text it is read as it was written; its tensors are arrays or refused."""
    assert GraphDef.FromString(found.serialize()).serialize() == found.serialize()
    text = MessageToString(found)
    assert MessageToString(Parse(text, GraphDef())) == text
    for node in found.node:
        for key in node.attr:
            if node.attr[key].HasField("tensor"):
                try:
                    array = make_ndarray(node.attr[key].tensor)
                except (FormatError, TypeError):
                    continue
                assert array.dtype == object or array.copy().nbytes <= 1 << 31


def _check_examples(found: list[Example]) -> None:
    for example in found:
        assert Example.FromString(example.serialize()).serialize() == example.serialize()


def _check_tensors(found: dict[str, Any]) -> None:
    for name, array in found.items():
        assert array.nbytes <= _MOST_BYTES, f"{name} has {array.nbytes} bytes"
        if array.dtype == object:
            assert all(isinstance(text, bytes) for text in array.reshape(-1)), name
        elif array.dtype == bool and array.size:
            assert int(array.view(np.uint8).max()) <= 1, name
