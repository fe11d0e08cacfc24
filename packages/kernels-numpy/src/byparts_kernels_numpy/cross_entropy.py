"""Cross entropy and its residual in one go: one exp, no one-hot, nothing allocated.

Short rows are worked on column by column, as in `softmax.py`.  Sums that met 0 * -inf (a class that
is masked out and has label 0) are taken again without those terms: rare, so checked, not avoided.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import isfinite

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.plain import blocks, in_turn, plain, split_rows
from byparts_kernels_numpy.softmax import is_short, largest, line, scratch, summed, summing
from byparts_kernels_numpy.table import kernels
from byparts_kernels_numpy.workspace import Shared, kept
from byparts_opset.cross_entropy import SoftmaxCrossEntropy, SparseSoftmaxCrossEntropy
from byparts_opset.dtypes import Array
from byparts_opset.index import check_range


@kernels.on(SoftmaxCrossEntropy, workspace=True)
@plain
def dense(
    op: SoftmaxCrossEntropy, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    (x, labels), (loss, residual) = inputs, outputs
    cut = blocks(-1, x, labels, residual)
    if not cut:
        return lambda: loss.fill(0)  # no classes: sums of nothing
    shared = Shared(workspace)
    ends = zip(cut, split_rows(loss, cut), strict=True)
    return in_turn([_dense(op, a, n, r, y, shared) for (a, n, r), y in ends])


@kernels.on(SparseSoftmaxCrossEntropy, workspace=True)
@plain
def sparse(
    op: SparseSoftmaxCrossEntropy,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    workspace: Workspace,
) -> Run:
    (x, labels), (loss, residual) = inputs, outputs
    check = _check(op.name, labels.reshape(-1), x.shape[-1])
    cut = blocks(-1, x, residual)
    if not cut:
        return check
    shared = Shared(workspace)
    starts = kept(workspace, np.arange(0, cut[0][0].size, x.shape[-1]))
    ends = zip(cut, split_rows(labels, cut), split_rows(loss, cut), strict=True)
    steps = [_sparse(a, r, n, y, starts[: len(a)], shared) for (a, r), n, y in ends]
    return in_turn([check, *steps])


def _dense(
    op: SoftmaxCrossEntropy, x: Array, labels: Array, r: Array, loss: Array, shared: Shared
) -> Run:
    terms, counts, e = layers = _layers(x, shared)
    one = x.dtype.type(1)
    dot, total, s, m = lines = shared.take("lines", (4, len(x), 1), x.dtype)
    if is_short(x):
        sums: Run = partial(summed, layers, 2, None, lines[:3], True)
    else:
        sums = summing(layers.reshape(-1, x.shape[1]), lines[:3], shared.ones(x.shape[1], x.dtype))

    def run() -> None:
        np.copyto(e, x)
        np.copyto(counts, labels)
        largest(e, 1, None, m, True)
        np.subtract(e, m, e)
        np.multiply(counts, e, terms)
        np.exp(e, e)
        sums()
        _subtract_terms(s, total, dot, m, loss)
        if not isfinite(np.vdot(loss, loss)):
            np.copyto(terms, 0, where=counts == 0)
            sums()
            _subtract_terms(s, total, dot, m, loss)
        np.divide(one if op.sums_to_one else total, s, s)
        np.multiply(e, s, e)
        np.subtract(e, counts, r)

    return run


def _subtract_terms(s: Array, total: Array, dot: Array, work: Array, loss: Array) -> None:
    """loss = total * log(s) - dot."""
    np.log(s, work)
    np.multiply(work, total, work)
    np.subtract(work[:, 0], dot[:, 0], loss)


def _layers(block: Array, shared: Shared) -> Array:
    """Memory for three blocks, column by column if rows are short."""
    rows, size = block.shape
    if is_short(block):
        columns: Array = shared.take("layers", (3, size, rows), block.dtype).transpose(0, 2, 1)
        return columns
    return shared.take("layers", (3, rows, size), block.dtype)


def _sparse(x: Array, r: Array, labels: Array, loss: Array, starts: Array, shared: Shared) -> Run:
    e, m, s = scratch(x, shared, "e"), line(x, shared, "m"), line(x, shared, "s")
    sums = summing(e, s, shared.ones(x.shape[1], x.dtype))
    index = shared.take("index", (len(x),), np.int64)
    picked = shared.take("picked", (len(x),), x.dtype)
    x_flat, r_flat = x.reshape(-1), r.reshape(-1)

    def run() -> None:
        np.copyto(e, x)
        largest(e, 1, None, m, True)
        np.subtract(e, m, e)
        np.exp(e, e)
        sums()
        np.add(starts, labels, index, casting="unsafe")  # labels of u64
        np.take(x_flat, index, None, picked, "clip")
        np.subtract(m[:, 0], picked, picked)
        np.log(s, m)
        np.add(m[:, 0], picked, loss)
        np.divide(e, s, r)
        np.negative(loss, picked)
        np.expm1(picked, picked)  # the softmax there is exp(-loss)
        r_flat[index] = picked

    return run


def _check(name: str, labels: Array, classes: int) -> Run:
    """Raise GraphError for a label that is no class; one pass, as unsigned numbers."""
    if labels.size == 0:
        return lambda: None
    unsigned = labels.view(f"u{labels.itemsize}")

    def run() -> None:
        if largest(unsigned) >= classes:
            check_range(name, labels, classes)

    return run
