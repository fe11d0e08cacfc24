"""The outputs that a program must give, and how far each may be off.

A result that equals what `evaluate` gives, to the bit, is right.  For another one the program is
evaluated again with noise (`noise.py`), which takes five times as long: how far these results are
apart is how far it may be off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from byparts_conformance.programs.effects import ExpectedText, expected_text
from byparts_conformance.programs.noise import Array, Noise, evaluated
from byparts_conformance.programs.program import Program
from byparts_graph_ir import FLOATS
from byparts_opset.dtypes import dtype_name, wide

SAMPLES = 5
ALLOWED = 8.0  # times the largest spread seen
# What results of no meaning are in one sample and the next: first in all of them the same.
_NAN, _INF = float("nan"), float("inf")
_OPEN = ((_NAN,), (_INF,), (-_INF,), (_NAN, _INF, -_INF))
# Signs of zeros that either sign is right for: one sample has the first, the next the other.
_SIGNS = ((1.0,), (-1.0,), (1.0, -1.0))


@dataclass(frozen=True)
class Near:
    """An output, and the error that is allowed.

    Attributes:
        value: what `evaluate` gives.
        near: how far a float may be from it; 0 where it must be equal.
        determined: where the value can be compared at all.
        signed: where it is a zero whose sign is the same on all backends.
    """

    value: Array
    near: Array
    determined: Array
    signed: Array | bool = False

    def difference(self, got: Array) -> str:
        """A sentence that says how `got`, of the value's type and shape, differs, or ""."""
        wrong = self.determined & ~self._right(got)
        if not np.any(wrong):
            return ""
        at = tuple(int(i) for i in np.argwhere(np.atleast_1d(wrong))[0])[: got.ndim]
        allowed = f", within {self.near[at]:.3g}" if self.near[at] else ""
        count = f"({int(np.sum(wrong))} of {self.value.size} elements)"
        return f"at {list(at)}: {got[at]} instead of {self.value[at]}{allowed} {count}"

    def _right(self, got: Array) -> Array:
        if dtype_name(got.dtype) == "bool":  # a byte of 255 is no bool, though it is true
            return np.asarray(got.view(np.uint8) == self.value.view(np.uint8))
        if dtype_name(got.dtype) not in FLOATS:
            return np.asarray(got == self.value)
        a, b = (wide(x).astype(np.float64) for x in (got, self.value))
        with np.errstate(all="ignore"):
            close = (np.abs(a - b) <= self.near) | (a == b) | (np.isnan(a) & np.isnan(b))
        return np.asarray(close & ~(self.signed & (np.signbit(a) != np.signbit(b))))


@dataclass(frozen=True, eq=False)
class Samples:
    """Evaluations of one program with noise, made when the first of its bounds is asked for.

    Attributes:
        program: what is evaluated.
        exact: its outputs without noise, and last what it prints.
        noises: one for each evaluation.
        allowed: times the largest spread seen.
    """

    program: Program
    exact: tuple[Array, ...]
    noises: tuple[Noise, ...]
    allowed: float

    @cached_property
    def bounds(self) -> tuple[Near | ExpectedText, ...]:
        """The bounds of each output, and last those of what is printed."""
        runs = [self.exact, *[evaluated(self.program, noise) for noise in self.noises]]
        *outputs, texts = zip(*runs, strict=True)
        bounds = [_near(some, self.allowed) for some in outputs]
        return (*bounds, expected_text(texts, self.allowed))

    @property
    def taken(self) -> bool:
        """Whether something had to be compared with bounds."""
        return "bounds" in vars(self)


@dataclass(frozen=True, eq=False)
class Expected:
    """An output that is expected, or the text that is printed.

    Attributes:
        value: what `evaluate` gives.
        samples: evaluations with noise.
        output: its number among the outputs.
    """

    value: Array
    samples: Samples
    output: int

    @property
    def near(self) -> Array:
        """How far each float may be from the value; 0 where it must be equal."""
        return self.samples.bounds[self.output].near

    @property
    def determined(self) -> Array:
        """Where the value can be compared at all."""
        return self.samples.bounds[self.output].determined

    @property
    def compared(self) -> int:
        """How many elements results were compared with: all, where they equal them to the bit."""
        return int(np.sum(self.determined)) if self.samples.taken else self.value.size

    def difference(self, got: Array) -> str:
        """A sentence that says how `got` differs, or ""."""
        want, prints = self.value, self.output == len(self.samples.exact) - 1
        if not prints and (got.shape != want.shape or got.dtype != want.dtype):
            return f"is {got.dtype}{list(got.shape)}, and must be {want.dtype}{list(want.shape)}"
        if got.tobytes() == want.tobytes():
            return ""
        return self.samples.bounds[self.output].difference(got)


def expected(
    program: Program, samples: int = SAMPLES, *, flushes: bool = False
) -> tuple[Expected, ...]:
    """The expected outputs of a program, with bounds from so many evaluations with noise.

    The last one of a program that prints is its text.  Where a backend `flushes`, numbers below the
    smallest normal one may be 0.
    """
    return _wanted(program, samples, Noise(_numbers(program), flushes=flushes), ALLOWED)


def surely(program: Program, samples: int, *, flushes: bool = False) -> tuple[Expected, ...]:
    """Bounds as those of `expected`, from samples as far apart as the bound allows.

    To confirm a failure: where a small difference decides (a relu near 0, a quotient of two numbers
    near 0, a mod), a few weak samples may all lie on one side.
    """
    noise = Noise(_numbers(program), ALLOWED, zeros=0.2, exact=0.5, flushes=flushes)
    return _wanted(program, samples, noise, 2.0)


def _numbers(program: Program) -> np.random.Generator:
    return np.random.default_rng(program.seed & 0xFFFFFFFF)


def _wanted(program: Program, count: int, noise: Noise, allowed: float) -> tuple[Expected, ...]:
    exact = evaluated(program, None)
    noises = [
        replace(noise, open_as=_OPEN[k % len(_OPEN)], signs=_SIGNS[min(k, 2)]) for k in range(count)
    ]
    samples = Samples(program, exact, tuple(noises), allowed)
    compared = exact if program.graph.has_effect else exact[:-1]
    return tuple([Expected(value, samples, i) for i, value in enumerate(compared)])


def _near(runs: Sequence[Array], allowed: float) -> Near:
    want, *others = runs
    if dtype_name(want.dtype) not in FLOATS:
        same = np.ones(want.shape, bool)
        for x in others:
            same = same & (x == want)
        return Near(want, np.zeros(want.shape), same)
    exact = wide(want).astype(np.float64)
    near, determined = np.zeros(want.shape), np.ones(want.shape, bool)
    signed = (exact == 0) & (len(others) > 1)  # which have had either sign
    with np.errstate(all="ignore"):
        for x in others:
            sample = wide(x).astype(np.float64)
            both = np.isfinite(sample) & np.isfinite(exact)
            near = np.where(both, np.maximum(near, np.abs(sample - exact)), near)
            same = (sample == exact) | (np.isnan(sample) & np.isnan(exact))
            determined = determined & (both | same)
            signed = signed & (sample == 0) & (np.signbit(sample) == np.signbit(exact))
    return Near(want, allowed * near, determined, signed)
