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
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import FLOATS, Op, Sample, ShapeError, TensorType, Types, Value
from byparts_opset.broadcast import meet_types, same_dtype
from byparts_opset.domain import between
from byparts_opset.dtypes import Array, narrow, require
from byparts_opset.half import widened

Values = tuple[Value, ...]
Range = tuple[float, float]


class Update(Op):
    """New values of `count` weights and of their state, each of which may be written over the old.

    Inputs: `count` values of each group, then the scalars; outputs: of each group but the last,
    which is the gradients.  A member says in `step` how one weight is updated, by arithmetic that
    arrays and values have in common.

    Attributes:
        groups: of weights, state and gradients the name, and the range in samples.
        scalars: likewise of the 0-d f32 inputs.
        operations: floating point operations for each element.
        examples: the fields behind `count` of the ops in the samples.
    """

    count: int

    groups: ClassVar[tuple[tuple[str, Range], ...]]
    scalars: ClassVar[tuple[tuple[str, Range], ...]] = (("rate", (0.01, 0.5)),)
    operations: ClassVar[int]
    examples: ClassVar[tuple[tuple[Any, ...], ...]] = ((),)

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ShapeError(f"{self.name}: count is {self.count}; it updates one weight at least")
        updated = (len(self.groups) - 1) * self.count
        object.__setattr__(self, "inplace", tuple((i, i) for i in range(updated)))

    def step(self, *inputs: Any) -> tuple[Any, ...]:
        """The new values of one weight: of one value of each group, and the scalars."""
        raise NotImplementedError(f"{type(self).__name__}: write `step`")

    def infer(self, *types: TensorType) -> Types:
        size = len(self.groups) * self.count
        if len(types) != size + len(self.scalars):
            names = [f"{self.count} {name}" for name, _ in self.groups]
            names += [name for name, _ in self.scalars]
            raise ShapeError(f"{self.name}: takes {', '.join(names)}, got {len(types)} inputs")
        for (name, _), t in zip(self.scalars, types[size:], strict=True):
            if t.dtype != "f32" or t.rank not in (0, None):
                advice = f"cast({name}, 'f32')"
                raise ShapeError(f"{self.name}: {name} is a 0-d f32, got {t}; {advice}")
        each = [self._met(types[i : size : self.count]) for i in range(self.count)]
        return tuple(each) * (len(self.groups) - 1)

    infer_unranked = infer

    def evaluate(self, *arrays: Array) -> tuple[Array, ...]:
        """Compute `step` in f64, and round once."""
        wide, size = [a.astype(np.float64) for a in arrays], len(self.groups) * self.count
        updates = []
        with np.errstate(all="ignore"):
            for i in range(self.count):
                new = self.step(*wide[i : size : self.count], *wide[size:])
                updates.append([narrow(x, arrays[i].dtype) for x in new])
        return tuple(x for group in zip(*updates, strict=True) for x in group)

    def decompose(self, *inputs: Value) -> Values | None:
        """Build `step` for each weight; half types are computed in f32."""
        size = len(self.groups) * self.count
        updates = []
        for i in range(self.count):
            wide = [widened(v) for v in inputs[i : size : self.count]]
            scalars = [ops.cast(v, wide[0].type.dtype) for v in inputs[size:]]
            new = self.step(*wide, *scalars)
            updates.append([ops.cast(x, inputs[i].type.dtype) for x in new])
        return tuple(x for group in zip(*updates, strict=True) for x in group)

    def flops(self, *types: TensorType) -> int:
        return self.operations * sum(t.size for t in types[: self.count])

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        """Weights of f32, f64 and half types; the rate is f32 for all."""
        scalars = [TensorType("f32", ())] * len(cls.scalars)
        for weights in (
            (TensorType("f32", (3, 4)), TensorType("f32", (4,))),
            (TensorType("f32", ()),),
            (TensorType("f32", (0, 2)), TensorType("f64", (2,))),
            *((TensorType(dtype, (3, 4)),) for dtype in ("f64", "f16", "bf16")),
        ):
            ranges = [r for _, r in cls.groups for _ in weights] + [r for _, r in cls.scalars]
            for fields in cls.examples:
                types = (*weights * len(cls.groups), *scalars)
                yield Sample(cls(len(weights), *fields), types, tuple(ranges))

    def _met(self, types: Types) -> TensorType:
        """The one type of a weight, its state and its gradient."""
        met = require(self.name, types[0], FLOATS)
        same_dtype(self.name, *types)
        for t in types[1:]:
            met = meet_types(self.name, met, t)
        return met


