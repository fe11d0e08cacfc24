"""Schedules: the rate of an optimizer as a function of the number of steps before.

    optimizer = AdamW(schedules.warmup(100, schedules.cosine(1e-3, steps=1000)))

Each is a function of a number or of a value i64[], and gives f32[]; the optimizer computes it in
its step, so a compiled step has it, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Union

import byparts_opset as ops
from byparts_eager import asarray
from byparts_graph_ir import Value

Step = Union[int, float, Value]
Schedule = Callable[[Step], Value]


def _number(step: Step) -> Value:
    return ops.cast(step if isinstance(step, Value) else asarray(float(step)), "f32")


@dataclass(frozen=True)
class constant:  # noqa: N801  # used as a function, and unlike a closure it can be pickled
    """The same rate always."""

    rate: float

    def __call__(self, step: Step) -> Value:
        return ops.fill_like(_number(step), self.rate)


@dataclass(frozen=True)
class step_decay:  # noqa: N801
    """rate * factor^k after k times `every` steps."""

    rate: float
    every: int
    factor: float = 0.1

    def __call__(self, step: Step) -> Value:
        k = ops.floor((_number(step) + 0.5) / self.every)  # 0.5: a quotient a little below k is k
        return ops.exp(k * math.log(self.factor)) * self.rate


@dataclass(frozen=True)
class exponential:  # noqa: N801
    """rate * factor^step."""

    rate: float
    factor: float

    def __call__(self, step: Step) -> Value:
        return ops.exp(_number(step) * math.log(self.factor)) * self.rate


@dataclass(frozen=True)
class polynomial:  # noqa: N801
    """From `rate` to `end` in `steps` steps, as (1 - step / steps)^power; then `end`."""

    rate: float
    steps: int
    power: float = 1.0
    end: float = 0.0

    def __call__(self, step: Step) -> Value:
        left = 1 - ops.minimum(_number(step) / self.steps, 1)
        return left**self.power * (self.rate - self.end) + self.end


@dataclass(frozen=True)
class cosine:  # noqa: N801
    """From `rate` to `end` in `steps` steps, along half a cosine; then `end`."""

    rate: float
    steps: int
    end: float = 0.0

    def __call__(self, step: Step) -> Value:
        return _along(self.rate, self.end, _number(step) / self.steps)


@dataclass(frozen=True)
class warmup:  # noqa: N801
    """Up to the rate of `then` in `steps` steps, the first of which is not 0; then `then`."""

    steps: int
    then: Schedule

    def __call__(self, step: Step) -> Value:
        x = _number(step)
        later = self.then(ops.maximum(x - self.steps, 0))
        return later * ops.minimum((x + 1) / self.steps, 1)


@dataclass(frozen=True)
class one_cycle:  # noqa: N801
    """From rate / 25 up to `rate` in the part `rising` of all steps, then down to rate / 250,000.

    Smith and Topin 2018, both ways along half a cosine, as PyTorch does it.
    """

    rate: float
    steps: int
    rising: float = 0.3
    divisor: float = 25.0
    end_divisor: float = 1e4

    def __call__(self, step: Step) -> Value:
        x, top = _number(step), self.rising * self.steps - 1
        low = self.rate / self.divisor
        up = _along(low, self.rate, x / max(top, 1e-9))
        down = _along(self.rate, low / self.end_divisor, (x - top) / (self.steps - 1 - top))
        return ops.where(ops.less(x, top), up, down)


def _along(start: float, end: float, part: Value) -> Value:
    """Along half a cosine; `part` is 0 at the start and 1 at the end, where it stays."""
    held = ops.minimum(ops.maximum(part, 0), 1)
    return (ops.cos(held * math.pi) + 1) * ((start - end) / 2) + end
