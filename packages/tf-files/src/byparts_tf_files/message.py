r"""`Message`: protobuf's messages as Python programs use them.

    class Int64List(Message):
        value = many(1, "int64")

    Int64List(value=[1, 2]).SerializeToString()          # b"\n\x02\x01\x02"
    Int64List.FromString(b"\n\x02\x01\x02").value[1]   # 2

Fields that a class does not have are kept as they are, and written behind the others.  Maps are
written in the order of their keys, so equal messages are equal bytes.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from byparts_tf_files.fields import Field, MapField, one
from byparts_tf_files.wire import DecodeError, read_tag, skip

M = TypeVar("M", bound="Message")


class _MessageType(type):
    """Gathers the fields of a class of messages, which has no other attributes."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        body.setdefault("__slots__", ())
        made: Any = super().__new__(mcs, name, bases, body)
        fields = [f for f in body.values() if isinstance(f, Field)]
        made._fields = {f.name: f for f in fields}
        made._by_number = {f.number: f for f in fields}
        made._in_order = tuple(sorted(fields, key=lambda f: f.number))
        for field in fields:
            if isinstance(field, MapField):
                key, value = one(1, field.key.name), one(2, field._kind)
                field.entry = _MessageType("Entry", (Message,), {"key": key, "value": value})
        return made


