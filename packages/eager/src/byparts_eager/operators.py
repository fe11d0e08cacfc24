"""Python's operators on arrays and traced values, with promotion, and a short way for arrays.

An operator on two arrays of kinds that it has met calls their plan at once; the functions of the
standard (`elementwise.py`) do the same work with more checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_eager.apply import apply, number, run_now
from byparts_eager.array import Array, asarray
from byparts_eager.at import At
from byparts_eager.kind import caches
from byparts_eager.plan import plans
from byparts_eager.promotion import check_number, promoted
from byparts_eager.standard.indexing import getitem
from byparts_eager.standard.linear import matmul, matrix_transpose
from byparts_eager.state import state
from byparts_eager.trace import Traced, TracedInput
from byparts_graph_ir import Op, Value

NUMBERS = (int, float, bool)
_MOST_NUMBERS = 1024  # beside which an operator remembers its plan
_UNKNOWN = None, None


def _two(op: Op, name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """An operator and its reflection, for arrays."""
    known: dict[tuple[Any, Any], Any] = {}
    with_numbers: dict[tuple[Any, Any, Any], Any] = {}
    caches.extend([known, with_numbers])
    general = _matmul if name == "matmul" else binary

    def forward(self: Array, other: Any) -> Any:
        if other.__class__ is Array:
            plan = known.get((self.kind, other.kind))
            if plan is not None and not state.recorders:
                return plan(self, other)[0]
            if self.kind.type.dtype == other.kind.type.dtype and (
                name != "matmul" or (len(self.kind.dims) > 1 and len(other.kind.dims) > 1)
            ):
                y = run_now(op, (self, other))
                known[self.kind, other.kind] = plans.get((op, self.kind, other.kind))
                return y[0]
        elif other.__class__ in NUMBERS:
            plan, lifted = with_numbers.get((other, other.__class__, self.kind), _UNKNOWN)
            if plan is not None and not state.recorders:
                return plan(self, lifted)[0]
            lifted = lift_beside(other, self)
            y = forward(self, lifted)
            if other and other == other:  # 0.0 is -0.0 as a key, and nan is none
                if len(with_numbers) >= _MOST_NUMBERS:
                    with_numbers.clear()
                plan = plans.get((op, self.kind, lifted.kind))
                with_numbers[other, other.__class__, self.kind] = plan, lifted
            return y
        return general(op, self, other)

    def reflected(self: Array, other: Any) -> Any:
        if other.__class__ in NUMBERS:
            return forward(lift_beside(other, self), self)
        return general(op, other, self)

    return forward, reflected


def lift_beside(x: float, beside: Array) -> Array:
    """A number as an array of the dtype of the one beside it."""
    dtype = beside.kind.type.dtype
    check_number(x, dtype)
    return number(x, repr(x), dtype, beside.kind.backend)


def binary(op: Op, x: Any, y: Any) -> Any:
    """The op on two arrays, traced values or numbers, cast to a common dtype.

    Returns `NotImplemented` for what is none of these, as Python asks of operators.

    Raises:
        TypeError: they have no common dtype.
    """
    x, y = (asarray(v) if isinstance(v, (np.ndarray, np.generic)) else v for v in (x, y))
    if isinstance(x, Value) and isinstance(y, Value):
        dtype = promoted(str(x.type.dtype), str(y.type.dtype))
        return op(_cast(x, dtype), _cast(y, dtype))
    beside = x if isinstance(x, Value) else y
    other = y if beside is x else x
    if not isinstance(other, NUMBERS) or not isinstance(beside, Value):
        return NotImplemented
    check_number(other, beside.type.dtype)
    if beside.type.dtype == "bool":
        lifted = ops.fill(other, "bool")
        return op(x, lifted) if beside is x else op(lifted, y)
    return op(x, y)


def _cast(x: Value, dtype: str) -> Value:
    return x if x.type.dtype == dtype else ops.cast(x, dtype)


def _matmul(op: Op, x: Any, y: Any) -> Any:
    """`x @ y` as NumPy means it, rows of one axis included."""
    if not (isinstance(x, (Value, np.ndarray)) and isinstance(y, (Value, np.ndarray))):
        return NotImplemented
    return matmul(x, y)


_BINARY = {
    **{"add": ops.Add(), "sub": ops.Sub(), "mul": ops.Mul(), "truediv": ops.Div()},
    **{"floordiv": ops.Floordiv(), "mod": ops.Mod(), "pow": ops.Pow(), "matmul": ops.MatMul()},
}
_COMPARISONS = {
    **{"eq": ops.Equal(), "ne": ops.NotEqual(), "lt": ops.Less(), "le": ops.LessEqual()},
    **{"gt": ops.Greater(), "ge": ops.GreaterEqual()},
}
_BITS = {
    "and": (ops.LogicalAnd(), ops.BitwiseAnd()),
    "or": (ops.LogicalOr(), ops.BitwiseOr()),
    "xor": (ops.LogicalXor(), ops.BitwiseXor()),
    **{
        "lshift": (ops.ShiftLeft(), ops.ShiftLeft()),
        "rshift": (ops.ShiftRight(), ops.ShiftRight()),
    },
}


def _bits(logical: Op, bitwise: Op) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: Any, other: Any) -> Any:
        return binary(logical if self.type.dtype == "bool" else bitwise, self, other)

    def reflected(self: Any, other: Any) -> Any:
        return binary(logical if self.type.dtype == "bool" else bitwise, other, self)

    return forward, reflected


def _traced(op: Op, name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    general = _matmul if name == "matmul" else binary

    def forward(self: Any, other: Any) -> Any:
        return general(op, self, other)

    def reflected(self: Any, other: Any) -> Any:
        return general(op, other, self)

    return forward, reflected


def _invert(self: Any) -> Any:
    return ops.logical_not(self) if self.type.dtype == "bool" else ops.bitwise_not(self)


def _give_operators(cls: Any, make: Callable[[Op, str], Any]) -> None:
    """Set the operators of a class of values."""
    for name, op in {**_BINARY, **_COMPARISONS}.items():
        forward, reflected = make(op, name)
        setattr(cls, f"__{name}__", forward)
        if name in _BINARY:
            setattr(cls, f"__r{name}__", reflected)
    for name, pair in _BITS.items():
        forward, reflected = _bits(*pair)
        setattr(cls, f"__{name}__", forward)
        setattr(cls, f"__r{name}__", reflected)
    cls.__getitem__ = getitem
    cls.at, cls.mT = property(At), property(matrix_transpose)
    cls.__invert__ = _invert
    cls.__pos__ = lambda self: self
    cls.__hash__ = object.__hash__
    cls.apply = staticmethod(apply)


_give_operators(Array, _two)
for _class in (Traced, TracedInput):
    _give_operators(_class, _traced)
