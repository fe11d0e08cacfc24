"""Attention: products and a softmax for some heads at a time, or torch's flash attention.

Flash attention keeps no matrix of weights, skips what a causal query does not see, and has no
`out=`.  The products have it: their matrices take 1 MiB of scratch (2 MiB in the gradient), or one
head's where that is more.  f32, ms on one thread; `*` marks what runs here:

    batch x heads x time x width      flash   products  |  gradient: flash   products
    8 x 4 x  128 x 64, causal          1.63     1.65*   |             3.97     3.29*
    8 x 4 x  256 x 64, causal          5.9*     6.9     |            13.9     13.5*
    1 x 4 x 1024 x 64, causal          7.1*    14.3     |            16.9*    26.8
    1 x 4 x 1024 x 64                  9.2*    11.6     |            21.8*    26.7
    1 x 2 x 4096 x 64, causal         46.5*   196       |           106*     485
    2 x 2 x    8 x  8, causal          0.011*   0.029   |             0.022*   0.042

Products are also used where torch has no flash attention: where values have another width than
keys, and on other devices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf, prod

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.dense import dense
from byparts_kernels_torch.elementwise import filled
from byparts_kernels_torch.ops import AttentionRows, AttentionRowsGradient
from byparts_kernels_torch.table import Tensor, Tensors, allocates, kernels
from byparts_kernels_torch.wide import in_turn, widened
from byparts_kernels_torch.workspace import kept, scratch
from byparts_opset.attention import Attention, AttentionGradient

_REASON = "torch's flash attention has no out=: what it returns is copied"
for _op in (Attention, AttentionGradient, AttentionRows, AttentionRowsGradient):
    allocates[_op] = _REASON

LEAST_WEIGHTS = 32 * 32  # of one head: with fewer, flash attention is faster, on the CPU
MOST_WEIGHTS, MOST_WEIGHTS_OF_GRADIENT = 128 * 128, 256 * 256  # with more, it is faster again

CHUNK_BYTES = {"cpu": 1 << 20}  # of one matrix of weights
OTHER_CHUNK_BYTES = 1 << 28  # where a call costs more, and memory is faster

flash_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default


@kernels.on(Attention, workspace=True)
@widened
@dense
def attention(op: Attention, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    q, k, v, y = map(_heads, (*inputs, outputs[0]))
    return _attention(op, [(q, k, v, y, outputs[1].view(-1, q.shape[1], 1))], outputs, workspace)


@kernels.on(AttentionGradient, workspace=True)
@widened
@dense
def attention_gradient(
    op: AttentionGradient, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    *rows, logsumexp = inputs
    heads = tuple(map(_heads, rows))
    sums = logsumexp.view(-1, heads[1].shape[1], 1)
    return _attention_gradient(
        op, [((*heads, sums), tuple(map(_heads, outputs)))], outputs, workspace
    )


@kernels.on(AttentionRows, workspace=True)
@widened
@dense
def attention_rows(
    op: AttentionRows, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    """Attend in a group for each element of the batch: its heads are strided views, no copies."""
    views = zip(*(x.transpose(1, 2) for x in (*inputs, outputs[0])), strict=True)
    sums = outputs[1].unsqueeze(-1)
    groups = [(*heads, s) for heads, s in zip(views, sums, strict=True)]
    return _attention(op, groups, outputs, workspace)


@kernels.on(AttentionRowsGradient, workspace=True)
@widened
@dense
def attention_rows_gradient(
    op: AttentionRowsGradient, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    *rows, logsumexp = inputs
    groups = zip(*(x.transpose(1, 2) for x in rows), logsumexp.unsqueeze(-1), strict=True)
    into = zip(*(x.transpose(1, 2) for x in outputs), strict=True)
    return _attention_gradient(op, list(zip(groups, into, strict=True)), outputs, workspace)


def _attention(
    op: Attention | AttentionRows,
    groups: Sequence[tuple[Tensor, ...]],
    outputs: Tensors,
    workspace: Workspace,
) -> Run:
    """Bind attention for groups of tensors.

    Args:
        op: of `q`, `k` and `v`.
        groups: (q [heads, s, d], k [heads, t, d], v [heads, t, e], y [heads, s, e],
            logsumexp [heads, s, 1]) of each; all of the same shapes.
        outputs: y and logsumexp of all groups.
        workspace: of the kernel.
    """
    y, logsumexp = outputs
    if not y.numel() or not groups[0][1].shape[1]:
        return in_turn([filled(y, 0), filled(logsumexp, -inf)])
    q, k, v = groups[0][:3]
    scale = _scale(op, q)
    if by_flash(q, k, v, MOST_WEIGHTS):
        return in_turn([_flash(op.causal, scale, *group) for group in groups])
    mask = _causal_mask(op.causal, q, k, workspace)
    weights = scratch(workspace, (_heads_at_once(q, k), q.shape[1], k.shape[1]), q)
    largest = scratch(workspace, (len(weights), q.shape[1], 1), q)
    steps: list[Run] = []
    for q, k, v, into, sums in groups:
        for part in _parts(q, len(weights)):
            scores, most, total = weights[: _size(part)], largest[: _size(part)], sums[part]
            steps += [
                _product(q[part], k[part].mT, scores, scale, mask),
                partial(torch.amax, scores, -1, True, out=total),
                partial(torch._softmax, scores, -1, False, out=scores),
                partial(torch.amax, scores, -1, True, out=most),
                most.log_,  # of the largest weight: what the largest score is over the sum
                partial(total.sub_, most),
                partial(torch.bmm, scores, v[part], out=into[part]),
            ]
    return in_turn(steps)


def _attention_gradient(
    op: AttentionGradient | AttentionRowsGradient,
    groups: Sequence[tuple[tuple[Tensor, ...], tuple[Tensor, ...]]],
    outputs: Tensors,
    workspace: Workspace,
) -> Run:
    """Bind the gradient for groups of tensors.

    Args:
        op: of `dy`, `q`, `k`, `v`, `y` and `logsumexp`.
        groups: pairs ((dy, q, k, v, y, logsumexp), (dq, dk, dv)) of shapes as in `_attention`.
        outputs: dq, dk and dv of all groups.
        workspace: of the kernel.
    """
    if not groups or 0 in [t.numel() for t in groups[0][0][:3]]:
        return in_turn([filled(t, 0) for t in outputs])
    _, q, k, v, _, _ = groups[0][0]
    scale = _scale(op, q)
    if by_flash(q, k, v, MOST_WEIGHTS_OF_GRADIENT):
        return in_turn([_flash_back(op.causal, scale, *group) for group in groups])
    room = _GradientScratch(_heads_at_once(q, k), q, k, v, workspace)
    steps: list[Run] = []
    for tensors, into in groups:
        for part in _parts(tensors[1], room.heads):
            some = [t[part] for t in tensors]
            steps += _gradients(op.causal, scale, some, [t[part] for t in into], room)
    return in_turn(steps)


def _flash(
    causal: bool, scale: float, q: Tensor, k: Tensor, v: Tensor, y: Tensor, sums: Tensor
) -> Run:
    one = (t.unsqueeze(1) for t in (q, k, v))
    compute = partial(torch._scaled_dot_product_flash_attention_for_cpu, *one, 0.0, causal)
    whole = (y.unsqueeze(1), sums.view(len(q), 1, -1))
    return partial(_copy_results, partial(compute, scale=scale), whole)


def _flash_back(
    causal: bool, scale: float, tensors: Sequence[Tensor], into: Sequence[Tensor]
) -> Run:
    *rest, sums = tensors
    one = [t.unsqueeze(1) for t in (*rest, sums[..., 0])]
    compute = partial(flash_backward, *one, 0.0, causal, scale=scale)
    return partial(_copy_results, compute, tuple(t.unsqueeze(1) for t in into))


def by_flash(q: Tensor, k: Tensor, v: Tensor, most: int) -> bool:
    """Whether torch's flash attention can be used, and is faster than products.

    Args:
        q: [heads, s, d].
        k: [heads, t, d].
        v: [heads, t, e].
        most: from this number of weights (s * t) of a head on, flash attention is faster.
    """
    weights = q.shape[1] * k.shape[1]
    fits = q.device.type == "cpu" and q.shape[2] == v.shape[2] and q.shape[2] > 0
    return fits and not LEAST_WEIGHTS <= weights <= most


class _GradientScratch:
    """Scratch memory for the gradient of some heads.

    Attributes:
        heads: how many.
        weights: the softmax, [heads, s, t].
        dscores: the gradient of the scores, [heads, s, t].
        products: dy * y, [heads, s, e].
        of_queries: a number for each query, [heads, s, 1].
    """

    def __init__(self, heads: int, q: Tensor, k: Tensor, v: Tensor, workspace: Workspace) -> None:
        s, t, e = q.shape[1], k.shape[1], v.shape[2]
        self.heads = heads
        self.weights, self.dscores, self.products, self.of_queries = (
            scratch(workspace, (heads, s, width), q) for width in (t, t, e, 1)
        )


def _gradients(
    causal: bool,
    scale: float,
    tensors: Sequence[Tensor],
    into: Sequence[Tensor],
    room: _GradientScratch,
) -> list[Run]:
    """dv = pᵀ dy; ds = p * (dy vᵀ - sum(dy * y)); dq = scale ds k; dk = scale dsᵀ q."""
    (dy, q, k, v, y, logsumexp), (dq, dk, dv) = tensors, into
    heads = len(q)
    p, ds = room.weights[:heads], room.dscores[:heads]
    products, of_queries = room.products[:heads], room.of_queries[:heads]
    return [
        partial(torch.neg, logsumexp, out=of_queries),
        _product(q, k.mT, p, scale, of_queries),
        p.exp_,
        *([p.tril_] if causal else []),
        partial(torch.bmm, p.mT, dy, out=dv),
        partial(torch.mul, dy, y, out=products),
        partial(torch.sum, products, -1, True, out=of_queries),
        of_queries.neg_,
        _product(dy, v.mT, ds, 1.0, of_queries),
        partial(ds.mul_, p),
        _product(ds, k, dq, scale, None),
        _product(ds.mT, q, dk, scale, None),
    ]


def _product(a: Tensor, b: Tensor, out: Tensor, scale: float, added: Tensor | None) -> Run:
    """out = scale a b + added."""
    if added is None:
        return partial(torch.baddbmm, out, a, b, beta=0, alpha=scale, out=out)
    return partial(torch.baddbmm, added, a, b, alpha=scale, out=out)


def _causal_mask(causal: bool, q: Tensor, k: Tensor, workspace: Workspace) -> Tensor | None:
    """The mask to add to scores [s, t]: -inf for the keys after each query.  `None`: not causal."""
    if not causal:
        return None
    return kept(workspace, (q.shape[1], k.shape[1]), q).fill_(-inf).triu_(1)


def _copy_results(compute: Callable[[], Sequence[Tensor]], into: Sequence[Tensor]) -> None:
    for to, result in zip(into, compute(), strict=True):
        to.copy_(result)


def _heads(x: Tensor) -> Tensor:
    """A view of x [..., time, width] as [heads, time, width]."""
    return x.view(prod(x.shape[:-2]), *x.shape[-2:])


def _heads_at_once(q: Tensor, k: Tensor) -> int:
    """The number of heads computed at a time: their weights [s, t] fit in a chunk; at least one."""
    chunk_bytes = CHUNK_BYTES.get(q.device.type, OTHER_CHUNK_BYTES)
    return max(1, min(len(q), chunk_bytes // int(q.shape[1] * k.shape[1] * q.element_size())))


def _parts(x: Tensor, size: int) -> list[slice]:
    return [slice(i, min(i + size, len(x))) for i in range(0, len(x), size)]


def _size(part: slice) -> int:
    return int(part.stop - part.start)


def _scale(
    op: Attention | AttentionGradient | AttentionRows | AttentionRowsGradient, q: Tensor
) -> float:
    return max(q.shape[-1], 1) ** -0.5 if op.scale is None else op.scale
