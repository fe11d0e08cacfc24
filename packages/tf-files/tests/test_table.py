"""Sorted tables of keys and values."""

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from byparts_tf_files.crc32c import masked_crc32c
from byparts_tf_files.errors import DataLossError, NotFoundError
from byparts_tf_files.table import MAGIC, Table, write_table
from byparts_tf_files.wire import varint


def _written(path: Path, entries: dict[bytes, bytes]) -> Table:
    with path.open("wb") as file:
        write_table(file, entries)
    return Table(str(path))


def _made(path: Path, block: bytes, kind: int = 0) -> Path:
    """A table of one block, which may be wrong but for its checksum."""
    index = _entry(b"~", varint(0) + varint(len(block)))
    data = b""
    places = []
    for part, packed in ((block, kind), (_block(), 0), (_block(index), 0)):
        places.append(varint(len(data)) + varint(len(part)))
        body = part + bytes([packed])
        data += body + masked_crc32c(body).to_bytes(4, "little")
    path.write_bytes(data + (places[1] + places[2]).ljust(40, b"\0") + MAGIC)
    return path


def _entry(key: bytes, value: bytes, shared: int = 0) -> bytes:
    return varint(shared) + varint(len(key)) + varint(len(value)) + key + value


def _block(*entries: bytes) -> bytes:
    return b"".join([*entries, b"\0\0\0\0\1\0\0\0"])


@given(entries=st.dictionaries(st.binary(max_size=30), st.binary(max_size=50), max_size=60))
def test_entries_are_read_as_they_were_written(
    entries: dict[bytes, bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    table = _written(tmp_path_factory.mktemp("table") / "t", entries)

    assert list(table.items()) == sorted(entries.items())
    assert all(table.get(key) == value for key, value in entries.items())
    assert table.get(b"\xff" * 31) is None


def test_a_table_of_many_blocks(tmp_path: Path) -> None:
    entries = {f"key {i:05d}".encode(): bytes([i % 256]) * 1000 for i in range(500)}
    table = _written(tmp_path / "t", entries)

    assert dict(table.items()) == entries
    assert table.get(b"key 00499") == bytes([499 % 256]) * 1000
    assert table.get(b"key 0049x") is None and table.get(b"a") is None


def test_a_packed_block(tmp_path: Path) -> None:
    plain = _block(_entry(b"k", b"a" * 30))
    packed = varint(len(plain)) + bytes([len(plain) - 1 << 2]) + plain

    assert list(Table(str(_made(tmp_path / "t", packed, 1))).items()) == [(b"k", b"a" * 30)]


@pytest.mark.parametrize(
    ("block", "kind", "message"),
    [
        (_block(_entry(b"k", b"v", 1)), 0, "an entry with 1 shared, 1 own and 1 value bytes"),
        (_block(_entry(b"k", b"v")[:-1]), 0, "an entry with 0 shared, 1 own and 1 value bytes"),
        (_block(_entry(b"k", b""), _entry(b"k", b"")), 0, "the key b'k' behind b'k'"),
        (b"\xff" * 8, 0, "a block of 8 bytes with 4294967295 restarts"),
        (b"abc", 0, "a block of 3 bytes"),
        (b"abc", 1, "97 bytes cannot be|3 bytes|a block|literal"),
        (b"abc", 2, "a block packed in way 2; expected 0 or 1"),
    ],
)
def test_a_wrong_block_is_named(tmp_path: Path, block: bytes, kind: int, message: str) -> None:
    table = Table(str(_made(tmp_path / "t", block, kind)))

    with pytest.raises(DataLossError, match=f"t: byte 0: .*({message})"):
        list(table.items())


def test_every_flipped_bit_of_a_block_is_found(tmp_path: Path) -> None:
    path = tmp_path / "t"
    _written(path, {b"key": b"value", b"kez": b"other"})
    data = path.read_bytes()
    for bit in range(8 * 33):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        with pytest.raises(DataLossError, match="byte 0: block checksum mismatch"):
            list(Table(str(path)).items())


def test_what_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(b"x" * 60)
    with pytest.raises(DataLossError, match=r"t: byte 52: not an sstable \(bad magic number\)"):
        Table(str(tmp_path / "t"))
    (tmp_path / "t").write_bytes(b"")
    with pytest.raises(DataLossError, match="not an sstable"):
        Table(str(tmp_path / "t"))
    (tmp_path / "t").write_bytes(b"\xff" * 40 + MAGIC)
    with pytest.raises(DataLossError, match="byte 0: byte 0: a varint of more than 10 bytes"):
        Table(str(tmp_path / "t"))
    (tmp_path / "t").write_bytes(b"\0\0\x90\x4e\x05".ljust(40, b"\0") + MAGIC)
    with pytest.raises(DataLossError, match="byte 10000: a block of 5 bytes in a file of 48"):
        Table(str(tmp_path / "t"))
    with pytest.raises(NotFoundError, match="No such file"):
        Table(str(tmp_path / "none"))
