"""Protobuf's wire format: what is refused, and what is read as it was written."""

import pytest
from hypothesis import given, strategies as st

from byparts_tf_files.fields import many, one
from byparts_tf_files.message import Message
from byparts_tf_files.scalars import SCALARS
from byparts_tf_files.wire import DecodeError, read_varint, varint


class Tree(Message):
    number = one(1, "int64")
    children = many(2, lambda: Tree)
    numbers = many(3, "uint64")
    singles = many(4, "float")
    text = one(5, "string")


@given(st.integers(-(1 << 63), (1 << 64) - 1))
def test_a_varint_is_read_as_it_was_written(value: int) -> None:
    """Modulo 2**64."""
    data = b"?" + varint(value)

    assert read_varint(data, 1, len(data)) == (value % (1 << 64), len(data))


@given(st.lists(st.integers(0, (1 << 64) - 1), max_size=200))
def test_packed_numbers_are_read_as_they_were_written(numbers: list[int]) -> None:
    """Few of them, one by one; many of them, by NumPy."""
    kind = SCALARS["uint64"]
    data = b"?" + kind.written_packed(numbers) if numbers else b"?"

    assert list(kind.read_packed(data, 1, len(data))) == numbers


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x08" + b"\xff" * 10 + b"\1", "byte 1: a varint of more than 10 bytes"),
        (b"\x08\xff", "byte 1: a varint that reaches beyond its end"),
        (b"\x08", "byte 1: a varint that reaches beyond its end"),
        (b"\x12\x05\x08", "byte 1: a length of 5 bytes; 1 are left"),
        (b"\x12\x02\x12\x01", "byte 3: a length of 1 bytes; 0 are left"),
        (b"\x0b\x08\x01\x0c", r"byte 1: wire type 3; expected 0, 1, 2 or 5 \(groups"),
        (b"\x0f\x01", "byte 1: wire type 7"),
        (b"\x00\x01", "byte 0: field 0; expected 1"),
        (b"\x25\x00\x00", "byte 1: 3 bytes|byte 1: 4 bytes of a number; 2 are left"),
        (b"\x22\x03\0\0\0", "byte 2: 3 bytes of numbers of 4 bytes each"),
        (b"\x2a\x02\xc3\x28", "byte 2: a string that is no UTF-8"),
        (b"\x1a\x46" + b"\xff" * 70, "a varint"),
        (b"\x1a\x46" + b"\1" * 58 + b"\xff" * 11 + b"\1", "byte 60: a varint of more than 10"),
    ],
)
def test_damage_is_named_with_its_byte(data: bytes, message: str) -> None:
    with pytest.raises(DecodeError, match=message):
        Tree.FromString(data)


def test_messages_more_than_100_deep_are_refused() -> None:
    """As protobuf refuses them; 100 are taken."""
    data = b""
    for _ in range(100):
        data = b"\x12" + varint(len(data)) + data
    Tree.FromString(data)

    with pytest.raises(DecodeError, match="more than 100 deep"):
        Tree.FromString(b"\x12" + varint(len(data)) + data)


def test_numbers_are_read_packed_and_not_packed() -> None:
    """And both in one field."""
    found = Tree.FromString(b"\x18\x07\x1a\x02\x08\x09\x18\x0a\x25\0\0\0\x3f")

    assert list(found.numbers) == [7, 8, 9, 10]
    assert list(found.singles) == [0.5]


def test_a_field_of_another_wire_type_is_kept_as_unknown() -> None:
    """A number where a text is expected, and a field that there is not."""
    data = b"\x28\x05\x82\x06\x02hi"
    found = Tree.FromString(data)

    assert found.text == "" and found.SerializeToString() == data
    found.DiscardUnknownFields()
    assert found.SerializeToString() == b""


def test_many_unknown_fields_take_time_in_proportion() -> None:
    """Half a million of them; bytes that are copied each time would take minutes."""
    data = b"\x30\x01" * 500_000

    assert Tree.FromString(data).SerializeToString() == data
