"""Steps of an optimizer, for all weights of a network at once.

A network has a hundred weights, and an update of each in elementwise ops is a thousand small steps;
as one op a backend does them in one call, or reads each element once from memory.  Inputs are
`count` weights, then `count` of each state, then `count` gradients; a weight, its state and its
gradient are of one type, and weights may differ.  The rate (and the number of the step) are 0-d f32
whatever the weights are.  New values may be written over the old ones.

No gradient passes an optimizer.  To differentiate through a step, use what it decomposes into:
`GradientDescent(1).decompose(w, dw, rate)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Op, Sample, ShapeError, TensorType, Types, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.broadcast import meet_types, same_dtype
from byparts_opset.domain import between
from byparts_opset.dtypes import Array, narrow
from byparts_opset.elementwise import floats
from byparts_opset.half import widened

Values = tuple[Value, ...]


@dataclass(frozen=True)
class GradientDescent(Op):
    """w' = w - rate * dw, for `count` weights.

    Inputs: w * count, dw * count, rate; outputs: w' * count.
    """

    count: int

    def __post_init__(self) -> None:
        _over_old_values(self, self.count, 1)

    def infer(self, *values: TensorType) -> Types:
        return _updated(self, self.count, ("w", "dw"), ("rate",), values)

    infer_unranked = infer

    def evaluate(self, *arrays: Array) -> tuple[Array, ...]:
        def step(w: Array, dw: Array, rate: Array) -> tuple[Array, ...]:
            return (w - rate * dw,)

        return _evaluated(self.count, 2, step, arrays)

    def decompose(self, *inputs: Value) -> Values | None:
        def step(w: Value, dw: Value, rate: Value) -> Values:
            return (w - rate * dw,)

        return _decomposed(self.count, 2, step, inputs)

    def flops(self, *types: TensorType) -> int:
        return 2 * _elements(self.count, types)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for types in _samples():
            yield _sample(cls(len(types)), types, 2, ((-1, 1), (-1, 1)), ((0.01, 0.5),))


@dataclass(frozen=True)
class Momentum(Op):
    """v' = momentum * v + dw; w' = w - rate * v', or by Nesterov w - rate * (dw + momentum * v').

    Inputs: w * count, v * count, dw * count, rate; outputs: w' * count, v' * count.
    Sutskever et al. 2013, https://proceedings.mlr.press/v28/sutskever13.html; in this form the rate
    does not enter the velocity, as in PyTorch.
    """

    count: int
    momentum: float = 0.9
    nesterov: bool = False

    def __post_init__(self) -> None:
        _over_old_values(self, self.count, 2)

    def infer(self, *values: TensorType) -> Types:
        return _updated(self, self.count, ("w", "v", "dw"), ("rate",), values)

    infer_unranked = infer

    def evaluate(self, *arrays: Array) -> tuple[Array, ...]:
        def step(w: Array, v: Array, dw: Array, rate: Array) -> tuple[Array, ...]:
            v = self.momentum * v + dw
            return (w - rate * (dw + self.momentum * v if self.nesterov else v), v)

        return _evaluated(self.count, 3, step, arrays)

    def decompose(self, *inputs: Value) -> Values | None:
        def step(w: Value, v: Value, dw: Value, rate: Value) -> Values:
            v = self.momentum * v + dw
            return (w - rate * (dw + self.momentum * v if self.nesterov else v), v)

        return _decomposed(self.count, 3, step, inputs)

    def flops(self, *types: TensorType) -> int:
        return (6 if self.nesterov else 4) * _elements(self.count, types)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        ranges = ((-1, 1),) * 3
        for types in _samples():
            yield _sample(cls(len(types)), types, 3, ranges, ((0.01, 0.5),))
            yield _sample(cls(len(types), 0.5, True), types, 3, ranges, ((0.01, 0.5),))


@dataclass(frozen=True)
class Adam(Op):
    """m, v: running means of dw and dw²; w' = w - rate * m̂ / (sqrt(v̂) + epsilon).

        m' = beta1 * m + (1 - beta1) * dw      m̂ = m' / (1 - beta1^step)
        v' = beta2 * v + (1 - beta2) * dw²     v̂ = v' / (1 - beta2^step)

    Inputs: w * count, m * count, v * count, dw * count, rate, step; outputs: w' * count,
    m' * count, v' * count.  The first step is number 1.
    Kingma and Ba 2015, https://arxiv.org/abs/1412.6980, algorithm 1.
    """

    count: int
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    def __post_init__(self) -> None:
        _over_old_values(self, self.count, 3)
        for name in ("beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise ShapeError(f"adam: {name} is {getattr(self, name)}, and must be in [0, 1)")

    def infer(self, *values: TensorType) -> Types:
        return _updated(self, self.count, ("w", "m", "v", "dw"), ("rate", "step"), values)

    infer_unranked = infer

    def domain(self, *arrays: Array) -> tuple[Array, ...]:
        n = 2 * self.count
        squares = [between(0, np.inf, v) for v in arrays[n : n + self.count]]
        step = np.nan_to_num(np.round(between(1, 1000, arrays[-1])), nan=1.0)
        return (*arrays[:n], *squares, *arrays[n + self.count : -1], step.astype(arrays[-1].dtype))

    def evaluate(self, *arrays: Array) -> tuple[Array, ...]:
        def step(
            w: Array, m: Array, v: Array, dw: Array, rate: Array, number: Array
        ) -> tuple[Array, ...]:
            m = self.beta1 * m + (1 - self.beta1) * dw
            v = self.beta2 * v + (1 - self.beta2) * dw * dw
            mean, square = m / (1 - self.beta1**number), v / (1 - self.beta2**number)
            return (w - rate * mean / (np.sqrt(square) + self.epsilon), m, v)

        return _evaluated(self.count, 4, step, arrays)

    def decompose(self, *inputs: Value) -> Values | None:
        def step(w: Value, m: Value, v: Value, dw: Value, rate: Value, number: Value) -> Values:
            m = self.beta1 * m + (1 - self.beta1) * dw
            v = self.beta2 * v + (1 - self.beta2) * (dw * dw)
            deviation = ops.sqrt(v / _missing(self.beta2, number))
            w = w - rate / _missing(self.beta1, number) * m / (deviation + self.epsilon)
            return (w, m, v)

        return _decomposed(self.count, 4, step, inputs)

    def flops(self, *types: TensorType) -> int:
        return 13 * _elements(self.count, types)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        ranges = ((-1, 1), (-1, 1), (0.1, 1), (-1, 1))
        for types in _samples():
            yield _sample(cls(len(types)), types, 4, ranges, ((0.01, 0.5), (1, 20)))
        yield _sample(cls(1, 0.0, 0.5, 1e-3), types, 4, ranges, ((0.01, 0.5), (1, 20)))


def gradient_descent(
    weights: Sequence[Value], gradients: Sequence[Value], rate: Value | float
) -> Values:
    """The new weights."""
    return GradientDescent(len(weights)).outputs_of(*weights, *gradients, _scalar(rate))


def momentum(
    weights: Sequence[Value],
    velocities: Sequence[Value],
    gradients: Sequence[Value],
    rate: Value | float,
    momentum: float = 0.9,
    nesterov: bool = False,
) -> tuple[Values, Values]:
    """The new weights, and the new velocities."""
    op = Momentum(len(weights), momentum, nesterov)
    found = op.outputs_of(*weights, *velocities, *gradients, _scalar(rate))
    return found[: op.count], found[op.count :]


def adam(
    weights: Sequence[Value],
    means: Sequence[Value],
    squares: Sequence[Value],
    gradients: Sequence[Value],
    rate: Value | float,
    step: Value | float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
) -> tuple[Values, Values, Values]:
    """The new weights, the new means of their gradients, and those of the gradients' squares."""
    op = Adam(len(weights), beta1, beta2, epsilon)
    n = op.count
    given = (*weights, *means, *squares, *gradients)
    found = op.outputs_of(*given, _scalar(rate), _scalar(step))
    return found[:n], found[n : 2 * n], found[2 * n :]


