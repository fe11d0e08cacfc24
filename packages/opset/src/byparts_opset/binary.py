"""Arithmetic on two values, by NumPy's broadcasting; both have one dtype.

Gradients end in `sum_like`, which takes back what broadcasting repeated.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import FLOATS, Node, ShapeError, Value
from byparts_opset.domain import divisible, large
from byparts_opset.dtypes import Array
from byparts_opset.elementwise import Binary, computed, flat, summed_back
from byparts_opset.half import in_f32


class Add(Binary):
    """z = x + y."""

    ufunc = np.add

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        return summed_back(node, dz, dz)


class Sub(Binary):
    """z = x - y."""

    ufunc = np.subtract

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        x, y = node.inputs
        return (ops.sum_like(dz, x), -ops.sum_like(dz, y))


class Mul(Binary):
    """z = x * y."""

    ufunc = np.multiply

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        x, y = node.inputs
        return summed_back(node, dz * y, dz * x)


class Div(Binary):
    """z = x / y, of floats."""

    takes = FLOATS
    advice = "use floordiv (x // y), or cast to a float first"
    smooth = ((-2.0, 2.0), (0.5, 2.0))
    ufunc = np.true_divide

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        (x, y), (z,) = node.inputs, node.outputs
        dx = dz / y
        return (ops.sum_like(dx, x), -ops.sum_like(dx * z, y))


class Floordiv(Binary):
    """z = x / y rounded towards -inf, as Python's `//`.  Flat: no gradient.

    Integers by 0 are 0, and the least integer by -1 wraps to itself, as in NumPy; nothing raises.
    Floats by 0 are inf and nan.
    A remainder of floats too small to be a normal number may count as 0.
    """

    gradient = flat
    smooth = ((7.2, 7.8), (3.0, 3.5))
    ufunc = np.floor_divide

    def domain(self, x: Array, y: Array) -> tuple[Array, ...]:
        return divisible(x, y)


class Mod(Binary):
    """z = x - y * floordiv(x, y): has the sign of y, as Python's `%`.

    Integers by 0 are 0, as in NumPy; nothing raises.  Floats by 0 are nan, and may be so
    where x / y overflows.
    """

    zero_sign = False
    smooth = ((4.2, 5.8), (2.0, 2.1))
    ufunc = np.mod

    def domain(self, x: Array, y: Array) -> tuple[Array, ...]:
        return divisible(x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        x, y = node.inputs
        return (ops.sum_like(dz, x), -ops.sum_like(dz * (x // y), y))


class Pow(Binary):
    """z = x^y; x^0 = 1, also of 0 and nan; floats below 0 to no whole power are nan.

    The gradient of x is 0 where y is 0, and that of y is taken as 0 where x is 0 and y is not
    negative, so no nan comes from 0**2.

    Integers wrap.  An integer to a negative power is what 1 / x^-y rounds to towards 0, as in torch
    (NumPy refuses it): 0, but 1 of 1, and 1 or -1 of -1.  0 to a negative power is 0, too.
    """

    smooth = ((0.5, 2.0), (1.0, 3.0))

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return computed(_power, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        (x, y), (z,) = node.inputs, node.outputs
        dx = _times_slope(dz, x, y)
        at_zero = ops.logical_and(ops.equal(x, 0), ops.greater_equal(y, 0))
        inside = ops.select(at_zero, 1, x)
        return summed_back(node, dx, dz * (z * ops.log(inside)))

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        x, y = node.inputs
        power = _number(y)
        if power is None or y.type.shape != ():
            return None
        return (x,) if power == 1 else (ops.square(x),) if power == 2 else None


class Extremum(Binary):
    """z = x or y; nan if one is.

    Where they are equal each gets half of the gradient, as in torch and JAX; where one is nan, all.
    """

    zero_sign = False

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        x, y = node.inputs
        below, above = ops.less(x, y), ops.greater(x, y)
        not_x, not_y = (below, above) if isinstance(self, Maximum) else (above, below)
        dz = ops.select(ops.equal(x, y), 0.5 * dz, dz)
        return summed_back(node, ops.select(not_x, 0, dz), ops.select(not_y, 0, dz))


class Maximum(Extremum):
    """z = the greater of x and y; nan if one is."""

    ufunc = np.maximum


class Minimum(Extremum):
    """z = the smaller of x and y; nan if one is."""

    ufunc = np.minimum


class SquaredDifference(Binary):
    """z = (x - y)^2."""

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return computed(lambda x, y: np.square(x - y), x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        x, y = node.inputs
        slope = (x - y) * (2 * dz)
        return (ops.sum_like(slope, x), -ops.sum_like(slope, y))

    @in_f32
    def decompose(self, x: Value, y: Value) -> tuple[Value, ...] | None:
        difference = x - y
        return (difference * difference,)


class Atan2(Binary):
    """z = the angle of the point (y, x), in (-pi, pi]; the first operand is the ordinate.

    The gradient at the origin, which has no angle, is 0.
    """

    takes = FLOATS
    smooth = ((0.5, 2.0), (0.5, 2.0))
    ufunc = np.arctan2

    def domain(self, y: Array, x: Array) -> tuple[Array, ...]:
        return (large(y), large(x))

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        y, x = node.inputs
        size = ops.maximum(ops.abs(x), ops.abs(y))  # of numbers near 1 squares are finite, not 0
        size = ops.stop_gradient(ops.select(ops.equal(size, 0), 1, size))
        a, b = x / size, y / size
        square = a * a + b * b
        ray = dz / ops.select(ops.equal(square, 0), 1, square)
        return (ops.sum_like(ray * a / size, y), -ops.sum_like(ray * b / size, x))


add, sub, mul, div = Add(), Sub(), Mul(), Div()
floordiv, mod, pow = Floordiv(), Mod(), Pow()
maximum, minimum = Maximum(), Minimum()
squared_difference, atan2 = SquaredDifference(), Atan2()


def add_n(values: Iterable[Value]) -> Value:
    """The sum of several values of one type, added pairwise: error grows as log n, not n.

    Raises:
        ShapeError: there are none.
    """
    terms = list(values)
    if not terms:
        raise ShapeError("add_n: needs a value at least, got none")
    while len(terms) > 1:
        odd = terms[-1:] if len(terms) % 2 else []
        terms = [add(x, y) for x, y in zip(terms[::2], terms[1::2], strict=False)] + odd
    return terms[0]


def _power(x: Array, y: Array) -> Array:
    """`np.power`, and for the negative powers of integers, which it refuses, what `Pow` says."""
    if x.dtype.kind != "i":
        return np.power(x, y)
    unit = np.where(np.abs(x) == 1, np.where(y % 2 == 0, 1, x), 0)
    return np.where(y < 0, unit, np.power(x, np.maximum(y, 0)))


def _times_slope(dz: Value, x: Value, y: Value) -> Value:
    """dz times d(x^y)/dx = y * x^(y - 1), and 0 where y is 0, even at x = 0."""
    power = _number(y)
    if power == 2:
        return x * (y * dz)  # numbers beside each other: a constant dz is one product with x
    if power is not None:
        return dz * (y if power in (0, 1) else y * pow(x, power - 1))
    at_zero = ops.equal(y, 0)
    return dz * ops.select(at_zero, 0, y * pow(x, ops.select(at_zero, 1, y - 1)))


def _number(x: Value) -> float | None:
    """The number that x is known to be."""
    value = x.node.op.value if x.node is not None and isinstance(x.node.op, ops.Fill) else None
    return None if isinstance(value, str) else value
