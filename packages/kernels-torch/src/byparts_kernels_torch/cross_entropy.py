"""Cross entropy, and with it the residual: the gradient of the logarithm of softmax.

    residual = softmax * sum(labels) - labels = log_softmax_gradient(dy=-labels, y=log_softmax)

so one call makes it, from the two factors that the loss is a sum of.  Dense labels take seven
calls, two of which keep 0 * -inf out of the loss; classes take four, and one more if not in i64.
Few classes take two copies more, into rows of one vector and back (`lanes.py`): the two losses of
[100, 10] take 15 and 14 us in place of 31 and 24.
"""

from __future__ import annotations

from functools import partial
from math import inf

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.elementwise import nothing, number
from byparts_kernels_torch.lanes import padded, short
from byparts_kernels_torch.table import Tensor, Tensors, kernels
from byparts_kernels_torch.wide import in_turn, widened
from byparts_kernels_torch.workspace import scratch
from byparts_opset.cross_entropy import SoftmaxCrossEntropy, SparseSoftmaxCrossEntropy

NO_CLASS = -(1 << 63)  # what torch's loss ignores; every other label that is no class is an error


@kernels.on(SoftmaxCrossEntropy, workspace=True)
@widened
def softmax_cross_entropy(
    op: SoftmaxCrossEntropy, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    (x, labels), (loss, residual) = inputs, outputs
    if short(x):
        return _of_few(x, labels, loss, residual, workspace)
    log_p, minus = (scratch(workspace, x.shape, x) for _ in range(2))
    return in_turn(
        [
            partial(torch._log_softmax, x, -1, False, out=log_p),
            partial(torch.neg, labels, out=minus),
            *_terms(log_p, minus, residual, workspace),
            partial(torch.sum, residual, -1, out=loss),
            _residual(minus, log_p, residual),
        ]
    )


def _of_few(x: Tensor, labels: Tensor, loss: Tensor, residual: Tensor, workspace: Workspace) -> Run:
    """The same on padded rows, whose sums are a product with ones."""
    (given, logits), (minus, own) = padded(x, -inf, workspace), padded(labels, 0, workspace)
    log_p, room = (scratch(workspace, given.shape, x) for _ in range(2))
    rows, ones = room.view(-1, given.shape[-1]), x.new_ones(given.shape[-1])
    return in_turn(
        [
            partial(logits.copy_, x),
            partial(torch._log_softmax, given, -1, False, out=log_p),
            partial(torch.neg, labels, out=own),
            *_terms(log_p, minus, room, workspace),
            partial(torch.mv, rows, ones, out=loss.view(-1)),
            _residual(minus, log_p, room),
            partial(residual.copy_, room[..., : x.shape[-1]]),
        ]
    )


def _terms(log_p: Tensor, minus: Tensor, terms: Tensor, workspace: Workspace) -> list[Run]:
    """Their products, but 0 where the label is."""
    absent = scratch(workspace, terms.shape, terms, torch.bool)
    return [
        partial(torch.mul, log_p, minus, out=terms),
        partial(torch.eq, minus, number(0, minus), out=absent),
        partial(terms.masked_fill_, absent, number(0, terms)),
    ]


def _residual(minus: Tensor, log_p: Tensor, into: Tensor) -> Run:
    return partial(torch._log_softmax_backward_data, minus, log_p, -1, log_p.dtype, out=into)


@kernels.on(SparseSoftmaxCrossEntropy, workspace=True)
@widened
def sparse_softmax_cross_entropy(
    op: SparseSoftmaxCrossEntropy, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    """A label that is no class is torch's IndexError."""
    (x, labels), (loss, residual) = inputs, outputs
    if x.numel() == 0:
        return nothing
    at, steps = _classes(labels, workspace)
    log_p, compute = _log_softmax(x, workspace)
    rows, target = log_p.view(-1, x.shape[-1]), residual.view(-1, x.shape[-1])
    total, minus = scratch(workspace, (), x), number(-1, x).expand(len(target), 1)
    losses = torch.ops.aten.nll_loss_forward.output
    return in_turn(
        [
            *steps,
            *compute,
            partial(losses, rows, at, None, 0, NO_CLASS, output=loss.view(-1), total_weight=total),
            partial(torch.exp, rows, out=target),
            partial(target.scatter_add_, 1, at.view(-1, 1), minus),
        ]
    )


def _log_softmax(x: Tensor, workspace: Workspace) -> tuple[Tensor, list[Run]]:
    if not short(x):
        log_p = scratch(workspace, x.shape, x)
        return log_p, [partial(torch._log_softmax, x, -1, False, out=log_p)]
    given, logits = padded(x, -inf, workspace)
    whole = scratch(workspace, given.shape, x)
    compute = partial(torch._log_softmax, given, -1, False, out=whole)
    return whole[..., : x.shape[-1]], [partial(logits.copy_, x), compute]


def _classes(labels: Tensor, workspace: Workspace) -> tuple[Tensor, list[Run]]:
    """As a vector of i64, and how to fill it if it is a copy."""
    if labels.dtype is torch.int64 and labels.is_contiguous():
        return labels.view(-1), []
    copy = scratch(workspace, labels.shape, labels, torch.int64)
    return copy.view(-1), [partial(copy.copy_, labels)]
