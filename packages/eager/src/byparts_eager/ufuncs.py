"""NumPy's functions of elements on arrays: `np.sin(x)` is the op that `sin(x)` is.

Functions that NumPy has alone are an error that says how to call them, since their results would
have no gradients and no place in a compiled function.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from byparts_eager.standard import elementwise, statistics, utility
from byparts_eager.standard.linear import matmul

# NumPy's names that differ from the standard's.
_NAMES = {
    **{"absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin"},
    **{"arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh"},
    **{"conjugate": "conj", "invert": "bitwise_invert", "power": "pow", "rint": "round"},
    **{"left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift"},
    **{"true_divide": "divide", "mod": "remainder", "fabs": "abs"},
}
_REDUCTIONS = {
    **{"add": statistics.sum, "multiply": statistics.prod, "maximum": statistics.max},
    **{"minimum": statistics.min, "logical_and": utility.all, "logical_or": utility.any},
}


def apply_ufunc(
    ufunc: Any, method: str, inputs: tuple[Any, ...], keywords: Mapping[str, Any]
) -> Any:
    """The result of a `ufunc` of NumPy on these inputs, one of which is an array or traced.

    Raises:
        TypeError: there is no op for it, or it is asked to write into an array of NumPy.
    """
    given = {name: x for name, x in keywords.items() if x is not None}
    name = _NAMES.get(ufunc.__name__, ufunc.__name__)
    if method == "__call__" and not given:
        function = matmul if name == "matmul" else getattr(elementwise, name, None)
        if function is not None:
            return function(*inputs)
    if method == "reduce" and name in _REDUCTIONS and not given.keys() - {"axis", "keepdims"}:
        keepdims = bool(given.get("keepdims"))
        return _REDUCTIONS[name](inputs[0], axis=keywords.get("axis", 0), keepdims=keepdims)
    how = "" if method == "__call__" else f".{method}"
    asked = f" with {', '.join(given)}" if given else ""
    raise TypeError(
        f"np.{ufunc.__name__}{how}{asked}: there is no op for it on arrays of byparts; take the "
        f"elements, as in np.{ufunc.__name__}(x.numpy()), or write a Function"
    )
