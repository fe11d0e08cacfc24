"""Support for what NumPy accepted in 2019 and refuses now; `old_names.py` has the names.

Lists of lists of different lengths are arrays of lists; `fromstring` reads bytes; an array of one
element is a number (`float(a)`, `"%f" % a`); arrays have `tostring`, `ptp` and `itemset`.  For the
last two NumPy's class of arrays changes, which is closed to Python: its dict is reached through
`gc`, and slots get CPython's functions that look methods up, where they lie as `_number` expects.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

_AS_NUMBER, _WRAPPED = 96, 48  # bytes, in a PyTypeObject and in a PyWrapperDescrObject
_SLOTS = {"__int__": 16, "__float__": 18}  # in PyNumberMethods
_STACKS = ("vstack", "hstack", "dstack", "column_stack", "stack")


def accept_again() -> None:
    """Make NumPy accept it, whichever version it is; doing it twice does nothing."""
    if hasattr(np.array, "__wrapped__"):
        return
    _replace("array", _ragged(_copying(np.array)))
    _replace("asarray", _ragged(np.asarray))
    _replace("fromstring", _from_bytes)
    _replace("sum", _sum)
    for name in _STACKS:
        _replace(name, _of_sequences(getattr(np, name)))
    if sys.implementation.name == "cpython":
        methods = gc.get_referents(vars(np.ndarray))[0]
        for name, method in {"tostring": _tostring, "ptp": _ptp, "itemset": _itemset}.items():
            methods.setdefault(name, method)
        if object.__basicsize__ == 16:  # otherwise slots lie elsewhere: a debug build, no GIL
            _number("__int__", int, methods)
            _number("__float__", float, methods)
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(np.ndarray))


def _replace(name: str, function: Callable[..., Any]) -> None:
    setattr(np, name, functools.wraps(getattr(np, name))(function))


def _ragged(array: Callable[..., Any]) -> Callable[..., Any]:
    def accepting(object: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return array(object, *args, **kwargs)
        except ValueError as error:
            asked = args[0] if args else kwargs.get("dtype")
            ours = sys._getframe(1).f_globals.get("__name__", "").startswith("byparts_")
            if asked is not None or ours or "inhomogeneous" not in str(error):
                raise
            return array(object, np.dtype("O"))

    return accepting


def _copying(array: Callable[..., Any]) -> Callable[..., Any]:
    def copying(object: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("copy") is False:
            kwargs["copy"] = None
        return array(object, *args, **kwargs)

    return copying


def _from_bytes(string: Any, dtype: Any = float, count: int = -1, sep: str = "") -> Any:
    if sep:
        return _from_text(string, dtype, count, sep=sep)
    data = string.encode("latin-1") if isinstance(string, str) else string
    return np.frombuffer(data, dtype, count).copy()


_from_text, _array_sum = np.fromstring, np.sum


def _sum(a: Any, *args: Any, **kwargs: Any) -> Any:
    return _array_sum(list(a) if hasattr(a, "__next__") else a, *args, **kwargs)


def _of_sequences(stack: Callable[..., Any]) -> Callable[..., Any]:
    def stacking(arrays: Any, *args: Any, **kwargs: Any) -> Any:
        return stack(list(arrays) if hasattr(arrays, "__next__") else arrays, *args, **kwargs)

    return stacking


def _tostring(self: Any, order: Any = "C") -> bytes:
    return bytes(self.tobytes(order))


def _ptp(self: Any, axis: Any = None, out: Any = None, **kwargs: Any) -> Any:
    return np.ptp(self, axis, out, **kwargs)


def _itemset(self: Any, *args: Any) -> None:
    *place, value = args
    self[np.unravel_index(place[0], self.shape) if len(place) == 1 else tuple(place)] = value


class _Looking:
    """Source of slots that CPython fills with functions that look a method up and call it."""

    def __int__(self) -> int:
        return 0

    def __float__(self) -> float:
        return 0.0


def _number(name: str, convert: Callable[[Any], Any], methods: dict[str, Any]) -> None:
    """Convert arrays of one element, whatever their rank, if the slot is where CPython has it."""
    found, wrapped = _slot(np.ndarray, name), _at(id(methods[name]) + _WRAPPED)
    if found.value != wrapped.value:
        return

    def number(self: Any) -> Any:
        if self.size != 1:
            raise TypeError("only size-1 arrays can be converted to Python scalars")
        return convert(self.item())

    methods[name] = number
    found.value = _slot(_Looking, name).value


def _slot(kind: type, name: str) -> ctypes.c_void_p:
    return _at((_at(id(kind) + _AS_NUMBER).value or 0) + 8 * _SLOTS[name])


def _at(address: int) -> ctypes.c_void_p:
    return ctypes.c_void_p.from_address(address)
