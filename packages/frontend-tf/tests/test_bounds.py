"""No small file takes much memory or time: bounds of readers, measured by counting."""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.node_defs import flow, read, regions
from byparts_graph_ir import FormatError
from byparts_tf_files import png_reader, table
from byparts_tf_files.checkpoint import read_checkpoint
from byparts_tf_files.crc32c import masked_crc32c
from byparts_tf_files.errors import DataLossError
from byparts_tf_files.messages.checkpoint import BundleEntryProto, BundleHeaderProto
from byparts_tf_files.messages.tensor import TensorShapeProto
from byparts_tf_files.records import TFRecordWriter, tf_record_iterator
from byparts_tf_files.slices import check_parts
from byparts_tf_files.text_format import Parse
from byparts_tf_files.wire import varint

MESSAGE_RATIO, SPARE_BYTES = 400, 1 << 20  # bytes of memory for each of a file of messages


def counted(function: Any, into: list[int], count: Any) -> Any:
    """The function, which adds a number to a list at each call."""

    def call(*given: Any) -> Any:
        into.append(count(*given))
        return function(*given)

    return call


def peak_bytes(f: Callable[[], Any]) -> int:
    """The most memory that a call takes, whether it reads or refuses."""
    f_refuses = suppress(FormatError, DataLossError)
    tracemalloc.start()
    try:
        with f_refuses:
            f()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _entry(key: bytes, value: bytes, shared: int = 0) -> bytes:
    return varint(shared) + varint(len(key)) + varint(len(value)) + key + value


def _block(*entries: bytes) -> bytes:
    return b"".join([*entries, b"\0\0\0\0\1\0\0\0"])


def _table(path: Path, blocks: Sequence[bytes], order: Sequence[int] = (), kind: int = 0) -> Path:
    """A table of these blocks; its index names them in `order`, perhaps one several times."""
    data, places = b"", []
    for block in blocks:
        places.append(varint(len(data)) + varint(len(block)))
        body = block + bytes([kind])
        data += body + masked_crc32c(body).to_bytes(4, "little")
    named = [places[i] for i in order or range(len(places))]
    index = _block(*[_entry(b"\xff" + i.to_bytes(3, "big"), p) for i, p in enumerate(named)])
    ends = b""
    for block in (_block(), index):
        ends += varint(len(data)) + varint(len(block))
        body = block + b"\0"
        data += body + masked_crc32c(body).to_bytes(4, "little")
    path.write_bytes(data + ends.ljust(40, b"\0") + table.MAGIC)
    return path


_HEADER = _entry(b"", BundleHeaderProto(num_shards=1, version={"producer": 1}).serialize())


