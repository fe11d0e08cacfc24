"""Fields of messages: how a message is declared, and what a field reads, writes and checks.

    class Feature(Message):
        bytes_list = one(1, BytesList, oneof="kind")
        int64_list = one(3, Int64List, oneof="kind")

A kind is the name of a scalar ("int64"), an `Enum`, a class of messages, or a function that gives
such a class where it is declared further down.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from types import FunctionType
from typing import Any, Union

from byparts_tf_files.containers import Map, Messages, Scalars, nothing
from byparts_tf_files.enums import Enum
from byparts_tf_files.scalars import SCALARS
from byparts_tf_files.wire import LENGTH, MAX_DEPTH, fault, read_length, varint

Kind = Union[str, Enum, type, Callable[[], type]]


def one(number: int, kind: Kind, oneof: str = "") -> Any:
    """A field that is there at most once; of the fields of a `oneof`, one at most is there."""
    if isinstance(kind, (str, Enum)):
        return ScalarField(number, kind, oneof)
    return MessageField(number, kind, oneof)


def many(number: int, kind: Kind) -> Any:
    """A repeated field."""
    if isinstance(kind, (str, Enum)):
        return ScalarsField(number, kind)
    return MessagesField(number, kind)


def mapped(number: int, key: str, value: Kind) -> Any:
    """A map from one scalar to values."""
    return MapField(number, key, value)


class Field(ABC):
    """A field of a class of messages; as an attribute of a message it is its value.

    Attributes:
        number: what the wire calls it.
        name: what programs call it.
        oneof: the group of which only one is there, or "".
        wires: the wire types in which it is read; others are unknown fields.
    """

    repeated = False
    name: str
    wires: frozenset[int] = frozenset({LENGTH})

    def __init__(self, number: int, kind: Kind, oneof: str = "") -> None:
        self.number, self._kind, self.oneof = number, kind, oneof

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @cached_property
    def kind(self) -> Any:
        """The class of its messages, or its `Enum`, or the name of its scalar."""
        return self._kind() if isinstance(self._kind, FunctionType) else self._kind

    @property
    def enum(self) -> Enum | None:
        """The names of its numbers, if it has such."""
        return self._kind if isinstance(self._kind, Enum) else None

    @abstractmethod
    def __get__(self, message: Any, owner: Any = None) -> Any: ...

    def __set__(self, message: Any, value: Any) -> None:
        what = "repeated" if self.repeated else "message"
        hint = "use extend or CopyFrom"
        raise AttributeError(f"Assignment not allowed to {what} field {self.name!r}; {hint}")

    @abstractmethod
    def values(self, message: Any) -> list[Any]:
        """List the value if there is one, all of a repeated field, or the entries of a map."""

    @abstractmethod
    def read(self, message: Any, data: bytes, at: int, end: int, wire: int, depth: int) -> int:
        """Take the value at byte `at` into the message; the byte behind it."""

    @abstractmethod
    def put(self, message: Any, value: Any) -> None:
        """Set or extend it, as an argument of the class does, or a merge."""

    def written(self, message: Any) -> Iterator[bytes]:
        """The bytes of what is there, with tags."""
        return map(self.written_value, self.values(message))

    def written_value(self, value: Any) -> bytes:
        """The bytes of one value, with its tag."""
        data: bytes = value.serialize()
        return varint(self.number << 3 | LENGTH) + varint(len(data)) + data


class _OfScalars(Field):
    """Base class of fields of numbers and texts."""

    def __init__(self, number: int, kind: Union[str, Enum], oneof: str = "") -> None:
        super().__init__(number, kind, oneof)
        self.scalar = kind.scalar if isinstance(kind, Enum) else SCALARS[kind]
        self.wires = frozenset({self.scalar.wire, *([LENGTH] if self.repeated else [])})
        self._tag = varint(number << 3 | self.scalar.wire)


class ScalarField(_OfScalars):
    """A number or text.  Outside of a oneof it is there if it is not the default."""

    def __get__(self, message: Any, owner: Any = None) -> Any:
        return self if message is None else message._values.get(self.name, self.scalar.default)

    def __set__(self, message: Any, value: Any) -> None:
        message._values[self.name] = self.scalar.checked(value)
        message._has(self)

    put = __set__

    def values(self, message: Any) -> list[Any]:
        value = message._values.get(self.name)
        absent = value is None or (not self.oneof and value == self.scalar.default)
        return [] if absent else [value]

    def read(self, message: Any, data: bytes, at: int, end: int, wire: int, depth: int) -> int:
        message._values[self.name], at = self.scalar.read(data, at, end)
        if self.oneof:
            message._has(self)
        return at

    def written_value(self, value: Any) -> bytes:
        return self._tag + self.scalar.written(value)


class MessageField(Field):
    """A message in a message.  Before it is there it is an empty one, which waits for a change."""

    def __get__(self, message: Any, owner: Any = None) -> Any:
        if message is None:
            return self
        value = message._values.get(self.name)
        if value is None:
            value = message._values[self.name] = self.kind()
            value._owner = (message, self)
        return value

    def values(self, message: Any) -> list[Any]:
        value = message._values.get(self.name)
        return [] if value is None or value._owner is not None else [value]

    def read(self, message: Any, data: bytes, at: int, end: int, wire: int, depth: int) -> int:
        start, behind = read_length(data, at, end)
        value = message._values.get(self.name)
        if value is None:
            value = message._values[self.name] = self.kind()
            message._has(self)
        else:
            value._attach()
        _read_inner(value, data, start, behind, depth)
        return behind

    def put(self, message: Any, value: Any) -> None:
        if isinstance(value, dict):
            value = self.kind(**value)
        if not isinstance(value, self.kind):
            raise TypeError(f"{self.name} must be a {self.kind.__name__}, got {value!r:.80}")
        mine = self.__get__(message)
        mine._attach()
        mine.merge(value)


class _Repeated(Field):
    """Base class of fields of several values."""

    repeated = True

    def __get__(self, message: Any, owner: Any = None) -> Any:
        if message is None:
            return self
        value = message._values.get(self.name)
        if value is None:
            waits = message._owner is not None
            value = message._values[self.name] = self._empty(message._attach if waits else nothing)
        return value

    @abstractmethod
    def _empty(self, changed: Callable[[], None]) -> Any:
        """Make the empty container of the field, which calls `changed` at each change."""

    def values(self, message: Any) -> list[Any]:
        value = message._values.get(self.name)
        return [] if value is None else value._items

    def put(self, message: Any, value: Any) -> None:
        self.__get__(message).extend(value)


class ScalarsField(_Repeated, _OfScalars):
    """Numbers or texts; numbers are written packed, and read packed or not."""

    def _empty(self, changed: Callable[[], None]) -> Any:
        return Scalars(self.scalar, changed)

    def read(self, message: Any, data: bytes, at: int, end: int, wire: int, depth: int) -> int:
        items = self.__get__(message)
        if wire == LENGTH and self.scalar.wire != LENGTH:
            start, behind = read_length(data, at, end)
            items.add_read(self.scalar.read_packed(data, start, behind))
            return behind
        value, at = self.scalar.read(data, at, end)
        items.add_read((value,))
        return at

    def written(self, message: Any) -> Iterator[bytes]:
        items = self.values(message)
        if items and self.scalar.wire != LENGTH:
            data = self.scalar.written_packed(items)
            yield varint(self.number << 3 | LENGTH) + varint(len(data)) + data
        else:
            for value in items:
                yield self._tag + self.scalar.written(value)


class MessagesField(_Repeated):
    """Messages."""

    def _empty(self, changed: Callable[[], None]) -> Any:
        return Messages(self.kind, changed)

    def read(self, message: Any, data: bytes, at: int, end: int, wire: int, depth: int) -> int:
        start, behind = read_length(data, at, end)
        value = self.kind()
        _read_inner(value, data, start, behind, depth)
        self.__get__(message).add_read((value,))
        return behind


class MapField(_Repeated):
    """A map; on the wire each item is a message of a key and a value.

    Attributes:
        entry: the class of that message, which `Message` makes.
    """

    entry: Any

    def __init__(self, number: int, key: str, value: Kind) -> None:
        super().__init__(number, value)
        self.key = SCALARS[key]

    def _empty(self, changed: Callable[[], None]) -> Any:
        kind = self.kind
        scalar = SCALARS[kind] if isinstance(kind, str) else kind
        return Map(self.key, scalar.scalar if isinstance(scalar, Enum) else scalar, changed)

    def values(self, message: Any) -> list[Any]:
        """Entries, sorted by key."""
        items = message._values.get(self.name)
        return [self._entry(k, items._items[k]) for k in sorted(items or ())]

    def _entry(self, key: Any, value: Any) -> Any:
        made = self.entry()
        made._values.update(key=key, value=value)  # not copied
        return made

    def written_value(self, value: Any) -> bytes:
        """An entry; its key and value are written even if they are defaults."""
        parts = [f.written_value(value._values[f.name]) for f in value._in_order]
        data: bytes = b"".join(parts)
        return varint(self.number << 3 | LENGTH) + varint(len(data)) + data

    def read(self, message: Any, data: bytes, at: int, end: int, wire: int, depth: int) -> int:
        start, behind = read_length(data, at, end)
        entry = self.entry()
        _read_inner(entry, data, start, behind, depth)
        self.put_entry(message, entry)
        return behind

    def put_entry(self, message: Any, entry: Any) -> None:
        """Set the item that an entry is."""
        value = entry.value
        if not isinstance(self.kind, (str, Enum)):
            value._owner = None  # it is in the map now
        self.__get__(message).put_read(entry.key, value)

    def put(self, message: Any, value: Any) -> None:
        self.__get__(message).update(value)
        message._attach()


def _read_inner(message: Any, data: bytes, start: int, end: int, depth: int) -> None:
    if depth >= MAX_DEPTH:
        raise fault(start, f"messages in messages, more than {MAX_DEPTH} deep")
    message._read(data, start, end, depth + 1)
