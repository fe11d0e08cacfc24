"""First values of weights: functions of a shape and a generator of random numbers.

A matrix is stored [in, out]; a filter [out, in, *window], as PyTorch stores it.  `fans` says how
many numbers each output sums (in), and how many each input goes to (out).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from byparts_graph_ir import GraphError

Draw = Any  # an array of NumPy, f64; the cell gives it its dtype
Initializer = Callable[[tuple[int, ...], np.random.Generator], Draw]


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """(in, out) of a matrix [in, out] or of a filter [out, in, *window].

    Raises:
        GraphError: fewer than two axes.
    """
    if len(shape) < 2:
        raise GraphError(f"initializer: {shape} has {len(shape)} axes; in and out need two")
    window = math.prod(shape[2:])
    first, second = shape[0] * window, shape[1] * window
    return (first, second) if len(shape) == 2 else (second, first)


def zeros(shape: tuple[int, ...], random: np.random.Generator) -> Draw:
    """0 everywhere."""
    return np.zeros(shape)


def ones(shape: tuple[int, ...], random: np.random.Generator) -> Draw:
    """1 everywhere."""
    return np.ones(shape)


@dataclass(frozen=True)
class constant:  # noqa: N801  # used as a function, and unlike a closure it can be pickled
    """The same number everywhere."""

    value: float

    def __call__(self, shape: tuple[int, ...], random: np.random.Generator) -> Draw:
        return np.full(shape, self.value)


@dataclass(frozen=True)
class normal:  # noqa: N801
    """Normal numbers of this standard deviation and mean."""

    deviation: float = 1.0
    mean: float = 0.0

    def __call__(self, shape: tuple[int, ...], random: np.random.Generator) -> Draw:
        return random.normal(self.mean, self.deviation, shape)


@dataclass(frozen=True)
class truncated_normal:  # noqa: N801
    """Normal numbers, drawn again where more than two deviations from the mean."""

    deviation: float = 1.0
    mean: float = 0.0

    def __call__(self, shape: tuple[int, ...], random: np.random.Generator) -> Draw:
        x = random.standard_normal(shape)
        while (outside := np.abs(x) > 2).any():
            x = np.where(outside, random.standard_normal(shape), x)
        return x * self.deviation + self.mean


@dataclass(frozen=True)
class uniform:  # noqa: N801
    """Numbers in [low, high), each as likely."""

    low: float = -0.05
    high: float = 0.05

    def __call__(self, shape: tuple[int, ...], random: np.random.Generator) -> Draw:
        return random.uniform(self.low, self.high, shape)


@dataclass(frozen=True)
class scaled:  # noqa: N801
    """Numbers whose variance is `gain`² over a fan: in, out, or the mean of both ("average").

    Args:
        fan: which one.
        gain: a factor; sqrt 2 makes up for what relu cuts off.
        normal: normal numbers; else uniform ones.
    """

    fan: str = "in"
    gain: float = 1.0
    normal: bool = True

    def __call__(self, shape: tuple[int, ...], random: np.random.Generator) -> Draw:
        ins, outs = fans(shape)
        count = {"in": ins, "out": outs, "average": (ins + outs) / 2}[self.fan]
        deviation = self.gain / math.sqrt(max(count, 1))
        if self.normal:
            return random.normal(0, deviation, shape)
        return random.uniform(-math.sqrt(3) * deviation, math.sqrt(3) * deviation, shape)


def glorot(gain: float = 1.0, *, normal: bool = False) -> Initializer:
    """Variance 1 / mean fan (Glorot and Bengio 2010): keeps signals and gradients; for tanh."""
    return scaled("average", gain, normal)


def he(gain: float = math.sqrt(2), *, fan: str = "in", normal: bool = True) -> Initializer:
    """Variance 2 / fan (He et al. 2015): for relu."""
    return scaled(fan, gain, normal)


def lecun() -> Initializer:
    """Uniform in ±1 / sqrt(fan in): what PyTorch's linear layers and convolutions begin with."""
    return scaled("in", 1 / math.sqrt(3), False)


xavier, kaiming = glorot, he


@dataclass(frozen=True)
class orthogonal:  # noqa: N801
    """Rows, or columns where there are fewer, of length `gain` that are at right angles."""

    gain: float = 1.0

    def __call__(self, shape: tuple[int, ...], random: np.random.Generator) -> Draw:
        if len(shape) < 2:
            raise GraphError(f"orthogonal: {shape} has {len(shape)} axes, and it takes two or more")
        rows, columns = shape[0], math.prod(shape[1:])
        q, r = np.linalg.qr(random.standard_normal((max(rows, columns), min(rows, columns))))
        q = q * np.sign(np.diagonal(r))  # else the signs are those of LAPACK, not at random
        return self.gain * (q if rows >= columns else q.T).reshape(shape)
