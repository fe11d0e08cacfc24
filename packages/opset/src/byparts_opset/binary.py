"""Arithmetic on two values, by NumPy's broadcasting; both have one dtype.

Gradients end in `sum_like`, which takes back what broadcasting repeated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, Op, Sample, ShapeError, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.domain import divisible, large
from byparts_opset.dtypes import Array
from byparts_opset.elementwise import (
    binary_samples,
    broadcast_back,
    computed,
    two_floats,
    two_numbers,
)
from byparts_opset.half import in_f32


@dataclass(frozen=True)
class Add(Op):
    """z = x + y."""

    pattern = "elementwise"
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = two_numbers
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return computed(np.add, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        x, y = node.inputs
        return (ops.sum_like(dz, x), ops.sum_like(dz, y))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls())


@dataclass(frozen=True)
class Sub(Op):
    """z = x - y."""

    pattern = "elementwise"
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = two_numbers
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return computed(np.subtract, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        x, y = node.inputs
        return (ops.sum_like(dz, x), -ops.sum_like(dz, y))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls())


@dataclass(frozen=True)
class Mul(Op):
    """z = x * y."""

    pattern = "elementwise"
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = two_numbers
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return computed(np.multiply, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        x, y = node.inputs
        return (ops.sum_like(dz * y, x), ops.sum_like(dz * x, y))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls())


@dataclass(frozen=True)
class Div(Op):
    """z = x / y, of floats."""

    integer_advice = "use floordiv (x // y), or cast to a float first"
    pattern = "elementwise"
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = two_floats
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return computed(np.true_divide, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        (x, y), (z,) = node.inputs, node.outputs
        dx = dz / y
        return (ops.sum_like(dx, x), -ops.sum_like(dx * z, y))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls(), y=(0.5, 2.0))


@dataclass(frozen=True)
class Floordiv(Op):
    """z = x / y rounded towards -inf, as Python's `//`.  Flat: no gradient.

    Integers by 0 are 0, and the least integer by -1 wraps to itself, as in NumPy; nothing raises.
    Floats by 0 are inf and nan.
    A remainder of floats too small to be a normal number may count as 0.
    """

    pattern = "elementwise"
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = two_numbers
    infer_inputs = broadcast_back

    def domain(self, x: Array, y: Array) -> tuple[Array, ...]:
        return divisible(x, y)

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return computed(np.floor_divide, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        return (None, None)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls(), x=(7.2, 7.8), y=(3.0, 3.5))


@dataclass(frozen=True)
class Mod(Op):
    """z = x - y * floordiv(x, y): has the sign of y, as Python's `%`.

    Integers by 0 are 0, as in NumPy; nothing raises.  Floats by 0 are nan, and may be so
    where x / y overflows.
    """

    pattern = "elementwise"
    zero_sign = False
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = two_numbers
    infer_inputs = broadcast_back

    def domain(self, x: Array, y: Array) -> tuple[Array, ...]:
        return divisible(x, y)

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return computed(np.mod, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        x, y = node.inputs
        return (ops.sum_like(dz, x), -ops.sum_like(dz * (x // y), y))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls(), x=(4.2, 5.8), y=(2.0, 2.1))


@dataclass(frozen=True)
class Pow(Op):
    """z = x^y; x^0 = 1, also of 0 and nan; floats below 0 to no whole power are nan.

    The gradient of x is 0 where y is 0, and that of y is taken as 0 where x is 0 and y is not
    negative, so no nan comes from 0**2.

    Integers wrap.  An integer to a negative power is what 1 / x^-y rounds to towards 0, as in torch
    (NumPy refuses it): 0, but 1 of 1, and 1 or -1 of -1.  0 to a negative power is 0, too.
    """

    pattern = "elementwise"
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = two_numbers
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return computed(_power, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        (x, y), (z,) = node.inputs, node.outputs
        slope = _slope(x, y)
        flat = ops.logical_and(ops.equal(x, 0), ops.greater_equal(y, 0))
        inside = ops.select(flat, 1, x)
        return (ops.sum_like(dz * slope, x), ops.sum_like(dz * (z * ops.log(inside)), y))

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        x, y = node.inputs
        power = _number(y)
        if power is None or y.type.shape != ():
            return None
        return (x,) if power == 1 else (ops.square(x),) if power == 2 else None

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls(), x=(0.5, 2.0), y=(1.0, 3.0))


def _power(x: Array, y: Array) -> Array:
    """`np.power`, and for the negative powers of integers, which it refuses, what `Pow` says."""
    if x.dtype.kind != "i":
        return np.power(x, y)
    unit = np.where(np.abs(x) == 1, np.where(y % 2 == 0, 1, x), 0)
    return np.where(y < 0, unit, np.power(x, np.maximum(y, 0)))


def _slope(x: Value, y: Value) -> Value:
    """d(x^y)/dx = y * x^(y - 1), and 0 where y is 0, even at x = 0."""
    power = _number(y)
    if power is not None:
        return y if power in (0, 1) else y * x if power == 2 else y * pow(x, power - 1)
    at_zero = ops.equal(y, 0)
    return ops.select(at_zero, 0, y * pow(x, ops.select(at_zero, 1, y - 1)))


def _number(x: Value) -> float | None:
    """The number that x is known to be."""
    return x.node.op.value if x.node is not None and isinstance(x.node.op, ops.Fill) else None


@dataclass(frozen=True)
class Maximum(Op):
    """z = the greater of x and y; nan if one is.

    Where they are equal each gets half of the gradient, as in torch and JAX; where one is nan, all.
    """

    pattern = "elementwise"
    zero_sign = False
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = two_numbers
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return computed(np.maximum, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        x, y = node.inputs
        return _parted(node, ops.less(x, y), ops.greater(x, y), dz)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls())


@dataclass(frozen=True)
class Minimum(Op):
    """z = the smaller of x and y; nan if one is.

    Where they are equal each gets half of the gradient, as in torch and JAX; where one is nan, all.
    """

    pattern = "elementwise"
    zero_sign = False
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = two_numbers
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return computed(np.minimum, x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        x, y = node.inputs
        return _parted(node, ops.greater(x, y), ops.less(x, y), dz)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls())


def _parted(node: Node, not_x: Value, not_y: Value, dz: Value) -> tuple[Value, Value]:
    """The gradient of the extreme one: 0 where it is the other one, half where they are equal."""
    x, y = node.inputs
    dz = ops.select(ops.equal(x, y), 0.5 * dz, dz)
    return (
        ops.sum_like(ops.select(not_x, 0, dz), x),
        ops.sum_like(ops.select(not_y, 0, dz), y),
    )


@dataclass(frozen=True)
class SquaredDifference(Op):
    """z = (x - y)^2."""

    pattern = "elementwise"
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = two_numbers
    infer_inputs = broadcast_back

    def evaluate(self, x: Array, y: Array) -> tuple[Array, ...]:
        return computed(lambda x, y: np.square(x - y), x, y)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        x, y = node.inputs
        slope = dz * (2 * (x - y))
        return (ops.sum_like(slope, x), -ops.sum_like(slope, y))

    @in_f32
    def decompose(self, x: Value, y: Value) -> tuple[Value, ...] | None:
        difference = x - y
        return (difference * difference,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls())


@dataclass(frozen=True)
class Atan2(Op):
    """z = the angle of the point (y, x), in (-pi, pi]; the first operand is the ordinate.

    The gradient at the origin, which has no angle, is 0.
    """

    pattern = "elementwise"
    inplace = ((0, 0), (1, 0))
    infer = infer_unranked = two_floats
    infer_inputs = broadcast_back

    def domain(self, y: Array, x: Array) -> tuple[Array, ...]:
        return (large(y), large(x))

    def evaluate(self, y: Array, x: Array) -> tuple[Array, ...]:
        return computed(np.arctan2, y, x)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        y, x = node.inputs
        square = x * x + y * y
        ray = dz / ops.select(ops.equal(square, 0), 1, square)
        return (ops.sum_like(ray * x, y), -ops.sum_like(ray * y, x))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        return binary_samples(cls(), (0.5, 2.0), (0.5, 2.0))


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