def _scalar(x: Value | float) -> Value:
    return x if isinstance(x, Value) else ops.fill(x, "f32")


def _over_old_values(op: Op, count: int, groups: int) -> None:
    """Each new value may be written over its old one; outputs stand where those stand."""
    if count < 1:
        raise ShapeError(f"{op.name}: count is {count}; it updates one weight at least")
    object.__setattr__(op, "inplace", tuple((i, i) for i in range(groups * count)))


def _updated(
    op: Op, count: int, groups: Sequence[str], scalars: Sequence[str], types: Types
) -> Types:
    """The types of the new values: of each weight, what all of its group know."""
    if len(types) != len(groups) * count + len(scalars):
        names = [f"{count} {name}" for name in groups]
        raise ShapeError(
            f"{op.name}: takes {', '.join((*names, *scalars))}, got {len(types)} inputs"
        )
    for name, t in zip(scalars, types[len(groups) * count :], strict=True):
        if t.dtype != "f32" or t.rank not in (0, None):
            raise ShapeError(f"{op.name}: {name} is a 0-d f32, got {t}; cast({name}, 'f32')")
    found = [_of_one(op, types[i : len(groups) * count : count]) for i in range(count)]
    return tuple(found) * (len(groups) - 1)


def _of_one(op: Op, types: Types) -> TensorType:
    """The one type of a weight, its state and its gradient."""
    (met,) = floats(op, types[0])
    same_dtype(op.name, *types)
    for t in types[1:]:
        met = meet_types(op.name, met, t)
    return met


