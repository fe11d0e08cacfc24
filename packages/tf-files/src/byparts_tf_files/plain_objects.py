"""Reads lists, dicts, numbers, texts and arrays as Python 2 and 3 wrote them into data sets.

CIFAR's batches and the texts of Keras are programs of a stack machine, whose instructions can call
anything.  Of these instructions only those that make plain values are known here.  A name is never
looked up: a few names mean "an array", "a dtype" and "bytes", and stand in forms that are compared.
Each instruction makes at most one value, a value in a container stands in no second one, and so
memory and time are proportional to the file.  Source: the comments of CPython's `pickletools`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from byparts_graph_ir import FormatError
from byparts_tf_files.array_elements import as_shape, elements


class _Name(NamedTuple):
    text: str


class _Dtype:
    """A dtype of numbers, whose byte order is said after it."""

    def __init__(self, code: str) -> None:
        self.code, self.order = code, "|"


class _Array:
    """An array that is named, and whose elements are said after it."""

    value: Any = None


_ARRAY, _DTYPE, _ENCODE, _NO_BYTES = map(_Name, ("array", "dtype", "encode", "no bytes"))
_NAMES = {
    ("numpy.core.multiarray", "_reconstruct"): _ARRAY,
    ("numpy._core.multiarray", "_reconstruct"): _ARRAY,
    ("numpy", "dtype"): _DTYPE,
    ("_codecs", "encode"): _ENCODE,
    ("__builtin__", "bytes"): _NO_BYTES,
    ("numpy", "ndarray"): _Name("ndarray"),
}
_SHARED = (int, float, str, bytes, _Name, _Dtype)  # may be meant twice: they hold nothing
_MAX_INTEGER_BYTES = 8


def plain_object(data: bytes) -> Any:
    """The value that the bytes say.

    Raises:
        FormatError: they are damaged, or say something else than plain values.
    """
    machine = _Machine(data)
    try:
        return machine.run()
    except FormatError:
        raise
    except (IndexError, TypeError, ValueError, OverflowError, struct.error) as error:
        raise FormatError(f"byte {machine.at}: no list, dict, text or number: {error}") from error


class _Machine:
    """The stack, what is remembered by number, and where the next instruction is."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0
        self._stack: list[Any] = []
        self._marks: list[int] = []  # how high the stack was
        self._remembered: dict[int, Any] = {}

    def run(self) -> Any:
        """Follow the instructions to the last."""
        while (code := self._take(1)) != b".":
            if code in _SIZES:
                self._stack.append(_of_bytes(code, self._take(self._number(_SIZES[code]))))
            elif code in _CONSTANTS:
                self._stack.append(_CONSTANTS[code]())
            elif code in _INSTRUCTIONS:
                _INSTRUCTIONS[code](self)
            else:
                raise FormatError(f"byte {self.at - 1}: instruction {code!r} is not followed")
        (value,) = self._stack
        return self._complete(value)

    def _take(self, count: int) -> bytes:
        piece = self.data[self.at : self.at + count]
        if len(piece) < count:
            raise FormatError(f"byte {self.at}: {count} bytes more are said; it ends here")
        self.at += count
        return piece

    def _number(self, width: int) -> int:
        return int.from_bytes(self._take(width), "little")

    def _line(self) -> str:
        end = self.data.index(b"\n", self.at)
        text = self._take(end - self.at).decode("ascii")
        self.at += 1
        return text

    def _push(self, form: str) -> None:
        (value,) = struct.unpack(form, self._take(struct.calcsize(form)))
        self._stack.append(value)

    def _numbers(self, form: str) -> None:
        """Push a number, or a run of numbers of one or two bytes: IMDB's texts have 12 million."""
        start = at = self.at - 1
        data, add = self.data, self._stack.append
        while at < len(data) - 2:
            if data[at] == 75:  # K
                add(data[at + 1])
                at += 2
            elif data[at] == 77:  # M
                add(data[at + 1] | data[at + 2] << 8)
                at += 3
            else:
                break
        self.at = at
        if at == start:
            self.at += 1
            self._push(form)

    def _integer(self) -> None:
        width = self._number(1)
        if width > _MAX_INTEGER_BYTES:
            raise FormatError(f"byte {self.at}: a number of {width} bytes")
        self._stack.append(int.from_bytes(self._take(width), "little", signed=True))

    def _remember(self, key: int) -> None:
        self._remembered[key] = self._stack[-1]

    def _again(self, key: int) -> None:
        value = self._remembered.get(key)
        if not isinstance(value, _SHARED):
            raise FormatError(f"byte {self.at}: {type(value).__name__} {key} is meant twice")
        self._stack.append(value)

    def _above_mark(self) -> list[Any]:
        at = self._marks.pop()
        values = self._stack[at:]
        del self._stack[at:]
        return values

    def _last(self, count: int) -> list[Any]:
        if count > len(self._stack):
            raise FormatError(f"byte {self.at}: {count} values are taken of {len(self._stack)}")
        values = self._stack[len(self._stack) - count :]
        del self._stack[len(self._stack) - count :]
        return values

    def _extend(self, values: list[Any]) -> None:
        if set(map(type, values)) != {int}:
            values = [self._complete(v) for v in values]
        _of_kind(self._stack[-1], list).extend(values)

    def _update(self, values: list[Any]) -> None:
        keys = [_of_kind(k, (str, bytes, int)) for k in values[::2]]
        pairs = zip(keys, map(self._complete, values[1::2]), strict=True)
        _of_kind(self._stack[-1], dict).update(pairs)

    def _tuple(self, values: list[Any]) -> None:
        self._stack.append(tuple(values))

    def _name(self, module: Any, name: Any) -> None:
        found = _NAMES.get((module, name))
        if found is None:
            raise FormatError(f"byte {self.at}: the file asks for {module}.{name}"[:120])
        self._stack.append(found)

    def _call(self) -> None:
        """The values that four forms of a call mean; nothing is called."""
        name, arguments = self._last(2)
        if name is _ARRAY and arguments[0] == _Name("ndarray"):
            self._stack.append(_Array())
        elif name is _DTYPE and isinstance(arguments[0], (str, bytes)):
            self._stack.append(_Dtype(_as_text(arguments[0])))
        elif name is _ENCODE and arguments[1:] == ("latin1",):
            self._stack.append(_of_kind(arguments[0], str).encode("latin-1"))
        elif name is _NO_BYTES and arguments == ():
            self._stack.append(b"")
        else:
            raise FormatError(f"byte {self.at}: a call of {name!r:.40}")

    def _build(self) -> None:
        """Give the last value, a state, to the one before it: a byte order, or elements."""
        (state,) = self._last(1)
        made = self._stack[-1]
        if isinstance(made, _Dtype):
            made.order = _as_text(state[1])
        elif isinstance(made, _Array) and made.value is None:
            _, shape, dtype, columns_first, content = state
            made.value = _array(shape, dtype, columns_first, content)
        else:
            raise FormatError(f"byte {self.at}: a state of {type(made).__name__}")

    @staticmethod
    def _complete(value: Any) -> Any:
        """A value as it stands in another."""
        if isinstance(value, _Array) and value.value is not None:
            return value.value
        return _of_kind(value, (int, float, str, bytes, list, dict, type(None)))


