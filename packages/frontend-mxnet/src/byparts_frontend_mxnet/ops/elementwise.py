"""Ops on each element: of one array, of two that broadcast, of an array and a number."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import byparts_opset as ops
from byparts_eager import Array
from byparts_eager.operators import lift_beside
from byparts_frontend_mxnet.ops.entry import dtype_name, op, op_table
from byparts_graph_ir import FLOATS

_SAME = (
    "abs ceil exp expm1 floor log log1p round rsqrt sign sqrt square trunc reciprocal cos cosh sin "
    "sinh tan tanh relu sigmoid softsign erf zeros_like ones_like identity stop_gradient"
)
_ARCS = "cos cosh sin sinh tan tanh"
_UNARY: dict[str, Callable[[Any], Any]] = {
    **{n: getattr(ops, n) for n in _SAME.split()},
    **{f"arc{n}": getattr(ops, f"a{n}") for n in _ARCS.split()},
    **{"negative": ops.neg, "_copy": ops.identity, "rint": ops.round, "fix": ops.trunc},
    **{"log2": lambda x: ops.log(x) / math.log(2), "log10": lambda x: ops.log(x) / math.log(10)},
    **{"degrees": lambda x: x * (180 / math.pi), "radians": lambda x: x * (math.pi / 180)},
    "cbrt": lambda x: ops.sign(x) * ops.exp(ops.log(ops.abs(x)) / 3),
    "rcbrt": lambda x: ops.sign(x) / ops.exp(ops.log(ops.abs(x)) / 3),
    "BlockGrad": ops.stop_gradient,
    "logical_not": lambda x: ops.cast(ops.equal(x, 0), x.type.dtype),
}


def _truth(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A comparison that gives 0 and 1 in the dtype of its first operand."""
    return lambda x, y: ops.cast(compare(x, y), x.type.dtype)


def _not_zero(combine: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return _truth(lambda x, y: combine(ops.not_equal(x, 0), ops.not_equal(y, 0)))


def _divide(x: Any, y: Any) -> Any:
    return ops.div(x, y) if x.type.dtype in FLOATS else ops.floordiv(x, y)


# Name after "broadcast_"; other names of two arrays; the name of the op with a number.
_BINARY: dict[str, tuple[Callable[[Any, Any], Any], str, str]] = {
    "add": (ops.add, "elemwise_add _plus _add _Plus broadcast_plus", "_plus_scalar _PlusScalar"),
    "sub": (ops.sub, "elemwise_sub _minus _sub _Minus broadcast_minus", "_minus_scalar"),
    "mul": (ops.mul, "elemwise_mul _mul _Mul", "_mul_scalar _MulScalar"),
    "div": (_divide, "elemwise_div _div _Div", "_div_scalar _DivScalar"),
    "mod": (ops.mod, "_mod", "_mod_scalar"),
    "power": (ops.pow, "_power _Power pow", "_power_scalar"),
    "maximum": (ops.maximum, "_maximum maximum", "_maximum_scalar"),
    "minimum": (ops.minimum, "_minimum minimum", "_minimum_scalar"),
    "hypot": (lambda x, y: ops.sqrt(x * x + y * y), "_hypot hypot", "_hypot_scalar"),
    "equal": (_truth(ops.equal), "_equal", "_equal_scalar"),
    "not_equal": (_truth(ops.not_equal), "_not_equal", "_not_equal_scalar"),
    "greater": (_truth(ops.greater), "_greater", "_greater_scalar"),
    "greater_equal": (_truth(ops.greater_equal), "_greater_equal", "_greater_equal_scalar"),
    "lesser": (_truth(ops.less), "_lesser", "_lesser_scalar"),
    "lesser_equal": (_truth(ops.less_equal), "_lesser_equal", "_lesser_equal_scalar"),
    "logical_and": (_not_zero(ops.logical_and), "_logical_and", "_logical_and_scalar"),
    "logical_or": (_not_zero(ops.logical_or), "_logical_or", "_logical_or_scalar"),
    "logical_xor": (_not_zero(ops.logical_xor), "_logical_xor", "_logical_xor_scalar"),
}
_REFLECTED = {"sub": "_rminus_scalar", "div": "_rdiv_scalar", "mod": "_rmod_scalar",
              "power": "_rpower_scalar", "greater": "_lesser_scalar",
              "lesser": "_greater_scalar", "greater_equal": "_lesser_equal_scalar",
              "lesser_equal": "_greater_equal_scalar"}  # fmt: skip


# Python's and `nd`'s name -> op on two arrays, on an array and a number, on a number and an array.
OPERATORS = {
    {"sub": "subtract", "mul": "multiply", "div": "divide", "mod": "modulo"}.get(name, name): (
        f"broadcast_{name}",
        scalars.split()[0],
        _REFLECTED.get(name, scalars.split()[0]),
    )
    for name, (_, _, scalars) in _BINARY.items()
}


def _number(x: float, beside: Any) -> Any:
    """A number in the dtype of the array beside it, as MXNet casts it."""
    dtype = beside.type.dtype
    if beside.__class__ is Array:
        return lift_beside(float(x) if dtype in FLOATS else int(x), beside)  # made once
    return ops.fill(float(x) if dtype in FLOATS else int(x), dtype)


def _two(name: str, function: Callable[[Any, Any], Any], others: str, scalars: str) -> None:
    def arrays(lhs: Any, rhs: Any) -> Any:
        dtype = lhs.type.dtype
        return function(lhs, rhs if rhs.type.dtype == dtype else ops.cast(rhs, dtype))

    def number(data: Any, *, scalar: float) -> Any:
        return function(data, _number(scalar, data))

    def reflected(data: Any, *, scalar: float) -> Any:
        return function(_number(scalar, data), data)

    op(f"broadcast_{name}", *others.split())(arrays)
    op(*scalars.split())(number)
    if _REFLECTED.get(name, "").startswith("_r"):
        op(_REFLECTED[name])(reflected)


def _one(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda data: function(data)


for _name, _function in _UNARY.items():
    op(_name)(_one(_function))
for _name, _both in _BINARY.items():
    _two(_name, *_both)
op_table(
    {
        "clip": lambda data, *, a_min, a_max: ops.clip(data, a_min, a_max),
        "Cast cast": lambda data, *, dtype: ops.cast(data, dtype_name(dtype)),
        "add_n ElementWiseSum": lambda *args: ops.add_n(args),
    }
)


@op("where")
def where(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition is not 0, else y; a condition of one axis chooses rows."""
    holds = ops.not_equal(condition, 0)
    if condition.type.rank == 1 < x.type.rank:
        holds = ops.expand_dims(holds, tuple(range(1, x.type.rank)))
    return ops.where(holds, x, y)


@op("smooth_l1")
def smooth_l1(data: Any, *, scalar: float = 1.0) -> Any:
    """Half of (scalar x)² near 0, else |x| - 1 / (2 scalar²)."""
    near, size = 1 / scalar**2, ops.abs(data)
    return ops.where(ops.less(size, near), ops.square(data * scalar) / 2, size - near / 2)
