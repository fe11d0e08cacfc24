"""Questions about two values, or one: the answer is a bool, by NumPy's broadcasting.

Nothing here has a gradient.  A comparison with nan is false, but for `not_equal`.
"""

from __future__ import annotations

from math import inf

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import FLOATS, Value
from byparts_opset.dtypes import BOOLS, NUMBERS
from byparts_opset.elementwise import Comparison, Question


class Equal(Comparison):
    """z = x == y."""

    takes = NUMBERS | BOOLS
    ufunc = np.equal


class NotEqual(Comparison):
    """z = x != y."""

    takes = NUMBERS | BOOLS
    ufunc = np.not_equal

    def decompose(self, x: Value, y: Value) -> tuple[Value, ...] | None:
        return (ops.logical_not(equal(x, y)),)


class Less(Comparison):
    """z = x < y."""

    ufunc = np.less


class LessEqual(Comparison):
    """z = x <= y."""

    ufunc = np.less_equal

    def decompose(self, x: Value, y: Value) -> tuple[Value, ...] | None:
        return (ops.logical_or(less(x, y), equal(x, y)),)


class Greater(Comparison):
    """z = x > y."""

    ufunc = np.greater

    def decompose(self, x: Value, y: Value) -> tuple[Value, ...] | None:
        return (less(y, x),)


class GreaterEqual(Comparison):
    """z = x >= y."""

    ufunc = np.greater_equal

    def decompose(self, x: Value, y: Value) -> tuple[Value, ...] | None:
        return (less_equal(y, x),)


class IsNan(Question):
    """y = whether x is nan."""

    ufunc = np.isnan

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (not_equal(x, x),)


class IsInf(Question):
    """y = whether x is inf or -inf."""

    ufunc = np.isinf

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (equal(ops.abs(x), inf) if x.type.dtype in FLOATS else not_equal(x, x),)


class IsFinite(Question):
    """y = whether x is neither nan nor infinite."""

    ufunc = np.isfinite

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return (less(ops.abs(x), inf) if x.type.dtype in FLOATS else equal(x, x),)


equal, not_equal = Equal(), NotEqual()
less, less_equal, greater, greater_equal = Less(), LessEqual(), Greater(), GreaterEqual()
is_nan, is_inf, is_finite = IsNan(), IsInf(), IsFinite()
