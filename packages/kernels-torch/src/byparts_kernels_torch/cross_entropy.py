"""Cross entropy, and with it the residual: the gradient of the logarithm of softmax.

    residual = softmax * sum(labels) - labels = log_softmax_gradient(dy=-labels, y=log_softmax)

so one call makes it, from the two factors that the loss is a sum of.  Dense labels take seven
calls, two of which keep 0 * -inf out of the loss; classes take four, and one more if not in i64.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch

from byparts_graph_ir.backend import Run
from byparts_kernels_torch.elementwise import nothing, number
from byparts_kernels_torch.scratch import empty
from byparts_kernels_torch.table import Tensor, kernels
from byparts_kernels_torch.wide import in_turn, widened
from byparts_opset.cross_entropy import SoftmaxCrossEntropy, SparseSoftmaxCrossEntropy

NO_CLASS = -(1 << 63)  # what torch's loss ignores; every other label that is no class is an error


@kernels.on(SoftmaxCrossEntropy)
@widened
def softmax_cross_entropy(
    op: SoftmaxCrossEntropy, inputs: Sequence[Tensor], outputs: Sequence[Tensor]
) -> Run:
    (x, labels), (loss, residual) = inputs, outputs
    log_p, minus, terms = empty(x.shape, x), empty(x.shape, x), residual
    absent = empty(x.shape, x, torch.bool)
    gradient = torch._log_softmax_backward_data
    return in_turn(
        [
            partial(torch._log_softmax, x, -1, False, out=log_p),
            partial(torch.neg, labels, out=minus),
            partial(torch.eq, labels, number(0, labels), out=absent),
            partial(torch.mul, log_p, minus, out=terms),
            partial(terms.masked_fill_, absent, number(0, terms)),
            partial(torch.sum, terms, -1, out=loss),
            partial(gradient, minus, log_p, -1, log_p.dtype, out=residual),
        ]
    )


@kernels.on(SparseSoftmaxCrossEntropy)
@widened
def sparse_softmax_cross_entropy(
    op: SparseSoftmaxCrossEntropy, inputs: Sequence[Tensor], outputs: Sequence[Tensor]
) -> Run:
    """A label that is no class is torch's IndexError."""
    (x, labels), (loss, residual) = inputs, outputs
    if x.numel() == 0:
        return nothing
    log_p = empty(x.shape, x)
    at, steps = _classes(labels)
    rows = log_p.view(-1, x.shape[-1])
    total, minus = empty((), x), -torch.ones_like(rows[:, :1])
    losses = torch.ops.aten.nll_loss_forward.output
    target, where = residual.view(rows.shape), at.view(-1, 1)
    return in_turn(
        [
            *steps,
            partial(torch._log_softmax, x, -1, False, out=log_p),
            partial(losses, rows, at, None, 0, NO_CLASS, output=loss.view(-1), total_weight=total),
            partial(torch.exp, log_p, out=residual),
            partial(target.scatter_add_, 1, where, minus),
        ]
    )


def _classes(labels: Tensor) -> tuple[Tensor, list[Run]]:
    """As a vector of i64, and how to fill it if it is a copy."""
    if labels.dtype is torch.int64 and labels.is_contiguous():
        return labels.view(-1), []
    copy = empty(labels.shape, labels, torch.int64)
    return copy.view(-1), [partial(copy.copy_, labels)]
