"""Cross entropy, and with it the residual: the gradient of the logarithm of softmax.

    residual = softmax * sum(labels) - labels = log_softmax_gradient(dy=-labels, y=log_softmax)

so one call computes it from log_softmax and -labels, whose products the loss sums up.  Dense
labels take seven calls, two of which keep 0 * -inf out of the loss; classes take four, and one more
if they are not i64.  Rows of few classes take two copies more, to padded rows and back
(`padded_rows.py`): the two losses of [100, 10] take 15 and 14 us in place of 31 and 24.
"""

from __future__ import annotations

from functools import partial
from math import inf

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.elementwise import number
from byparts_kernels_torch.padded_rows import has_short_rows, padded_rows
from byparts_kernels_torch.table import Tensor, Tensors, kernels
from byparts_kernels_torch.wide import in_turn, widened
from byparts_kernels_torch.workspace import scratch
from byparts_opset.cross_entropy import SoftmaxCrossEntropy, SparseSoftmaxCrossEntropy
from byparts_opset.index import check_range

# The label that torch's loss is told to ignore: the smallest i64, so that each label outside of
# [0, classes) is an error.
NO_CLASS = -(1 << 63)


@kernels.on(SoftmaxCrossEntropy, workspace=True)
@widened
def softmax_cross_entropy(
    op: SoftmaxCrossEntropy, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    (x, labels), (loss, residual) = inputs, outputs
    if has_short_rows(x):
        return _on_padded_rows(op, x, labels, loss, residual, workspace)
    log_p, minus = (scratch(workspace, x.shape, x) for _ in range(2))
    return in_turn(
        [
            partial(torch._log_softmax, x, -1, False, out=log_p),
            partial(torch.neg, labels, out=minus),
            *_products(log_p, minus, residual, workspace),
            partial(torch.sum, residual, -1, out=loss),
            *_residual(op, minus, log_p, residual),
        ]
    )


def _on_padded_rows(
    op: SoftmaxCrossEntropy,
    x: Tensor,
    labels: Tensor,
    loss: Tensor,
    residual: Tensor,
    workspace: Workspace,
) -> Run:
    """The loss [...] and the residual [..., n] of short rows x and labels [..., n].

    The sum of each row is a product with a vector of ones, which is faster than `torch.sum`.
    """
    padded_logits, logits = padded_rows(x, -inf, workspace)
    minus, minus_labels = padded_rows(labels, 0, workspace)
    log_p, padded = (scratch(workspace, padded_logits.shape, x) for _ in range(2))
    rows, ones = padded.view(-1, padded_logits.shape[-1]), x.new_ones(padded_logits.shape[-1])
    return in_turn(
        [
            partial(logits.copy_, x),
            partial(torch._log_softmax, padded_logits, -1, False, out=log_p),
            partial(torch.neg, labels, out=minus_labels),
            *_products(log_p, minus, padded, workspace),
            partial(torch.mv, rows, ones, out=loss.view(-1)),
            *_residual(op, minus, log_p, padded),
            partial(residual.copy_, padded[..., : x.shape[-1]]),
        ]
    )


def _products(log_p: Tensor, minus: Tensor, terms: Tensor, workspace: Workspace) -> list[Run]:
    """terms = log_p * minus, but 0 where the label is 0: there log_p may be -inf.

    All are [..., n]; `minus` is -labels.
    """
    absent = scratch(workspace, terms.shape, terms, torch.bool)
    return [
        partial(torch.mul, log_p, minus, out=terms),
        partial(torch.eq, minus, number(0, minus), out=absent),
        partial(terms.masked_fill_, absent, number(0, terms)),
    ]


def _residual(op: SoftmaxCrossEntropy, minus: Tensor, log_p: Tensor, into: Tensor) -> list[Run]:
    """into = softmax * sum(labels) - labels, each row; `minus` is -labels, log_p log_softmax."""
    if op.sums_to_one:
        return [partial(torch.exp, log_p, out=into), partial(into.add_, minus)]
    return [partial(torch._log_softmax_backward_data, minus, log_p, -1, log_p.dtype, out=into)]


@kernels.on(SparseSoftmaxCrossEntropy, workspace=True)
@widened
def sparse_softmax_cross_entropy(
    op: SparseSoftmaxCrossEntropy, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    """torch raises for a label outside of [0, classes); we say which it was."""
    (x, labels), (loss, residual) = inputs, outputs
    if x.numel() == 0:
        return partial(_check, op.name, labels, x.shape[-1])
    at, steps = _class_indices(labels, workspace)
    log_p, compute = _log_softmax(x, workspace)
    rows, target = log_p.view(-1, x.shape[-1]), residual.view(-1, x.shape[-1])
    total, minus = scratch(workspace, (), x), number(-1, x).expand(len(target), 1)
    losses = torch.ops.aten.nll_loss_forward.output
    run = in_turn(
        [
            *steps,
            *compute,
            partial(losses, rows, at, None, 0, NO_CLASS, output=loss.view(-1), total_weight=total),
            partial(torch.exp, rows, out=target),
            partial(target.scatter_add_, 1, at.view(-1, 1), minus),
        ]
    )
    return _checked(op.name, run, labels, x.shape[-1])


def _check(name: str, labels: Tensor, classes: int) -> None:
    """Refuse a label that is no class; on a GPU, to ask would wait for the device."""
    if labels.device.type == "cpu":
        check_range(name, labels.numpy(), classes)


def _checked(name: str, run: Run, labels: Tensor, classes: int) -> Run:
    """The step, whose error on the host says which label is no class."""
    if labels.device.type != "cpu":
        return run

    def checked() -> None:
        try:
            run()
        except (IndexError, RuntimeError):
            check_range(name, labels.numpy(), classes)
            raise

    return checked


def _log_softmax(x: Tensor, workspace: Workspace) -> tuple[Tensor, list[Run]]:
    """Scratch memory for log_softmax(x) [..., n], and the runs that compute it."""
    if not has_short_rows(x):
        log_p = scratch(workspace, x.shape, x)
        return log_p, [partial(torch._log_softmax, x, -1, False, out=log_p)]
    padded, logits = padded_rows(x, -inf, workspace)
    whole = scratch(workspace, padded.shape, x)
    compute = partial(torch._log_softmax, padded, -1, False, out=whole)
    return whole[..., : x.shape[-1]], [partial(logits.copy_, x), compute]


def _class_indices(labels: Tensor, workspace: Workspace) -> tuple[Tensor, list[Run]]:
    """The labels [...] as a vector of i64, and the run that fills it where it is a copy."""
    if labels.dtype is torch.int64 and labels.is_contiguous():
        return labels.view(-1), []
    copy = scratch(workspace, labels.shape, labels, torch.int64)
    return copy.view(-1), [partial(copy.copy_, labels)]
