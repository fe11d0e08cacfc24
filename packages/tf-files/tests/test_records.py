"""TFRecord files."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from byparts_tf_files.errors import DataLossError, NotFoundError
from byparts_tf_files.messages.example import Example
from byparts_tf_files.records import (
    TFRecordCompressionType,
    TFRecordOptions,
    TFRecordWriter,
    tf_record_iterator,
)

RECORDED = Path(__file__).parent / "recorded"
KINDS = {"plain": None, "gzip": TFRecordCompressionType.GZIP, "zlib": "ZLIB"}


def _write(path: Path, records: list[bytes], options: Any = None) -> None:
    with TFRecordWriter(path, options) as writer:
        for record in records:
            writer.write(record)


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_tensorflow(kind: str) -> None:
    """Plain and compressed; what is written of the examples is what TensorFlow wrote."""
    records = list(tf_record_iterator(RECORDED / f"{kind}.tfrecord", KINDS[kind]))
    found = [Example.FromString(record) for record in records]

    assert [e.features.feature["i"].int64_list.value for e in found] == [[-2], [-1], [0], [1]]
    assert found[3].features.feature["many"].int64_list.value == [n * 1000 for n in range(-50, 50)]
    assert found[2].features.feature["s"].bytes_list.value == [b"xx", b"\xff"]
    assert [e.SerializeToString() for e in found] == records


def test_a_file_is_written_as_tensorflow_writes_it(tmp_path: Path) -> None:
    path = RECORDED / "plain.tfrecord"
    _write(tmp_path / "r", list(tf_record_iterator(path)))

    assert (tmp_path / "r").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("options", [None, "GZIP", TFRecordOptions("ZLIB", compression_level=1)])
@given(records=st.lists(st.binary(max_size=2000)))
def test_records_are_read_as_they_were_written(
    options: Any, records: list[bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("records") / "r"
    _write(path, records, options)

    assert list(tf_record_iterator(str(path), options)) == records


def test_a_long_record(tmp_path: Path) -> None:
    """More than is read at once."""
    long = bytes(range(256)) * 10_000
    for options in (None, "GZIP"):
        _write(tmp_path / "r", [long, b"", b"end"], options)
        assert list(tf_record_iterator(tmp_path / "r", options)) == [long, b"", b"end"]


def test_every_flipped_bit_is_found(tmp_path: Path) -> None:
    """In the length, in the data and in both checksums; which record, the error says."""
    _write(tmp_path / "r", [b"first", b"second"])
    data = (tmp_path / "r").read_bytes()
    for bit in range(8 * 21, 8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        (tmp_path / "r").write_bytes(changed)
        records = tf_record_iterator(tmp_path / "r")
        assert next(records) == b"first"
        with pytest.raises(DataLossError, match="corrupted record at 21"):
            next(records)


def test_a_file_that_is_cut_off(tmp_path: Path) -> None:
    """At any byte but between records."""
    _write(tmp_path / "r", [b"first", b"second"])
    data = (tmp_path / "r").read_bytes()
    for size in range(1, len(data)):
        (tmp_path / "r").write_bytes(data[:size])
        if size == 21:
            assert list(tf_record_iterator(tmp_path / "r")) == [b"first"]
            continue
        with pytest.raises(DataLossError, match=f"truncated record at {21 * (size > 21)}"):
            list(tf_record_iterator(tmp_path / "r"))


def test_a_compressed_file_that_is_damaged(tmp_path: Path) -> None:
    """Cut off, another kind, or changed inside."""
    _write(tmp_path / "r", [b"first" * 100], "GZIP")
    data = (tmp_path / "r").read_bytes()
    for changed in (data[:-9], data[:20], b"no gzip at all", data[:12] + b"\xff" * 5 + data[17:]):
        (tmp_path / "r").write_bytes(changed)
        with pytest.raises(DataLossError, match=r"inflate|corrupted"):
            list(tf_record_iterator(tmp_path / "r", "GZIP"))


def test_gzip_in_parts_is_one_file(tmp_path: Path) -> None:
    """As `cat a.gz b.gz` makes them."""
    _write(tmp_path / "r", [b"one"])
    _write(tmp_path / "s", [b"two"])
    parts = [gzip.compress((tmp_path / name).read_bytes()) for name in "rs"]
    (tmp_path / "both").write_bytes(b"".join(parts))

    assert list(tf_record_iterator(tmp_path / "both", "GZIP")) == [b"one", b"two"]


def test_what_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="none; No such file"):
        list(tf_record_iterator(tmp_path / "none"))
    with pytest.raises(NotFoundError, match="No such file"):
        TFRecordWriter(tmp_path / "none" / "r")
    with pytest.raises(ValueError, match='Not a valid compression_type: "LZ4"'):
        TFRecordOptions("LZ4")
    with TFRecordWriter(tmp_path / "r") as writer, pytest.raises(TypeError, match="bytes-like"):
        writer.write(3)  # type: ignore[arg-type]  # what is tried


def test_flushed_records_can_be_read(tmp_path: Path) -> None:
    """Before the file is closed, also compressed."""
    with TFRecordWriter(tmp_path / "r", "ZLIB") as writer:
        writer.write("text")
        writer.flush()
        assert next(iter(tf_record_iterator(tmp_path / "r", 1))) == b"text"
