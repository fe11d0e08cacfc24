"""Images made larger or smaller, along both axes: by the nearest pixel, between two or four.

Where an element of y comes from is known when the program is imported, so each axis is a gather
with constant indices; and where nearest pixels are whole repetitions, it is a broadcast.
Coordinates are computed as torch does: in f64 for f64, and otherwise in f32, every step of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_frontend_torch.aten.axes import rank_of, size_at
from byparts_frontend_torch.rules import rules
from byparts_graph_ir import FLOATS, Value

Scales = Optional[Sequence[float]]
Sizes = Optional[Sequence[int]]
Target = tuple[int, int, Optional[float]]


@rules.on(*(f"aten.upsample_nearest{n}d.vec" for n in (1, 2)))
def nearest(x: Value, output_size: Sizes, scale_factors: Scales) -> Value:
    for axis, to, scale in _targets(x, output_size, scale_factors):
        size = size_at(x, axis)
        places = _counted(x, to) * _step(x, size, to, scale)
        at = np.minimum(_floor(places), size - 1)
        x = _repeated(x, axis, at)
    return x


@rules.on(*(f"aten.upsample_nearest{n}d.default" for n in (1, 2)))
def nearest_to(x: Value, output_size: Sequence[int], *scales: float | None) -> Value:
    return nearest(x, output_size, _factors(scales))  # type: ignore[no-any-return]


@rules.on("aten.upsample_bilinear2d.vec", "aten.upsample_linear1d.vec")
def linear(x: Value, output_size: Sizes, align_corners: bool, scale_factors: Scales) -> Value:
    def line(x: Value, axis: int, to: int, scale: float | None) -> Value:
        size = size_at(x, axis)
        at = np.maximum(_between(x, size, to, scale, align_corners), 0)
        lower = np.minimum(_floor(at), size - 1)
        upper = np.minimum(lower + 1, size - 1)
        part = ops.constant(_along(at - lower, axis, rank_of(x)), x.type.dtype)
        return _picked(x, axis, lower) * (1.0 - part) + _picked(x, axis, upper) * part

    return _each_axis(line, x, _targets(x, output_size, scale_factors))


@rules.on("aten.upsample_bilinear2d.default", "aten.upsample_linear1d.default")
def linear_to(
    x: Value, output_size: Sequence[int], align_corners: bool, *scales: float | None
) -> Value:
    return linear(x, output_size, align_corners, _factors(scales))  # type: ignore[no-any-return]


@rules.on("aten.upsample_bicubic2d.vec")
def cubic(x: Value, output_size: Sizes, align_corners: bool, scale_factors: Scales) -> Value:
    """Interpolate between four pixels in a row: the cubic convolution with a = -0.75."""

    def line(x: Value, axis: int, to: int, scale: float | None) -> Value:
        size, rank = size_at(x, axis), rank_of(x)
        at = _between(x, size, to, scale, align_corners)
        first, taps = _floor(at), []
        for i, weights in enumerate(_cubic_weights(at - first.astype(at.dtype)), -1):
            pixel = _picked(x, axis, np.clip(first + i, 0, size - 1))
            taps.append(pixel * ops.constant(_along(weights, axis, rank), x.type.dtype))
        return ops.add_n(taps)

    return _each_axis(line, x, _targets(x, output_size, scale_factors))


@rules.on("aten.upsample_bicubic2d.default")
def cubic_to(
    x: Value, output_size: Sequence[int], align_corners: bool, *scales: float | None
) -> Value:
    return cubic(x, output_size, align_corners, _factors(scales))  # type: ignore[no-any-return]


def _cubic_weights(t: NDArray[Any]) -> list[NDArray[Any]]:
    """The weights of the pixels at -1, 0, 1, 2 for a place `t` between those at 0 and 1."""

    def near(x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray((1.25 * x - 2.25) * x * x + 1)

    def far(x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(((-0.75 * x + 3.75) * x - 6) * x + 3)

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _each_axis(
    line: Callable[[Value, int, int, float | None], Value], x: Value, targets: list[Target]
) -> Value:
    """`line` along each axis, the last one first.

    Half types are computed in f32.  So is u8, which torch rounds after each axis, 0.5 upwards.
    """
    y = x if x.type.dtype in ("f32", "f64") else ops.cast(x, "f32")
    for target in reversed(targets):
        y = line(y, *target)
        if x.type.dtype not in FLOATS:
            y = ops.clip(ops.floor(y + 0.5), 0.0, 255.0)
    return ops.cast(y, x.type.dtype)


def _factors(scales: Sequence[float | None]) -> Scales:
    given = [s for s in scales if s is not None]
    return given if given and len(given) == len(scales) else None


def _targets(x: Value, sizes: Sizes, scales: Scales) -> list[Target]:
    """(axis, size of y along it, scale if it was given), for the axes behind the channels."""
    axes = range(2, rank_of(x))
    if sizes is None:
        assert scales is not None, "torch asks for one of the two"
        sizes = [floor(size_at(x, a) * s) for a, s in zip(axes, scales, strict=True)]
    factors = [None] * len(axes) if scales is None else scales
    return list(zip(axes, sizes, factors, strict=True))


def _counted(x: Value, to: int) -> NDArray[Any]:
    """0, 1, ... in the dtype of coordinates; what is computed with it is of that dtype, too."""
    return np.arange(to, dtype=np.float64 if x.type.dtype == "f64" else np.float32)


def _step(x: Value, size: int, to: int, scale: float | None) -> Any:
    """The distance in x between elements of y, as a scalar of the dtype of coordinates."""
    dtype = _counted(x, 0).dtype.type
    return dtype(1 / scale) if scale else dtype(size) / dtype(to)


def _between(x: Value, size: int, to: int, scale: float | None, corners: bool) -> NDArray[Any]:
    """The place in x of each element of y; before the first pixel it is negative."""
    i = _counted(x, to)
    if corners:
        dtype = i.dtype.type
        return np.asarray(i * (dtype(size - 1) / dtype(to - 1) if to > 1 else dtype(0)))
    half = i.dtype.type(0.5)
    return np.asarray((i + half) * _step(x, size, to, scale) - half)


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
