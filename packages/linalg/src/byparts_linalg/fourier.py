"""Discrete Fourier transforms along one axis, of complex numbers as pairs.

A complex array of shape [...] is a real one of shape [..., 2]: the real and the imaginary part
stand side by side, as in memory of NumPy's complex numbers, so a kernel sees one as the other
without a copy.  Axes are those of the complex array.  With y = F x, the gradient of x is the
transform with the opposite sign in its exponent, scaled as F is.  O(n log n).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log2
from typing import Any, Literal

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import (
    ArgumentError,
    Dimension,
    Node,
    Op,
    Sample,
    ShapeError,
    TensorType,
    Types,
    Value,
    dimension,
)
from byparts_linalg.matrices import Arrays, floats, rank_of
from byparts_opset.broadcast import meet_dims, normal_axis
from byparts_opset.domain import moderate
from byparts_opset.dtypes import Array, narrow

ADJOINT: dict[Norm, Norm] = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
Norm = Literal["backward", "forward", "ortho"]
CASES = (((4,), 0), ((3, 5), -1), ((2, 4, 3), 1), ((1,), 0), ((0, 3), 1))


class Transform(Op):
    """Family of Fourier transforms.

    Attributes:
        axis: along which, of the axes of complex or real numbers.
        norm: "backward": the inverse is divided by n; "forward": the other; "ortho": each by the
            root of n.
    """

    axis: int = -1
    norm: Norm = "backward"

    def __post_init__(self) -> None:
        if self.norm not in ADJOINT:
            raise ArgumentError(
                f"{self.name}: norm is {self.norm!r}; it is 'backward', 'ortho' or 'forward'"
            )

    def compute(self, x: Array) -> Arrays:
        """Compute in the dtype of x."""
        raise NotImplementedError(f"{self.name}: write `compute`")

    def evaluate(self, x: Array) -> Arrays:
        with np.errstate(all="ignore"):
            return (narrow(self.compute(x.astype(np.float64))[0], x.dtype),)

    def domain(self, x: Array) -> Arrays:
        return (moderate(x),)

    def infer_unranked(self, x: TensorType) -> Types:
        return (TensorType(floats(self.name, x).dtype, None),)

    def at(self, rank: int) -> int:
        """The axis counted from the front, of an array of so many complex or real axes."""
        return normal_axis(self.name, self.axis, rank)

    def changed(self, shape: tuple[Dimension, ...], size: Dimension) -> tuple[Dimension, ...]:
        """The shape, with `size` along the axis."""
        at = self.at(len(shape))
        return (*shape[:at], size, *shape[at + 1 :])

    def flops(self, x: TensorType) -> int:
        return int(2.5 * x.size * log2(max(2, max(x.dims, default=2))))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for norm in ADJOINT:
            for shape, axis in CASES if norm == "backward" else CASES[1:2]:
                yield cls.sample(shape, axis, norm)

    @classmethod
    def sample(cls, shape: tuple[int, ...], axis: int, norm: Norm) -> Sample:
        """The op on numbers of this shape, along an axis."""
        raise NotImplementedError(f"{cls.__name__}: write `sample`")


class Fft(Transform):
    """y[k] = the sum of x[j] exp(-2 pi i j k / n) along `axis`, of pairs [..., 2].

    `inverse`: + instead of -.
    """

    inverse: bool = False

    def infer(self, x: TensorType) -> Types:
        _points(self.name, x, self.at(len(pairs(self.name, x))))
        return (x,)

    def compute(self, x: Array) -> Arrays:
        f = np.fft.ifft if self.inverse else np.fft.fft
        return (as_pairs(f(as_complex(x), None, self.axis, self.norm), x),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (Fft(self.axis, ADJOINT[self.norm], not self.inverse)(dy),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for sample in Transform.samples.__func__(cls):  # type: ignore[attr-defined]  # classmethod
            op: Any = sample.op
            for inverse in (False, True):
                yield Sample(cls(op.axis, op.norm, inverse), sample.types)

    @classmethod
    def sample(cls, shape: tuple[int, ...], axis: int, norm: Norm) -> Sample:
        return Sample(cls(axis, norm), (TensorType("f32", (*shape, 2)),))


class Rfft(Transform):
    """y = the first n // 2 + 1 numbers of the transform of real x, as pairs: [..., 2]."""

    def infer(self, x: TensorType) -> Types:
        shape = floats(self.name, x).shape
        assert shape is not None, "infer sees known ranks"
        at = self.at(len(shape))
        n = _points(self.name, x, at)
        return (TensorType(x.dtype, (*self.changed(shape, dimension("n//2+1", {"n": n})), 2)),)

    def compute(self, x: Array) -> Arrays:
        return (as_pairs(np.fft.rfft(x, None, self.axis, self.norm), x),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        """Each number but the first (and the last, if n is even) is there for two."""
        (x,) = node.inputs
        at, n = self.at(rank_of(self.name, x)), _number(self, x.type)
        back = Irfft(at, ADJOINT[self.norm], n)
        return (back(dy * _weights(dy, at, n, 0.5)),)

    @classmethod
    def sample(cls, shape: tuple[int, ...], axis: int, norm: Norm) -> Sample:
        return Sample(cls(axis, norm), (TensorType("f32", shape),))


class Irfft(Transform):
    """y, real, of length `size` along `axis`, whose transform begins with the pairs x [..., 2].

    x has size // 2 + 1 of them; the imaginary part of the first counts as 0, and that of the last
    if `size` is even.
    """

    size: int = 1

    def infer(self, x: TensorType) -> Types:
        shape = pairs(self.name, x)
        if self.size < 1:
            raise ShapeError(f"irfft: size is {self.size}; it gives at least one number")
        half, n = self.size // 2 + 1, _points(self.name, x, self.at(len(shape)))
        meet_dims(self.name, n, half, f"size {self.size} is made of {half} pairs, and x is {x}")
        return (TensorType(x.dtype, self.changed(shape, self.size)),)

    def compute(self, x: Array) -> Arrays:
        return (np.fft.irfft(as_complex(x), self.size, self.axis, self.norm),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        dx = Rfft(self.axis, ADJOINT[self.norm])(dy)
        return (dx * _weights(dx, self.at(rank_of(self.name, dy)), self.size, 2.0),)

    @classmethod
    def sample(cls, shape: tuple[int, ...], axis: int, norm: Norm) -> Sample:
        size = shape[axis]
        half = list(shape)
        half[axis] = size // 2 + 1
        return Sample(cls(axis, norm, size), (TensorType("f32", (*half, 2)),))


def pairs(name: str, x: TensorType) -> tuple[Dimension, ...]:
    """The shape of the complex array that pairs [..., 2] stand for.

    Raises:
        ShapeError: the last axis has not size 2.
    """
    shape = floats(name, x).shape
    assert shape is not None, "infer sees known ranks"
    if not shape or (isinstance(shape[-1], int) and shape[-1] != 2):
        raise ShapeError(
            f"{name}: takes complex numbers as pairs [..., 2], got {x}; fft.pair(x) makes them of "
            + ("x, and real=True says that x is no pairs" if "shift" in name else "x")
        )
    return shape[:-1]


def as_complex(x: Array) -> Array:
    """Pairs [..., 2] as complex numbers [...], without a copy where they are contiguous."""
    whole = np.ascontiguousarray(x)
    if whole.size == 0:
        return np.empty(x.shape[:-1], np.result_type(x.dtype, np.complex64))
    y: Array = whole.view(np.result_type(x.dtype, np.complex64))[..., 0]
    return y


def as_pairs(z: Array, like: Array) -> Array:
    """Complex numbers [...] as pairs [..., 2] of the dtype of `like`."""
    parts = np.ascontiguousarray(z).view(z.real.dtype)
    return parts.reshape(*z.shape, 2).astype(like.dtype, copy=False)


def _points(name: str, x: TensorType, at: int) -> Dimension:
    n = (x.shape or ())[at]
    if n == 0:
        raise ShapeError(f"{name}: a transform takes at least one point, got {x} along axis {at}")
    return n


def _number(op: Transform, x: TensorType) -> int:
    n = (x.shape or ())[op.at(len(x.shape or ()))]
    if not isinstance(n, int):
        raise ShapeError(f"{op.name}: its gradient depends on the size along axis {op.axis} of {x}")
    return n


def _weights(x: Value, at: int, n: int, weight: float) -> Value:
    """`weight` along axis `at` of the pairs x, but 1 for the numbers that are there once."""
    weights = np.full(n // 2 + 1, weight)
    weights[0] = 1
    if n % 2 == 0:
        weights[-1] = 1
    shape = (-1, *[1] * (rank_of("fft", x) - at - 1))
    return ops.constant(weights.reshape(shape), x.type.dtype)
