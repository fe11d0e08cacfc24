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


for _class in (Array, Traced, TracedInput):
    _methods: Any = _class
    _methods.__array_ufunc__, _methods.__array_namespace__ = array_ufunc, array_namespace
