"""Sizes that a model computes with: numbers and names of dimensions, in small arrays.

`Shape` of an input of open size gives names; what `Gather`, `Concat`, `Add` and others make of them
stays names and expressions ("2*n+1") as far as `byparts_graph_ir.dimension` can say them.  What is
decided of a name holds for every number from 0 on: whether n is 1, or is 4, is never decided.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_graph_ir import ShapeError, Value, dimension, dimension_names

Size = Union[int, str]
_QUOTIENT = re.compile(r"(\w+|\([^()]*\))//(\d+)")
_MOST = 4096  # elements; more are no shape


@dataclass(frozen=True, eq=False)
class Sizes:
    """An array of sizes, at least one of them a name.

    Attributes:
        array: of ints and texts.
        dtype: what the model says they are, "i64" unless it has cast them.
    """

    array: NDArray[Any]
    dtype: str = "i64"

    @property
    def names(self) -> set[str]:
        """The names of dimensions in them."""
        return {n for size in self.array.reshape(-1) for n in dimension_names(size)}


Known = Union[NDArray[Any], Sizes]


def sizes_of(elements: Any, dtype: str = "i64") -> Known:
    """An array where all elements are numbers, else `Sizes`."""
    array = np.array(elements, dtype=object)
    if all(not isinstance(e, str) for e in array.reshape(-1)):
        return array.astype({"i64": "i8", "bool": "?"}.get(dtype, dtype.replace("32", "4")
                                                          .replace("64", "8")))  # fmt: skip
    return Sizes(array, dtype)


def size_value(size: Size) -> Value:
    """A size as an i64[] of the program."""
    if not isinstance(size, str):
        return ops.fill(int(size), "i64")
    if dimension(f"max({size},0)") == size:
        return ops.count_like(ops.broadcast_to(ops.fill(0, "i64"), (size,)))
    names = {name: size_value(name) for name in dimension_names(size)}
    positive, negative = dimension(f"max({size},0)"), dimension(f"max(-({size}),0)")
    assert names and isinstance(positive, str) and isinstance(negative, str)
    return size_value(positive) - size_value(negative)


def as_value(sizes: Sizes) -> Value:
    """Sizes as a value of the program."""
    flat = [size_value(size) for size in sizes.array.reshape(-1)]
    value = ops.reshape(ops.stack(flat), sizes.array.shape)
    return ops.cast(value, sizes.dtype)


def counted(size: Size) -> Value:
    """0, 1, ... size - 1, as i64."""
    if isinstance(size, int):
        return ops.arange(0, size, dtype="i64")
    return ops.cumsum(ops.broadcast_to(ops.fill(1, "i64"), (size,)), 0, exclusive=True)


def computed(name: str, x: Known, y: Known, dtype: str) -> Known | None:
    """An operator of ONNX on sizes; `None` where the result depends on what the names stand for."""
    left, right = (k.array if isinstance(k, Sizes) else k for k in (x, y))
    if name not in _RULES or max(left.size, right.size) > _MOST:
        return None
    for array in (left, right):
        if array.dtype.kind == "f" and not np.equal(np.floor(array), array).all():
            return None
    pair = np.broadcast_arrays(left.astype(object), right.astype(object))
    real = dtype.startswith(("f", "b")) and name == "Div"
    results = [_of_two(name, a, b, real) for a, b in zip(*(p.reshape(-1) for p in pair))]  # noqa: B905  # equal by broadcasting
    if any(r is None for r in results):
        return None
    array = np.empty(len(results), object)
    array[:] = results
    kind = "bool" if name in _COMPARISONS else dtype
    return sizes_of(array.reshape(pair[0].shape), kind)


def at_least(a: Size, b: Size) -> bool:
    """Whether a >= b for all numbers that the names can stand for, as far as can be told."""
    greater = _dimension("max(a,b)", a, b)
    if greater is not None and greater == _dimension("a", a, b):
        return True
    # A rest of a division is at least 0: subtract one that stands in a - b, and look again.
    more = str(_dimension("a-b", a, b))
    for inner, by in _QUOTIENT.findall(more):
        less = _dimension(f"a-({inner}-{by}*({inner}//{by}))", more, 0)
        if less is not None and less == _dimension("max(a,0)", less, 0):
            return True
    return False


def _of_two(name: str, a: Any, b: Any, real: bool) -> Any:
    a, b = (e if isinstance(e, str) else int(e) for e in (a, b))
    if real:
        quotient = _divided(a, b)
        exact = quotient is not None and _dimension("a*b", quotient, b) == _dimension("a", a, b)
        return quotient if exact else None
    return _RULES[name](a, b)


def _dimension(text: str, a: Size, b: Size) -> Size | None:
    try:
        return dimension(text, {"a": a, "b": b})
    except ShapeError:
        return None


def _divided(a: Size, b: Size) -> Size | None:
    """a / b, rounded towards 0, for b > 0."""
    if isinstance(b, str) or b < 1:
        return None
    if at_least(a, 0):
        return _dimension("a//b", a, b)
    return _dimension("max(a,0)//b-max(-a,0)//b", a, b)


def _equal(a: Size, b: Size) -> bool | None:
    difference = _dimension("a-b", a, b)
    if isinstance(difference, int):
        return difference == 0
    return False if _less(a, b) or _less(b, a) else None


def _less(a: Size, b: Size) -> bool | None:
    more = _dimension("a+1", a, b)
    if more is not None and at_least(b, more):
        return True
    return False if at_least(a, b) else None


def _text(text: str) -> Callable[[Size, Size], Size | None]:
    return lambda a, b: _dimension(text, a, b)


def _not(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


_COMPARISONS: Mapping[str, Callable[[Size, Size], bool | None]] = {
    "Equal": _equal,
    "Less": _less,
    "Greater": lambda a, b: _less(b, a),
    "LessOrEqual": lambda a, b: _not(_less(b, a)),
    "GreaterOrEqual": lambda a, b: _not(_less(a, b)),
}
_RULES: Mapping[str, Callable[[Size, Size], Any]] = {
    "Add": _text("a+b"),
    "Sub": _text("a-b"),
    "Mul": _text("a*b"),
    "Div": _divided,
    "Mod": _text("a%b"),
    "Min": _text("min(a,b)"),
    "Max": _text("max(a,b)"),
    **_COMPARISONS,
}
