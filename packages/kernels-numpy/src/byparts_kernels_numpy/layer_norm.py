"""Layer normalisation in blocks of examples; sums over an example are one call of BLAS.

Those of very long examples are NumPy's pairwise sums, whose error does not grow with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.plain import LONGEST, blocks, in_turn, plain, split_rows
from byparts_kernels_numpy.softmax import summed
from byparts_kernels_numpy.table import kernels
from byparts_kernels_numpy.workspace import Shared, empty, kept
from byparts_opset.dtypes import Array
from byparts_opset.layer_norm import LayerNorm, LayerNormGradient


@kernels.on(LayerNorm, workspace=True)
@plain
def layer_norm(
    op: LayerNorm, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    (x, gamma, beta), (y, mean, variance) = inputs, outputs
    if x.size == 0:
        return _filled(np.nan, mean, variance)
    rows, (g, b) = (-1, gamma.size), (gamma.reshape(-1), beta.reshape(-1))
    shared = Shared(workspace)
    mean_of = kept(workspace, np.full(gamma.size, 1 / gamma.size, x.dtype))
    cut = blocks(-1, x.reshape(rows), y.reshape(rows))
    ends = zip(cut, split_rows(mean, cut), split_rows(variance, cut), strict=True)

    def bind(x: Array, y: Array, m: Array, v: Array) -> Run:
        squares = shared.take("squares", x.shape, x.dtype)
        deviation = shared.take("deviation", (len(x),), x.dtype)
        mean, mean_square = _mean(x, mean_of, m), _mean(squares, mean_of, v)

        def run() -> None:
            mean()
            np.subtract(x, m[:, None], y)
            np.multiply(y, y, squares)
            mean_square()
            _deviation(v, op.epsilon, deviation)
            np.multiply(y, deviation[:, None], y)
            np.multiply(y, g, y)
            np.add(y, b, y)

        return run

    return in_turn([bind(a, b, m, v) for (a, b), m, v in ends])


def _mean(x: Array, weights: Array, out: Array) -> Run:
    """The mean of each row, of which each element has this weight."""
    if x.shape[1] <= LONGEST:
        return partial(np.dot, x, weights, out)
    total = partial(summed, x, 1, None, out)
    return in_turn([total, partial(np.divide, out, x.shape[1], out)])


@kernels.on(LayerNormGradient, workspace=True)
@plain
def layer_norm_gradient(
    op: LayerNormGradient, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    (x, gamma, mean, variance, dy), (dx, dgamma, dbeta) = inputs, outputs
    if x.size == 0:
        return _filled(0, dgamma, dbeta)
    rows, g = (-1, gamma.size), gamma.reshape(-1)
    cut = blocks(-1, *(a.reshape(rows) for a in (x, dy, dx)), most=LONGEST)
    ends = zip(cut, split_rows(mean, cut), split_rows(variance, cut), strict=True)
    sums = empty(workspace, (2, gamma.size), np.float64)
    shared = Shared(workspace)
    runs = [_gradient(op, (a, b, c), (m, v), g, sums, shared) for (a, b, c), m, v in ends]

    def run() -> None:
        sums.fill(0)
        for step in runs:
            step()
        np.copyto(dgamma.reshape(-1), sums[0], casting="same_kind")
        np.copyto(dbeta.reshape(-1), sums[1], casting="same_kind")

    return run


def _gradient(
    op: LayerNormGradient,
    block: tuple[Array, Array, Array],
    statistics: tuple[Array, Array],
    gamma: Array,
    sums: Array,
    shared: Shared,
) -> Run:
    (x, dy, dx), (m, v) = block, statistics
    h, dyh = shared.take("blocks", (2, *x.shape), x.dtype)
    deviation, mean_g, mean_gh = shared.take("lines", (3, len(x)), x.dtype)
    long = gamma.size > LONGEST
    part, ones = shared.take("part", gamma.shape, x.dtype), shared.ones(len(x), x.dtype)

    def add(to: Array, block: Array) -> None:
        np.dot(ones, block, part)
        np.add(to, part, to)

    def weigh(block: Array, to: Array) -> None:
        if long:
            np.multiply(block, gamma, dyh)
            summed(dyh, 1, None, to)
        else:
            np.dot(block, gamma, to)
        np.divide(to, gamma.size, to)

    def run() -> None:
        _deviation(v, op.epsilon, deviation)
        np.subtract(x, m[:, None], h)
        np.multiply(h, deviation[:, None], h)
        np.multiply(dy, h, dyh)
        add(sums[0], dyh)
        add(sums[1], dy)
        weigh(dyh, mean_gh)  # mean(g * h) with g = dy * gamma, and mean(g)
        weigh(dy, mean_g)
        np.multiply(h, mean_gh[:, None], h)
        np.multiply(dy, gamma, dx)
        np.subtract(dx, mean_g[:, None], dx)
        np.subtract(dx, h, dx)
        np.multiply(dx, deviation[:, None], dx)

    return run


def _deviation(variance: Array, epsilon: float, out: Array) -> None:
    """1 / sqrt(variance + epsilon)."""
    np.add(variance, epsilon, out)
    np.sqrt(out, out)
    np.reciprocal(out, out)


def _filled(value: float, *outputs: Array) -> Run:
    def run() -> None:
        for y in outputs:
            y.fill(value)

    return run