def _of_kind(value: Any, kinds: Any) -> Any:
    if not isinstance(value, kinds) or isinstance(value, _Name):
        raise FormatError(f"{type(value).__name__} where it cannot stand")
    return value


def _as_text(value: Any) -> str:
    return value.decode("ascii") if isinstance(value, bytes) else str(_of_kind(value, str))


def _array(shape: Any, dtype: Any, columns_first: Any, content: Any) -> Any:
    if not all(isinstance(n, int) and n >= 0 for n in _of_kind(shape, tuple)):
        raise FormatError(f"an array of shape {shape!r:.60}")
    code = _of_kind(dtype, _Dtype).code
    if code in ("O8", "O4", "O"):
        flat: Any = np.empty(len(_of_kind(content, list)), object)
        flat[:] = content
    else:
        flat = elements(_of_kind(content, bytes), f"{dtype.order}{code}")
    return as_shape(flat, shape, "F" if columns_first else "C")


def _of_bytes(code: bytes, data: bytes) -> Any:
    return str(data, "utf-8") if code in _TEXTS else data


_SIZES = {b"U": 1, b"C": 1, b"T": 4, b"B": 4, b"\x8e": 8, b"\x8c": 1, b"X": 4, b"\x8d": 8}
_TEXTS = (b"\x8c", b"X", b"\x8d")
_CONSTANTS: dict[bytes, Callable[[], Any]] = {
    **{b"N": lambda: None, b"\x88": lambda: True, b"\x89": lambda: False},
    **{b"]": list, b"}": dict, b")": tuple},
}
_INSTRUCTIONS: dict[bytes, Callable[[_Machine], Any]] = {
    b"\x80": lambda m: m._take(1),  # the version
    b"\x95": lambda m: m._take(8),  # the size of what follows
    **{b"K": lambda m: m._numbers("<B"), b"M": lambda m: m._numbers("<H")},
    **{b"J": lambda m: m._push("<i"), b"G": lambda m: m._push(">d"), b"\x8a": _Machine._integer},
    b"(": lambda m: m._marks.append(len(m._stack)),
    b"q": lambda m: m._remember(m._number(1)),
    b"r": lambda m: m._remember(m._number(4)),
    b"\x94": lambda m: m._remember(len(m._remembered)),
    **{b"h": lambda m: m._again(m._number(1)), b"j": lambda m: m._again(m._number(4))},
    **{b"a": lambda m: m._extend(m._last(1)), b"e": lambda m: m._extend(m._above_mark())},
    **{b"s": lambda m: m._update(m._last(2)), b"u": lambda m: m._update(m._above_mark())},
    b"t": lambda m: m._tuple(m._above_mark()),
    **{b"\x85": lambda m: m._tuple(m._last(1)), b"\x86": lambda m: m._tuple(m._last(2))},
    b"\x87": lambda m: m._tuple(m._last(3)),
    b"c": lambda m: m._name(m._line(), m._line()),
    b"\x93": lambda m: m._name(*m._last(2)),
    **{b"R": _Machine._call, b"b": _Machine._build},
}
