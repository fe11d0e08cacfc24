"""Containers that a message has for repeated fields and maps: lists and a checked dictionary.

A message that was read from a field that is not there belongs to nothing yet; the first change of
it, or of a list in it, puts it into the field (`changed`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping, MutableSequence
from typing import Any

from byparts_tf_files.scalars import Scalar


def nothing() -> None:
    """Do nothing at a change of a list; for lists whose message is in its field already."""


class _Repeated(MutableSequence[Any]):
    """A list of what a repeated field holds, which tells its message of each change."""

    __slots__ = ("_changed", "_items")

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._items: list[Any] = []

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __getitem__(self, at: Any) -> Any:
        return self._items[at]

    def __delitem__(self, at: Any) -> None:
        del self._items[at]
        self._changed()

    def _checked(self, value: Any) -> Any:
        """Check a value, and return the form in which the list keeps it.

        Raises:
            TypeError: it is of the wrong kind.
        """
        raise NotImplementedError

    def _all_checked(self, values: Iterable[Any]) -> list[Any]:
        return [self._checked(value) for value in values]

    def insert(self, at: int, value: Any) -> None:
        """Put a value in front of position `at`."""
        self._items.insert(at, self._checked(value))
        self._changed()

    def append(self, value: Any) -> None:
        """Add a value."""
        self._items.append(self._checked(value))
        self._changed()

    def extend(self, values: Iterable[Any] | None) -> None:
        """Add all values, or none if one is of the wrong kind; `None` is no values."""
        if values is not None:
            self._items.extend(self._all_checked(values))
            self._changed()

    MergeFrom = extend

    def add_read(self, values: Iterable[Any]) -> None:
        """Add values that come from a file and are right."""
        self._items.extend(values)

    def sort(self, *args: Any, **how: Any) -> None:
        """Order the values, as a list's `sort`."""
        self._items.sort(*args, **how)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, type(self)):
            return self._items == other._items
        return self._items == other

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return repr(self._items)

    def __reduce__(self) -> Any:
        return list, (self._items,)


class Scalars(_Repeated):
    """The numbers or texts of a repeated field."""

    __slots__ = ("_scalar",)

    def __init__(self, scalar: Scalar, changed: Callable[[], None]) -> None:
        super().__init__(changed)
        self._scalar = scalar

    def _checked(self, value: Any) -> Any:
        return self._scalar.checked(value)

    def _all_checked(self, values: Iterable[Any]) -> list[Any]:
        return self._scalar.all_checked(values)

    def __setitem__(self, at: Any, value: Any) -> None:
        one = not isinstance(at, slice)
        self._items[at] = self._checked(value) if one else self._all_checked(value)
        self._changed()

    def __deepcopy__(self, memo: Any) -> list[Any]:
        return list(self._items)


class Messages(_Repeated):
    """The messages of a repeated field; what is added is copied."""

    __slots__ = ("_kind",)

    def __init__(self, kind: Any, changed: Callable[[], None]) -> None:
        super().__init__(changed)
        self._kind = kind

    def __setitem__(self, at: Any, value: Any) -> None:
        raise TypeError("a repeated message cannot be assigned; use CopyFrom of the one there")

    def add(self, **values: Any) -> Any:
        """Add a message with these fields, and return it."""
        made = self._kind(**values)
        self._items.append(made)
        self._changed()
        return made

    def _checked(self, value: Any) -> Any:
        if isinstance(value, dict):
            return self._kind(**value)
        if not isinstance(value, self._kind):
            expected = self._kind.__name__
            raise TypeError(f"{value!r:.80} has type {type(value)}, but expected a {expected}")
        return value.copy()


class Map(MutableMapping[Any, Any]):
    """A map; a key that is asked for is made, as protobuf does."""

    __slots__ = ("_changed", "_items", "_key", "_value")

    def __init__(self, key: Scalar, value: Any, changed: Callable[[], None]) -> None:
        self._key, self._value, self._changed = key, value, changed
        self._items: dict[Any, Any] = {}

    @property
    def _of_messages(self) -> bool:
        return not isinstance(self._value, Scalar)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def __getitem__(self, key: Any) -> Any:
        key = self._key.checked(key)
        if key not in self._items:
            self._items[key] = self._value() if self._of_messages else self._value.default
            self._changed()
        return self._items[key]

    get_or_create = __getitem__

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, or `default`; nothing is made."""
        return self._items.get(key, default)

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._of_messages:
            raise ValueError("May not set values directly; use CopyFrom of the message at the key")
        self._items[self._key.checked(key)] = self._value.checked(value)
        self._changed()

    def __delitem__(self, key: Any) -> None:
        del self._items[key]
        self._changed()

    def update(self, *args: Any, **more: Any) -> None:
        """Set or merge every item of a dictionary."""
        for key, value in dict(*args, **more).items():
            if not self._of_messages:
                self[key] = value
            elif isinstance(value, dict):
                self[key].merge(self._value(**value))
            else:
                self[key].merge(value)

    def put_read(self, key: Any, value: Any) -> None:
        """Set an item that comes from a file; what it had before is gone."""
        self._items[key] = value

    def MergeFrom(self, other: Any) -> None:  # noqa: N802 - protobuf's name
        """Take every item of another map; messages replace those of the same key."""
        for key, value in other.items():
            if self._of_messages:
                self._items[self._key.checked(key)] = value.copy()
            else:
                self[key] = value
        self._changed()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Map):
            return self._items == other._items
        return self._items == other

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return repr(self._items)

    def __reduce__(self) -> Any:
        return dict, (self._items,)
