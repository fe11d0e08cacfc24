"""Methods of arrays and traced values that need the standard's functions, which need arrays."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Optional

from byparts_eager.array import Array
from byparts_eager.trace import Traced, TracedInput


def array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
    """Let `np.sin(x)` be the op: https://numpy.org/doc/stable/reference/arrays.classes.html."""
    from byparts_eager.ufuncs import apply_ufunc  # only where NumPy asks

    return apply_ufunc(ufunc, method, inputs, keywords)


def array_namespace(self: Any, *, api_version: Optional[str] = None) -> ModuleType:
    """The namespace of the array API standard."""
    from byparts_eager.standard.info import namespace  # only where another library asks

    return namespace(api_version)


def device(self: Any) -> str:
    """The device that code for any namespace makes arrays on while it is traced."""
    return "numpy"


def to_device(self: Any, device: str, /, *, stream: None = None) -> Any:
    """A traced value itself: it has no data to move."""
    return self


for _class in (Array, Traced, TracedInput):
    _methods: Any = _class
    _methods.__array_ufunc__, _methods.__array_namespace__ = array_ufunc, array_namespace
for _class in (Traced, TracedInput):
    _methods = _class
    _methods.device, _methods.to_device = property(device), to_device
    _methods.__setitem__ = Array.__setitem__
