"""Normal draws, chunk by chunk, with the uniforms in scratch memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.philox import Fill
from byparts_kernels_numpy.plain import plain
from byparts_kernels_numpy.random import drawing, uniform
from byparts_kernels_numpy.table import kernels
from byparts_kernels_numpy.workspace import Shared
from byparts_opset.dtypes import Array
from byparts_opset.random_normal import (
    POLYNOMIAL_F32,
    POLYNOMIAL_F64,
    WITHIN_TWO,
    RandomNormal,
    TruncatedNormal,
)

CHUNK = 16384  # elements


@kernels.on(RandomNormal, workspace=True)
@plain
def random_normal(
    op: RandomNormal, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    (y,) = outputs
    return drawing(_filled_from_uniforms(y.reshape(-1), 2, _box_muller, Shared(workspace)), inputs)


@kernels.on(TruncatedNormal, workspace=True)
@plain
def truncated_normal(
    op: TruncatedNormal, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    (y,) = outputs
    return drawing(_filled_from_uniforms(y.reshape(-1), 1, _inverse, Shared(workspace)), inputs)


def _filled_from_uniforms(
    y: Array, each: int, start: Callable[[Array, Array, Array], Run], shared: Shared
) -> Fill:
    """The run that fills y, a part of CHUNK elements at a time, from uniforms.

    Args:
        y: f32 or f64 [n].
        each: uniforms for each element.
        start: (part of y [m], uniforms [m * each], scratch [m]) -> the run that computes the part.
        shared: memory of the step.
    """
    words_each = each * (2 if y.dtype == np.float64 else 1)
    bits = 53 if y.dtype == np.float64 else 24
    most = min(CHUNK, y.size)
    u = shared.take("uniforms", (most * each,), y.dtype)
    work = shared.take("work", (most,), y.dtype)
    fills, parts = {}, []
    for i in range(0, y.size, CHUNK):
        part = y[i : i + CHUNK]
        front = u[: part.size * each]
        if part.size not in fills:
            fills[part.size] = uniform(front, bits, shared)
        make = start(part, front, work[: part.size])
        parts.append((i * words_each // 4, fills[part.size], make))

    def run(key: int, counter: int) -> None:
        for block, fill, make in parts:
            fill(key, counter + block)
            make()

    return run


def _box_muller(y: Array, u: Array, angle: Array) -> Run:
    """y = sqrt(-2 log(1 - u0)) cos(2 pi u1), from pairs (u0, u1) of uniforms."""
    pairs = u.reshape(-1, 2)
    radius, turn = pairs[:, 0], pairs[:, 1]

    def run() -> None:
        np.subtract(1, radius, y)
        np.log(y, y)
        np.multiply(y, -2, y)
        np.sqrt(y, y)
        np.multiply(turn, 2 * np.pi, angle)
        np.cos(angle, angle)
        np.multiply(y, angle, y)

    return run


def _inverse(y: Array, x: Array, w: Array) -> Run:
    """sqrt(2) erfinv(x), x = (2u - 1) * WITHIN_TWO, by the polynomial in w = -log(1 - x^2)."""
    highest, *rest = reversed(POLYNOMIAL_F64 if y.dtype == np.float64 else POLYNOMIAL_F32)

    def run() -> None:
        np.subtract(x, 0.5, x)
        np.multiply(x, 2 * WITHIN_TWO, x)
        np.multiply(x, x, w)
        np.subtract(1, w, w)
        np.log(w, w)
        np.negative(w, w)
        np.multiply(w, highest, y)
        for c in rest[:-1]:
            np.add(y, c, y)
            np.multiply(y, w, y)
        np.add(y, rest[-1], y)
        np.multiply(y, x, y)
        np.clip(y, -2, 2, y)

    return run
