"""Content of a table in a session: a dict from keys to values."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from byparts_tf_files.errors import FailedPreconditionError, InvalidArgumentError


class Content:
    """Keys and values of a table.

    Args:
        key: NumPy's type of keys; `object` for strings.
        value: of values.
        shape: of one value.
        initialized: whether it may be read before it is initialised.
    """

    def __init__(
        self, key: Any, value: Any, shape: tuple[int, ...] = (), initialized: bool = False
    ) -> None:
        self._key, self._value, self._shape = key, value, shape
        self._rows: Optional[dict[Any, Any]] = {} if initialized else None

    def initialize(self, keys: Any, values: Any) -> None:
        """Take these keys and values, unless it has some.

        Raises:
            InvalidArgumentError: a key has two values.
        """
        if self._rows is not None:
            return
        rows: dict[Any, Any] = {}
        for k, v in zip(_flat(keys), _rows_of(values, ()), strict=True):
            if rows.setdefault(k, v) != v:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"HashTable has different value for same key. Key {_text(k)} has "
                    f"{_text(rows[k])} and trying to add value {_text(v)}",
                )
        self._rows = rows

    @property
    def rows(self) -> dict[Any, Any]:
        """Key -> value.

        Raises:
            FailedPreconditionError: it is not initialised.
        """
        if self._rows is None:
            raise FailedPreconditionError(None, None, "Table not initialized.")
        return self._rows

    def find(self, keys: Any, default: Any) -> Any:
        """The value of each key, or the default one."""
        rows, missing = self.rows, _rows_of([default], self._shape)[0]
        keys = np.asarray(keys, self._key)
        made = np.empty((keys.size, *self._shape), self._value)
        for i, k in enumerate(_flat(keys)):
            made[i] = rows.get(k, missing)
        return made.reshape((*keys.shape, *self._shape))

    def insert(self, keys: Any, values: Any) -> None:
        """Give keys these values."""
        pairs = zip(_flat(keys), _rows_of(values, self._shape), strict=True)
        self.rows.update(pairs)

    def remove(self, keys: Any) -> None:
        """Forget keys."""
        for k in _flat(keys):
            self.rows.pop(k, None)

    def size(self) -> Any:
        """The number of keys."""
        return np.int64(len(self.rows))

    def export(self) -> tuple[Any, Any]:
        """All keys, all values."""
        rows = self.rows
        keys = np.empty(len(rows), self._key)
        keys[:] = list(rows)
        values = np.empty((len(rows), *self._shape), self._value)
        for i, v in enumerate(rows.values()):
            values[i] = v
        return keys, values


def _flat(keys: Any) -> list[Any]:
    found: list[Any] = np.asarray(keys).reshape(-1).tolist()
    return found


def _rows_of(values: Any, shape: tuple[int, ...]) -> list[Any]:
    array = np.asarray(values)
    rows = array.reshape(-1, *shape)
    found: list[Any] = list(rows) if shape else rows.tolist()
    return found


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
