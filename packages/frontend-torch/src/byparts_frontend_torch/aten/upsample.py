"""Images made larger or smaller, along both axes: by the nearest pixel, or between two.

Where an element of y comes from is known when the program is imported, so each axis is a gather
with constant indices; and where nearest pixels are whole repetitions, it is a broadcast.
Coordinates are computed in f32, as torch does.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_frontend_torch.aten.axes import rank_of, size_at
from byparts_frontend_torch.rules import rules
from byparts_graph_ir import Value

Scales = Optional[Sequence[float]]
Sizes = Optional[Sequence[int]]


@rules.on(*(f"aten.upsample_nearest{n}d.vec" for n in (1, 2)))
def nearest(x: Value, output_size: Sizes, scale_factors: Scales) -> Value:
    for axis, to, scale in _targets(x, output_size, scale_factors):
        size = size_at(x, axis)
        at = np.minimum(_floor(np.arange(to) * _step(size, to, scale)), size - 1)
        x = _repeated(x, axis, at)
    return x


@rules.on(*(f"aten.upsample_nearest{n}d.default" for n in (1, 2)))
def nearest_to(x: Value, output_size: Sequence[int], *scales: float | None) -> Value:
    factors = None if None in scales or not scales else [float(s or 0) for s in scales]
    return nearest(x, output_size, factors)  # type: ignore[no-any-return]


@rules.on("aten.upsample_bilinear2d.vec", "aten.upsample_linear1d.vec")
def linear(x: Value, output_size: Sizes, align_corners: bool, scale_factors: Scales) -> Value:
    for axis, to, scale in _targets(x, output_size, scale_factors):
        size = size_at(x, axis)
        at = _between(size, to, scale, align_corners)
        lower = np.minimum(_floor(at), size - 1)
        upper = np.minimum(lower + 1, size - 1)
        part = ops.constant(_along(at - lower, axis, rank_of(x)), x.type.dtype)
        first, second = _picked(x, axis, lower), _picked(x, axis, upper)
        x = first * (1.0 - part) + second * part
    return x


@rules.on("aten.upsample_bilinear2d.default", "aten.upsample_linear1d.default")
def linear_to(
    x: Value, output_size: Sequence[int], align_corners: bool, *scales: float | None
) -> Value:
    factors = None if None in scales or not scales else [float(s or 0) for s in scales]
    return linear(x, output_size, align_corners, factors)  # type: ignore[no-any-return]


def _targets(x: Value, sizes: Sizes, scales: Scales) -> list[tuple[int, int, float | None]]:
    """(axis, size of y along it, scale if it was given), for the axes behind the channels."""
    axes = range(2, rank_of(x))
    if sizes is None:
        assert scales is not None, "torch asks for one of the two"
        sizes = [floor(size_at(x, a) * s) for a, s in zip(axes, scales, strict=True)]
    factors = [None] * len(axes) if scales is None else scales
    return list(zip(axes, sizes, factors, strict=True))


def _step(size: int, to: int, scale: float | None) -> np.float32:
    """How far one element of y goes in x."""
    step: np.float32 = np.float32(size) / np.float32(to)
    return np.float32(1 / scale) if scale else step


def _between(size: int, to: int, scale: float | None, corners: bool) -> NDArray[Any]:
    """Where in x each element of y is."""
    i: NDArray[Any] = np.arange(to, dtype=np.float32)
    if corners:
        return np.asarray(i * np.float32((size - 1) / (to - 1) if to > 1 else 0))
    half = np.float32(0.5)
    return np.asarray(np.maximum((i + half) * _step(size, to, scale) - half, 0))


def _repeated(x: Value, axis: int, at: NDArray[Any]) -> Value:
    """`_picked`, as a broadcast if each element is taken equally often, in order."""
    size = size_at(x, axis)
    times, rest = divmod(len(at), size)
    if rest or not np.array_equal(at, np.repeat(np.arange(size), times)):
        return _picked(x, axis, at)
    if times == 1:
        return x
    new = (-1,) * (axis + 1) + (times,) + (-1,) * (rank_of(x) - axis - 1)
    y = ops.broadcast_to(ops.expand_dims(x, axis + 1), new)
    shape = [d for d in x.type.shape or ()]
    shape[axis] = size * times
    return ops.reshape(y, [-1 if d is None else d for d in shape])


def _picked(x: Value, axis: int, at: NDArray[Any]) -> Value:
    return ops.gather(x, ops.constant(at.astype(np.int64)), axis)


def _along(part: NDArray[Any], axis: int, rank: int) -> NDArray[Any]:
    return part.reshape((-1,) + (1,) * (rank - axis - 1))


def _floor(x: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(np.floor(x), np.int64)