def _packed(plain: bytes) -> bytes:
    """By snappy, with copies of what is 4 bytes before."""
    rest = len(plain) - 4
    copies = (b"\xfe\4\0" * (rest // 64 + 1)) if rest else b""
    return varint(4 + 64 * (rest // 64 + 1)) + b"\x0c" + plain[:4] + copies


_INDICES = {
    "keys that grow": [_entry(bytes([1 + i % 255]), b"", i) for i in range(20_000)],
    "entries of nothing": [_entry(b"%06d" % i, b"") for i in range(20_000)],
    "entries of an empty shape": [_entry(b"%06d" % i, b"\x08\1\x12\0") for i in range(20_000)],
    "one long key, many times": [_entry(b"k" * 2000, b"")]
    + [_entry(i.to_bytes(3, "big"), b"", 2000) for i in range(20_000)],
}


@pytest.mark.parametrize("name", _INDICES)
def test_an_index_takes_a_multiple_of_its_bytes(tmp_path: Path, name: str) -> None:
    """264 KB took 1.57 GB."""
    path = _table(tmp_path / "m.index", [_block(_HEADER, *_INDICES[name])])
    peak = peak_bytes(lambda: read_checkpoint(tmp_path / "m"))

    assert peak < MESSAGE_RATIO * path.stat().st_size + SPARE_BYTES


def test_a_packed_index_takes_a_multiple_of_its_bytes(tmp_path: Path) -> None:
    """Snappy makes 21 bytes of one, and an entry needs 4."""
    path = _table(tmp_path / "m.index", [_packed(b"\0\1\0a" * 300_000)], kind=1)
    peak = peak_bytes(lambda: read_checkpoint(tmp_path / "m"))

    assert peak < MESSAGE_RATIO * path.stat().st_size + SPARE_BYTES


def test_no_block_is_read_twice_because_the_index_names_it_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """19 KB took 4 s: a thousand times the same block."""
    read: list[int] = []
    entries = table._entries
    monkeypatch.setattr(table, "_entries", counted(entries, read, lambda *a: len(a[0])))
    block = _block(_HEADER, *[_entry(b"%05d" % i, b"v") for i in range(500)])
    path = _table(tmp_path / "m.index", [block], order=[0] * 400)
    with pytest.raises(DataLossError, match="two blocks have this byte"):
        read_checkpoint(tmp_path / "m")

    assert sum(read) <= path.stat().st_size


def test_a_checkpoint_of_the_first_format_reads_each_block_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However many tensors are in it, in whatever order they are listed."""
    read: list[int] = []
    entries = table._entries
    monkeypatch.setattr(table, "_entries", counted(entries, read, lambda *a: len(a[0])))
    path = Path(__file__).parents[2] / "tf-files/tests/recorded/v1.ckpt-7"
    tensors = dict(read_checkpoint(path))

    assert len(tensors) > 5 and len(read) <= 4
    assert list(tensors) == sorted(tensors)


def test_a_part_that_is_listed_twice_makes_no_larger_tensor() -> None:
    """A part of 9 bytes in the index would stand for as many elements as it likes each time."""
    part = (slice(0, 1000),)
    check_parts([part], (1000,))

    with pytest.raises(FormatError, match=r"parts that do not fill \[1000000\]"):
        check_parts([part] * 1000, (1_000_000,))


def test_tensors_in_the_same_bytes_are_refused(tmp_path: Path) -> None:
    """In the data file of a checkpoint, too."""
    entry = BundleEntryProto(dtype=1, shape={"dim": [{"size": 9}]}, size=36).serialize()
    _table(tmp_path / "m.index", [_block(_HEADER, _entry(b"a", entry), _entry(b"b", entry))])

    with pytest.raises(DataLossError, match="two tensors have byte 0 of file 0"):
        read_checkpoint(tmp_path / "m")


_MESSAGES = {
    "nodes of nothing": b"\x0a\0" * 50_000,
    "attributes of nothing": b"\x0a\2\x2a\0" * 30_000,
    "fields that there are not": b"\xfa\7\0" * 30_000,
}


@pytest.mark.parametrize("name", _MESSAGES)
def test_a_message_takes_a_multiple_of_its_bytes(name: str) -> None:
    data = _MESSAGES[name]

    assert peak_bytes(lambda: tf.GraphDef.FromString(data)) < MESSAGE_RATIO * len(data)


_TEXTS = {
    "nodes of nothing": "node{}" * 30_000,
    "a text without an end": 'node{name:"' + "a" * 200_000,
    "a text of escapes": 'node{name:"' + "\\n" * 100_000 + '"}',
    "comments": "#\n" * 100_000,
    "numbers": "versions{producer:" + "9" * 100_000,
}


@pytest.mark.parametrize("name", _TEXTS)
def test_a_text_takes_a_multiple_of_its_bytes(name: str) -> None:
    text = _TEXTS[name]
    peak = peak_bytes(lambda: Parse(text, tf.GraphDef()))

    assert peak < MESSAGE_RATIO * len(text) + SPARE_BYTES


@pytest.mark.parametrize("values", [[], [1.5], [1.5, 2.5]])
def test_a_constant_that_is_filled_up_takes_no_memory(values: list[float]) -> None:
    """A graph of 55 bytes asked for 400 MB: one number stands for all, and is kept once."""
    graph_def = tf.GraphDef()
    node = graph_def.node.add(name="c", op="Const")
    node.attr["dtype"].type = 1
    shape = TensorShapeProto(dim=[{"size": 10_000}, {"size": 10_000}])
    node.attr["value"].tensor.MergeFrom(type(node.attr["value"].tensor)(tensor_shape=shape))
    node.attr["value"].tensor.dtype = 1
    node.attr["value"].tensor.float_val.extend(values)
    with tf.Graph().as_default():
        tf.import_graph_def(tf.GraphDef(), name="")  # loads what imports need
        peak = peak_bytes(lambda: _imported(graph_def))

    assert peak < SPARE_BYTES


def _imported(graph_def: Any) -> None:
    with suppress(ValueError):
        tf.import_graph_def(graph_def, name="")


def test_a_filled_array_of_make_ndarray_can_be_written() -> None:
    """As TensorFlow's; only what a graph keeps is read-only."""
    shape = TensorShapeProto(dim=[{"size": 3 << 20}])
    array = tf.make_ndarray(type(tf.make_tensor_proto(1))(dtype=4, tensor_shape=shape, int_val=[7]))
    array[0] = 1

    assert array[:3].tolist() == [1, 7, 7] and array.dtype == np.uint8


def _png(
    width: int, height: int, depth: int, kind: int, filter: int = 0, *more: tuple[bytes, bytes]
) -> bytes:
    row_bytes = (width * {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind] * depth + 7) // 8
    rows = (bytes([filter]) + bytes(row_bytes)) * height
    head = struct.pack(">2I5B", width, height, depth, kind, 0, 0, 0)
    made = png_reader.SIGNATURE
    for name, data in (
        *((b"IHDR", head), *more, (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")),
    ):
        made += struct.pack(">I", len(data)) + name + data
        made += struct.pack(">I", zlib.crc32(name + data))
    return made


_PALETTE = (b"PLTE", bytes(6)), (b"tRNS", b"\0")
_PICTURES = {
    "bits": (4000, 4000, 1, 0),
    "bits of colours": (2000, 2000, 1, 3, 0, *_PALETTE),
    "one row of bits": (16_000_000, 1, 1, 0),
    "one row of differences": (2_000_000, 1, 8, 0, 1),
    "one row of guesses": (300_000, 1, 8, 2, 4),
    "one column": (1, 300_000, 8, 0),
    "16 bits": (700, 700, 16, 6),
    "too many bits": (8 * 4000, 4000, 1, 0),
    "too many colours": (4000, 4000, 1, 3, 0, *_PALETTE),
}


# Memory is traced at each of 300,000 filters and rows: seconds, for what the other pictures tell.
_SLOW = {"one row of guesses", "one column"}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.long] * (n in _SLOW)) for n in _PICTURES]
)
def test_a_picture_takes_four_times_what_it_may_have(name: str) -> None:
    """A PNG of 4 KB took 609 MB."""
    given: Any = _PICTURES[name]
    data = _png(*given)
    most = png_reader.MOST_RATIO * len(data) + png_reader.SPARE_BYTES
    made: list[Any] = []
    peak = peak_bytes(lambda: made.append(png_reader.array_of_png(data)))

    assert peak < 4 * most and bool(made) != name.startswith("too many")
    assert peak < 4 * (made[0].nbytes if made else 0) + SPARE_BYTES


def test_a_white_page_is_read() -> None:
    """What packs best of all that is no attack: colours are packed 1032 times at most."""
    assert png_reader.array_of_png(_png(4000, 4000, 8, 2)).nbytes == 48_000_000


def test_a_packed_record_takes_what_deflate_can_make_of_it(tmp_path: Path) -> None:
    """1032 bytes of one, twice: piece by piece, and joined."""
    with TFRecordWriter(str(tmp_path / "r"), "ZLIB") as writer:
        writer.write(bytes(2_000_000))
    size = (tmp_path / "r").stat().st_size
    peak = peak_bytes(lambda: list(tf_record_iterator(str(tmp_path / "r"), "ZLIB")))

    assert peak < 2.2 * 1032 * size + SPARE_BYTES


def test_branches_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph of 240 KB took 16 s: each branch looked at all nodes."""
    calls: list[int] = []
    source = vars(flow)["source"]
    for module in (regions, flow, read):
        monkeypatch.setattr(module, "source", counted(source, calls, lambda given: 1))
    counts = []
    for branches in (20, 200):
        graph_def, before = _branches(branches), len(calls)
        with tf.Graph().as_default():
            tf.import_graph_def(graph_def, name="")
        counts.append(len(calls) - before)

    assert counts[1] < 11 * counts[0]


def _branches(count: int) -> Any:
    graph_def = tf.GraphDef()
    for name, dtype in (("x", 1), ("p", 10)):
        graph_def.node.add(name=name, op="Placeholder").attr["dtype"].type = dtype
    for k in range(count):
        graph_def.node.add(name=f"a{k}/pred_id", op="Identity", input=["p"])
        graph_def.node.add(name=f"a{k}/Switch", op="Switch", input=["x", f"a{k}/pred_id"])
        ends = [f"a{k}/Switch", f"a{k}/Switch:1"]
        graph_def.node.add(name=f"a{k}/Merge", op="Merge", input=ends)
    return graph_def


@pytest.mark.parametrize("units", [1 << 24, (1 << 32) - 1])
def test_a_model_of_large_layers_takes_memory_when_it_has_values(units: int) -> None:
    """JSON of 1 KB asked for 16 GB: initial values that are all alike stand in memory once."""
    with tf.Graph().as_default():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
        text = model.to_json().replace('"units": 1,', f'"units": {units},')
        peak = peak_bytes(lambda: tf.keras.models.model_from_json(text))

    assert f'"units": {units}' in text and peak < 4 * SPARE_BYTES