class Message(metaclass=_MessageType):
    """A message; its fields are attributes, and arguments of its class.

    Raises:
        ValueError: an argument is no field, or a number out of range.
        TypeError: an argument is of the wrong kind.
    """

    __slots__ = ("_owner", "_unknown", "_values")

    _fields: ClassVar[dict[str, Field]]
    _by_number: ClassVar[dict[int, Field]]
    _in_order: ClassVar[tuple[Field, ...]]
    Extensions: ClassVar[dict[str, Any]] = {}

    def __init__(self, **values: Any) -> None:
        self._values: dict[str, Any] = {}
        self._unknown: bytes | bytearray = b""
        self._owner: tuple[Message, Field] | None = None
        for name, value in values.items():
            field = self._field(name)
            if value is not None:
                field.put(self, value)

    def serialize(self) -> bytes:
        """The message as bytes."""
        parts = [part for field in self._in_order for part in field.written(self)]
        return b"".join([*parts, self._unknown])

    def SerializeToString(self, deterministic: Any = None) -> bytes:  # noqa: N802 - protobuf's name
        """The message as bytes; always the same for equal messages."""
        return self.serialize()

    SerializePartialToString = SerializeToString

    def MergeFromString(self, serialized: bytes) -> int:  # noqa: N802 - protobuf's name
        """Take over the fields of a message in bytes; the number of bytes.

        Raises:
            DecodeError: it is damaged; the message has then what stands in front of the damage.
        """
        data = bytes(serialized)
        self._attach()
        self._read(data, 0, len(data), 0)
        return len(data)

    def ParseFromString(self, serialized: bytes) -> int:  # noqa: N802 - protobuf's name
        """Become a message in bytes; the number of bytes.

        Raises:
            DecodeError: it is damaged.
        """
        self.clear()
        return self.MergeFromString(serialized)

    @classmethod
    def FromString(cls: type[M], serialized: bytes) -> M:  # noqa: N802 - protobuf's name
        """The message in bytes.

        Raises:
            DecodeError: it is damaged.
        """
        made = cls()
        made.MergeFromString(serialized)
        return made

    def merge(self, other: Message) -> None:
        """Take over every field that is there in another message of this class.

        Raises:
            TypeError: it is of another class.
        """
        if type(other) is not type(self):
            mine, theirs = type(self).__name__, type(other).__name__
            raise TypeError(f"Parameter to MergeFrom() must be instance of {mine}: got {theirs}")
        if other is self:
            return
        self._attach()
        for field in self._in_order:
            if field.values(other):
                field.put(self, getattr(other, field.name))
        self._unknown = bytes(self._unknown) + bytes(other._unknown)

    def copy(self: M) -> M:
        """An equal message of its own."""
        made = type(self)()
        made.merge(self)
        return made

    def CopyFrom(self, other: Message) -> None:  # noqa: N802 - protobuf's name
        """Become equal to another message of this class."""
        if other is not self:
            self.clear()
            self.merge(other)

    def clear(self) -> None:
        """Remove all fields."""
        self._attach()
        self._values.clear()
        self._unknown = b""

    def ClearField(self, name: str) -> None:  # noqa: N802 - protobuf's name
        """Remove one field, or what is there of a oneof."""
        there = self.which(name) if self._is_oneof(name) else self._field(name).name
        self._values.pop(there or name, None)
        self._attach()

    def has(self, name: str) -> bool:
        """Whether a field, or one of a oneof, is there.

        Raises:
            ValueError: there is no such field, or it is always there.
        """
        if self._is_oneof(name):
            return self.which(name) is not None
        field = self._field(name)
        if field.repeated or ((isinstance(field.kind, str) or field.enum) and not field.oneof):
            raise ValueError(f"Can't test non-optional, non-submessage field {name!r} for presence")
        return bool(field.values(self))

    def which(self, oneof: str) -> str | None:
        """The name of the field of a oneof that is there, or `None`."""
        for field in self._in_order:
            if field.oneof == oneof and oneof and field.values(self):
                return field.name
        return None

    def WhichOneof(self, oneof: str) -> str | None:  # noqa: N802 - protobuf's name
        """The name of the field of a oneof that is there, or `None`.

        Raises:
            ValueError: there is no such oneof.
        """
        if not self._is_oneof(oneof):
            raise ValueError(
                f'Protocol message {type(self).__name__} has no oneof "{oneof}" field.'
            )
        return self.which(oneof)

    def ListFields(self) -> list[tuple[Field, Any]]:  # noqa: N802 - protobuf's name
        """The fields that are there, with their values."""
        return [(f, getattr(self, f.name)) for f in self._in_order if f.values(self)]

    def ByteSize(self) -> int:  # noqa: N802 - protobuf's name
        """The number of bytes of it."""
        return len(self.serialize())

    def IsInitialized(self) -> bool:  # noqa: N802 - protobuf's name
        """Whether all required fields are there: always."""
        return True

    def DiscardUnknownFields(self) -> None:  # noqa: N802 - protobuf's name
        """Forget the fields that the class does not have; those of messages inside stay."""
        self._unknown = b""

    Clear = clear
    MergeFrom = merge
    HasField = has

    def SetInParent(self) -> None:  # noqa: N802 - protobuf's name
        """Be there in the message of which it is a field, even if empty."""
        self._attach()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        same = self._unknown == other._unknown
        return same and all(f.values(self) == f.values(other) for f in self._in_order)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        from byparts_tf_files.text_format import MessageToString  # which reads messages

        return MessageToString(self)

    def __deepcopy__(self: M, memo: Any) -> M:
        return self.copy()

    def __reduce__(self) -> Any:
        return type(self).FromString, (self.serialize(),)

    def _read(self, data: bytes, at: int, end: int, depth: int) -> None:
        """Take over the fields in the bytes [at, end)."""
        fields = self._by_number
        while at < end:
            number, wire, behind = read_tag(data, at, end)
            field = fields.get(number)
            if field is not None and wire in field.wires:
                at = field.read(self, data, behind, end, wire, depth)
            else:
                start, at = at, skip(data, behind, end, wire)
                self._unknown = self._unknown or bytearray()  # bytes would be copied each time
                self._unknown += data[start:at]

    def _has(self, field: Field) -> None:
        """A field of this message is there now; the others of its oneof are not."""
        if field.oneof:
            for other in self._in_order:
                if other.oneof == field.oneof and other is not field and other.values(self):
                    del self._values[other.name]
        self._attach()

    def _attach(self) -> None:
        """Be there in the message of which it was read."""
        if self._owner is None:
            return
        (message, field), self._owner = self._owner, None
        if message._values.get(field.name) is self:
            message._has(field)

    def _field(self, name: str) -> Field:
        field = self._fields.get(name)
        if field is None:
            raise ValueError(f'Protocol message {type(self).__name__} has no "{name}" field.')
        return field

    def _is_oneof(self, name: str) -> bool:
        return any(f.oneof == name for f in self._in_order if f.oneof)


__all__ = ["DecodeError", "Message"]