def _evaluated(
    count: int, groups: int, step: Callable[..., tuple[Array, ...]], arrays: Sequence[Array]
) -> tuple[Array, ...]:
    """In f64, rounded once."""
    wide = [a.astype(np.float64) for a in arrays]
    found = []
    with np.errstate(all="ignore"):
        for i in range(count):
            results = step(*wide[i : groups * count : count], *wide[groups * count :])
            found.append([narrow(x, arrays[i].dtype) for x in results])
    return tuple(x for group in zip(*found, strict=True) for x in group)


def _decomposed(
    count: int, groups: int, step: Callable[..., Values], inputs: Sequence[Value]
) -> Values:
    """Weight by weight, half types in f32."""
    found = []
    for i in range(count):
        wide = [widened(v) for v in inputs[i : groups * count : count]]
        scalars = [ops.cast(v, wide[0].type.dtype) for v in inputs[groups * count :]]
        found.append([ops.cast(x, inputs[i].type.dtype) for x in step(*wide, *scalars)])
    return tuple(x for group in zip(*found, strict=True) for x in group)


def _missing(beta: float, number: Value) -> Value | float:
    """1 - beta^number: the weight of what was before the first step; exact also for beta near 1."""
    return -ops.expm1(number * math.log(beta)) if beta else 1.0


def _elements(count: int, types: Types) -> int:
    return sum(t.size for t in types[:count])


def _samples() -> Iterator[Types]:
    """Types of weights; of f64 and half types too, since the rate stays f32."""
    yield (TensorType("f32", (3, 4)), TensorType("f32", (4,)))
    yield (TensorType("f32", ()),)
    yield (TensorType("f32", (0, 2)), TensorType("f64", (2,)))
    for dtype in ("f64", "f16", "bf16"):
        yield (TensorType(dtype, (3, 4)),)


def _sample(
    op: Op,
    types: Types,
    groups: int,
    ranges: Sequence[tuple[float, float]],
    scalars: Sequence[tuple[float, float]],
) -> Sample:
    limits = [r for r in ranges for _ in types]
    return Sample(
        op, (*types * groups, *[TensorType("f32", ())] * len(scalars)), (*limits, *scalars)
    )
