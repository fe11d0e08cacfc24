"""Names of Python and NumPy that were there in 2019 and are gone, for programs of that time.

`python -m byparts_frontend_tf` puts them back where they are missing; an import of the part does
not.  What is said at https://numpy.org/doc/stable/numpy_2_0_migration_guide.html and in "What's
New" of Python 3.8 to 3.11 to have taken their place does so here.
"""

from __future__ import annotations

import base64
import collections
import collections.abc
import fractions
import inspect
import math
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from byparts_frontend_tf.old_numpy import accept_again

_ABSTRACT = (
    *("Callable", "Container", "Hashable", "ItemsView", "Iterable", "Iterator", "KeysView"),
    *("Mapping", "MappingView", "MutableMapping", "MutableSequence", "MutableSet", "Sequence"),
    *("Set", "Sized", "ValuesView"),
)
ArgSpec = collections.namedtuple("ArgSpec", ("args", "varargs", "keywords", "defaults"))


def put_back() -> None:
    """Define the names that are missing; what there is stays."""
    _define(np, _of_numpy())
    _define(np.lib, {"pad": np.pad})
    accept_again()
    _define(collections, {name: getattr(collections.abc, name) for name in _ABSTRACT})
    _define(inspect, {"ArgSpec": ArgSpec, "getargspec": _argspec})
    _define(time, {"clock": time.process_time})
    _define(fractions, {"gcd": math.gcd})
    _define(base64, {"encodestring": base64.encodebytes, "decodestring": base64.decodebytes})


def _define(module: ModuleType, names: dict[str, Any]) -> None:
    for name, value in names.items():
        if name not in vars(module):  # NumPy's `__getattr__` warns or raises
            setattr(module, name, value)


def _of_numpy() -> dict[str, Any]:
    infinite, none = float("inf"), float("nan")
    return {
        **{"int": int, "float": float, "complex": complex, "object": object, "str": str},
        **{
            "unicode": str,
            "float_": np.float64,
            "complex_": np.complex128,
            "cfloat": np.complex128,
        },
        **{"string_": np.bytes_, "unicode_": np.str_, "singlecomplex": np.complex64},
        **{"longfloat": np.longdouble, "longcomplex": np.clongdouble},
        **dict.fromkeys(("Inf", "Infinity", "infty", "PINF"), infinite),
        **{"NINF": -infinite, "NaN": none, "NAN": none, "PZERO": 0.0, "NZERO": -0.0},
        **{"product": np.prod, "cumproduct": np.cumprod, "alltrue": np.all, "sometrue": np.any},
        **{"round_": np.round, "rank": np.ndim, "mat": np.asmatrix, "alen": len},
        **{"bool8": np.bool_, "int0": np.intp, "uint0": np.uintp},
        "typeDict": np.sctypeDict,
        **{
            "typeDict": np.sctypeDict,
            "row_stack": np.vstack,
            "trapz": getattr(np, "trapezoid", None),
        },
        **{"asscalar": _scalar, "asfarray": _floats, "msort": _sorted_rows, "in1d": _in_one_row},
    }


def _argspec(function: Callable[..., Any]) -> Any:
    """Arguments of a function, as `inspect.getargspec` of Python 3.10 gave them."""
    found = inspect.getfullargspec(function)
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


def _scalar(a: Any) -> Any:
    return a.item()


def _floats(a: Any, dtype: Any = np.float64) -> Any:
    kind = np.dtype(dtype)
    return np.asarray(a, kind if kind.kind in "fc" else np.float64)


def _sorted_rows(a: Any) -> Any:
    return np.sort(a, axis=0)


def _in_one_row(a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
    return np.isin(np.ravel(a), b, *args, **kwargs)
