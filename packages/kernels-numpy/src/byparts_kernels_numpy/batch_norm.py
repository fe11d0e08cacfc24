"""Batch normalisation in blocks: three passes over x for the forward, two for the gradient.

Sums are taken in the dtype of x within a block and in f64 across blocks.  The variance is taken
about the mean, not as a difference of squares, which would lose it where the mean is large.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.plain import LONGEST, blocks, plain
from byparts_kernels_numpy.table import kernels
from byparts_kernels_numpy.workspace import Shared, empty
from byparts_opset.batch_norm import BatchNorm, BatchNormGradient, BatchNormInference
from byparts_opset.dtypes import Array


@kernels.on(BatchNorm, workspace=True)
@plain
def batch_norm(
    op: BatchNorm, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    (x, gamma, beta), (y, mean, variance) = inputs, outputs
    cut = blocks(op.axis, x, y, most=LONGEST)
    scale = empty(workspace, gamma.shape, gamma.dtype)
    m, a, b = (_beside(v, cut) for v in (mean, scale, beta))
    total = Total(gamma, x, [block for block, _ in cut], Shared(workspace))

    def run() -> None:
        total.start()
        for i, (xb, _) in enumerate(cut):
            total.add(i, xb)
        total.mean(mean)
        total.start()
        for i, (xb, _) in enumerate(cut):
            np.subtract(xb, m, total.work[i])
            np.multiply(total.work[i], total.work[i], total.work[i])
            total.add(i, total.work[i])
        total.mean(variance)
        _deviation(variance, op.epsilon, scale)
        np.multiply(scale, gamma, scale)
        for xb, yb in cut:
            np.subtract(xb, m, yb)
            np.multiply(yb, a, yb)
            np.add(yb, b, yb)

    return run


@kernels.on(BatchNormInference, workspace=True)
@plain
def batch_norm_inference(
    op: BatchNormInference, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    (x, gamma, beta, mean, variance), (y,) = inputs, outputs
    cut = blocks(op.axis, x, y)
    m, g, b, v = (_beside(p, cut) for p in (mean, gamma, beta, variance))
    scale = empty(workspace, v.shape, v.dtype)

    def run() -> None:
        _deviation(v, op.epsilon, scale)
        np.multiply(scale, g, scale)
        for xb, yb in cut:
            np.subtract(xb, m, yb)
            np.multiply(yb, scale, yb)
            np.add(yb, b, yb)

    return run


@kernels.on(BatchNormGradient, workspace=True)
@plain
def batch_norm_gradient(
    op: BatchNormGradient, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    (x, gamma, mean, variance, dy), (dx, dgamma, dbeta) = inputs, outputs
    cut = blocks(op.axis, x, dy, dx, most=LONGEST)
    shared = Shared(workspace)
    total_dy, total_dyh = (Total(gamma, x, [b[0] for b in cut], shared) for _ in range(2))
    deviation, of_x, of_dy, rest = (empty(workspace, gamma.shape, gamma.dtype) for _ in range(4))
    m, a, b, c = (_beside(v, cut) for v in (mean, of_dy, of_x, rest))
    n = total_dy.count

    def run() -> None:
        total_dy.start()
        total_dyh.start()
        for i, (xb, dyb, _) in enumerate(cut):
            work = total_dyh.work[i]
            total_dy.add(i, dyb)
            np.subtract(xb, m, work)
            np.multiply(work, dyb, work)
            total_dyh.add(i, work)
        _deviation(variance, op.epsilon, deviation)
        np.copyto(dbeta, total_dy.sums, casting="same_kind")
        scale = deviation if x.size else 1.0  # a sum of nothing is 0, whose variance is nan
        np.multiply(total_dyh.sums, scale, dgamma, casting="same_kind")
        # dx = a * dy + b * (x - mean) + c, channel by channel
        np.multiply(gamma, deviation, of_dy)
        np.multiply(of_dy, deviation, of_x)
        np.multiply(of_x, dgamma, of_x)
        np.divide(of_x, -n, of_x)
        np.multiply(of_dy, dbeta, rest)
        np.divide(rest, -n, rest)
        for i, (xb, dyb, dxb) in enumerate(cut):
            work = total_dyh.work[i]
            np.subtract(xb, m, work)
            np.multiply(work, b, work)
            np.multiply(dyb, a, dxb)
            np.add(dxb, work, dxb)
            np.add(dxb, c, dxb)

    return run


class Total:
    """A sum over all axes but that of the channels, taken block by block.

    `work` is scratch memory in the shape of each block.  All blocks share it, and all totals of a
    step do.
    """

    def __init__(self, channels: Array, x: Array, cut: Sequence[Array], shared: Shared) -> None:
        self.sums = empty(shared.workspace, channels.shape, np.float64)
        self.count = x.size // channels.size if channels.size else 0
        self.work = [shared.take("work", block.shape, block.dtype) for block in cut]
        self._part = shared.take("part", channels.shape, x.dtype)
        self._ones = shared.ones(max((len(b) for b in cut), default=0), x.dtype)

    def start(self) -> None:
        """Forget what was added."""
        self.sums.fill(0)

    def add(self, i: int, block: Array) -> None:
        """Add block i, or scratch memory in its place."""
        if block.ndim == 2:
            np.dot(self._ones[: len(block)], block, self._part)
        else:
            np.add.reduce(block, (0, 2), out=self._part)
        np.add(self.sums, self._part, self.sums)

    def mean(self, out: Array) -> None:
        """The sum divided by the number of elements of a channel."""
        np.divide(self.sums, self.count, out, casting="same_kind")


def _deviation(variance: Array, epsilon: float, out: Array) -> None:
    """1 / sqrt(variance + epsilon)."""
    np.add(variance, epsilon, out)
    np.sqrt(out, out)
    np.reciprocal(out, out)


def _beside(v: Array, cut: Sequence[tuple[Array, ...]]) -> Array:
    """[channels] in the shape that broadcasts to a block."""
    return v.reshape(-1, 1) if cut and cut[0][0].ndim == 3 else v.reshape(-1)