class GradientDescent(Update):
    """w' = w - rate * dw, for `count` weights.

    Inputs: w * count, dw * count, rate; outputs: w' * count.
    """

    groups = (("w", (-1, 1)), ("dw", (-1, 1)))
    operations = 2

    def step(self, w: Any, dw: Any, rate: Any) -> tuple[Any, ...]:
        return (w - rate * dw,)


class Momentum(Update):
    """v' = momentum * v + dw; w' = w - rate * v', or by Nesterov w - rate * (dw + momentum * v').

    Inputs: w * count, v * count, dw * count, rate; outputs: w' * count, v' * count.
    Sutskever et al. 2013, https://proceedings.mlr.press/v28/sutskever13.html; in this form the rate
    does not enter the velocity, as in PyTorch.
    """

    momentum: float = 0.9
    nesterov: bool = False

    groups = (("w", (-1, 1)), ("v", (-1, 1)), ("dw", (-1, 1)))
    operations = 4
    examples = ((), (0.5, True))

    def step(self, w: Any, v: Any, dw: Any, rate: Any) -> tuple[Any, ...]:
        v = self.momentum * v + dw
        return (w - rate * (dw + self.momentum * v if self.nesterov else v), v)

    def flops(self, *types: TensorType) -> int:
        return super().flops(*types) * (6 if self.nesterov else 4) // 4


class Adam(Update):
    """m, v: running means of dw and dw²; w' = w - rate * m̂ / (sqrt(v̂) + epsilon).

        m' = beta1 * m + (1 - beta1) * dw      m̂ = m' / (1 - beta1^step)
        v' = beta2 * v + (1 - beta2) * dw²     v̂ = v' / (1 - beta2^step)

    Inputs: w * count, m * count, v * count, dw * count, rate, step; outputs: w' * count,
    m' * count, v' * count.  The first step is number 1.
    Kingma and Ba 2015, https://arxiv.org/abs/1412.6980, algorithm 1.
    """

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    groups = (("w", (-1, 1)), ("m", (-1, 1)), ("v", (0.1, 1)), ("dw", (-1, 1)))
    scalars = (("rate", (0.01, 0.5)), ("step", (1, 20)))
    operations = 13
    examples = ((), (0.0, 0.5, 1e-3))

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise ShapeError(f"adam: {name} is {getattr(self, name)}, and must be in [0, 1)")

    def domain(self, *arrays: Array) -> tuple[Array, ...]:
        n = 2 * self.count
        squares = [between(0, np.inf, v) for v in arrays[n : n + self.count]]
        step = np.nan_to_num(np.round(between(1, 1000, arrays[-1])), nan=1.0)
        return (*arrays[:n], *squares, *arrays[n + self.count : -1], step.astype(arrays[-1].dtype))

    def step(self, w: Any, m: Any, v: Any, dw: Any, rate: Any, number: Any) -> tuple[Any, ...]:
        m = self.beta1 * m + (1 - self.beta1) * dw
        v = self.beta2 * v + (1 - self.beta2) * (dw * dw)
        deviation = _sqrt(v / _correction(self.beta2, number))
        w = w - rate / _correction(self.beta1, number) * m / (deviation + self.epsilon)
        return (w, m, v)


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
    new = op.outputs_of(*weights, *velocities, *gradients, _scalar(rate))
    return new[: op.count], new[op.count :]


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
    new = op.outputs_of(*given, _scalar(rate), _scalar(step))
    return new[:n], new[n : 2 * n], new[2 * n :]


def _scalar(x: Value | float) -> Value:
    return x if isinstance(x, Value) else ops.fill(x, "f32")


def _sqrt(x: Any) -> Any:
    return ops.sqrt(x) if isinstance(x, Value) else np.sqrt(x)


def _correction(beta: float, number: Any) -> Any:
    """1 - beta^number, also exact for beta near 1: corrects a mean that started at 0."""
    if not beta:
        return 1.0
    exponent = number * math.log(beta)
    return -(ops.expm1(exponent) if isinstance(number, Value) else np.expm1(exponent))
