"""Attention: products and a softmax, some heads at a time, or torch's flash attention.

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

Products stand in also where torch has no flash attention: where values are of another width than
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

LEAST = 32 * 32  # weights of one head from which on products are faster, on the CPU
MOST, MOST_BACK = 128 * 128, 256 * 256  # up to which they are, and for the gradient

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
    *given, logsumexp = inputs
    heads = tuple(map(_heads, given))
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
    """Batch by batch: the heads of one are strided rows, which a product reads and writes."""
    turned = zip(*(x.transpose(1, 2) for x in (*inputs, outputs[0])), strict=True)
    sums = outputs[1].unsqueeze(-1)
    return _attention(
        op, [(*one, s) for one, s in zip(turned, sums, strict=True)], outputs, workspace
    )


@kernels.on(AttentionRowsGradient, workspace=True)
@widened
@dense
def attention_rows_gradient(
    op: AttentionRowsGradient, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    *rows, logsumexp = inputs
    given = zip(*(x.transpose(1, 2) for x in rows), logsumexp.unsqueeze(-1), strict=True)
    into = zip(*(x.transpose(1, 2) for x in outputs), strict=True)
    return _attention_gradient(op, list(zip(given, into, strict=True)), outputs, workspace)


def _attention(
    op: Attention | AttentionRows,
    groups: Sequence[tuple[Tensor, ...]],
    outputs: Tensors,
    workspace: Workspace,
) -> Run:
    """For groups of (q, k, v, y, logsumexp), each [heads, time, width]."""
    y, logsumexp = outputs
    if not y.numel() or not groups[0][1].shape[1]:
        return in_turn([filled(y, 0), filled(logsumexp, -inf)])
    q, k, v = groups[0][:3]
    scale = _scale(op, q)
    if by_flash(q, k, v, MOST):
        return in_turn([_flash(op.causal, scale, *group) for group in groups])
    unseen = _unseen(op.causal, q, k, workspace)
    room = scratch(workspace, (_together(q, k), q.shape[1], k.shape[1]), q)
    top = scratch(workspace, (len(room), q.shape[1], 1), q)
    steps: list[Run] = []
    for q, k, v, into, sums in groups:
        for part in _parts(q, len(room)):
            scores, most, total = room[: _size(part)], top[: _size(part)], sums[part]
            steps += [
                _product(q[part], k[part].mT, scores, scale, unseen),
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
    """For groups of (dy, q, k, v, y, logsumexp) and (dq, dk, dv)."""
    if not groups or 0 in [t.numel() for t in groups[0][0][:3]]:
        return in_turn([filled(t, 0) for t in outputs])
    _, q, k, v, _, _ = groups[0][0]
    scale = _scale(op, q)
    if by_flash(q, k, v, MOST_BACK):
        return in_turn([_flash_back(op.causal, scale, *group) for group in groups])
    rooms = _Rooms(_together(q, k), q, k, v, workspace)
    steps: list[Run] = []
    for tensors, into in groups:
        for part in _parts(tensors[1], rooms.heads):
            given = [t[part] for t in tensors]
            steps += _gradients(op.causal, scale, given, [t[part] for t in into], rooms)
    return in_turn(steps)


def _flash(
    causal: bool, scale: float, q: Tensor, k: Tensor, v: Tensor, y: Tensor, sums: Tensor
) -> Run:
    one = (t.unsqueeze(1) for t in (q, k, v))
    compute = partial(torch._scaled_dot_product_flash_attention_for_cpu, *one, 0.0, causal)
    whole = (y.unsqueeze(1), sums.view(len(q), 1, -1))
    return partial(_copied, partial(compute, scale=scale), whole)


def _flash_back(causal: bool, scale: float, given: Sequence[Tensor], into: Sequence[Tensor]) -> Run:
    *rest, sums = given
    one = [t.unsqueeze(1) for t in (*rest, sums[..., 0])]
    compute = partial(flash_backward, *one, 0.0, causal, scale=scale)
    return partial(_copied, compute, tuple(t.unsqueeze(1) for t in into))


def by_flash(q: Tensor, k: Tensor, v: Tensor, most: int) -> bool:
    """Whether torch's kernel is the faster one."""
    weights = q.shape[1] * k.shape[1]
    fits = q.device.type == "cpu" and q.shape[2] == v.shape[2] and q.shape[2] > 0
    return fits and not LEAST <= weights <= most


class _Rooms:
    """For some heads: weights, what they are multiplied by, dy * y, and a number for each query."""

    def __init__(self, heads: int, q: Tensor, k: Tensor, v: Tensor, workspace: Workspace) -> None:
        s, t, e = q.shape[1], k.shape[1], v.shape[2]
        self.heads = heads
        self.weights, self.slopes, self.terms, self.one = (
            scratch(workspace, (heads, s, width), q) for width in (t, t, e, 1)
        )


def _gradients(
    causal: bool, scale: float, given: Sequence[Tensor], into: Sequence[Tensor], rooms: _Rooms
) -> list[Run]:
    """dv = pᵀ dy; ds = p * (dy vᵀ - sum(dy * y)); dq = scale ds k; dk = scale dsᵀ q."""
    (dy, q, k, v, y, logsumexp), (dq, dk, dv) = given, into
    heads = len(q)
    p, ds = rooms.weights[:heads], rooms.slopes[:heads]
    terms, one = rooms.terms[:heads], rooms.one[:heads]
    return [
        partial(torch.neg, logsumexp, out=one),
        _product(q, k.mT, p, scale, one),
        p.exp_,
        *([p.tril_] if causal else []),
        partial(torch.bmm, p.mT, dy, out=dv),
        partial(torch.mul, dy, y, out=terms),
        partial(torch.sum, terms, -1, True, out=one),
        one.neg_,
        _product(dy, v.mT, ds, 1.0, one),
        partial(ds.mul_, p),
        _product(ds, k, dq, scale, None),
        _product(ds.mT, q, dk, scale, None),
    ]


def _product(a: Tensor, b: Tensor, out: Tensor, scale: float, added: Tensor | None) -> Run:
    """out = scale a b + added."""
    if added is None:
        return partial(torch.baddbmm, out, a, b, beta=0, alpha=scale, out=out)
    return partial(torch.baddbmm, added, a, b, alpha=scale, out=out)


def _unseen(causal: bool, q: Tensor, k: Tensor, workspace: Workspace) -> Tensor | None:
    """What is added to scores [s, t]: -inf for the keys behind each query."""
    if not causal:
        return None
    return kept(workspace, (q.shape[1], k.shape[1]), q).fill_(-inf).triu_(1)


def _copied(compute: Callable[[], Sequence[Tensor]], into: Sequence[Tensor]) -> None:
    for to, result in zip(into, compute(), strict=True):
        to.copy_(result)


def _heads(x: Tensor) -> Tensor:
    """A view [heads, time, width]."""
    return x.view(prod(x.shape[:-2]), *x.shape[-2:])


def _together(q: Tensor, k: Tensor) -> int:
    """How many heads at a time."""
    room = CHUNK_BYTES.get(q.device.type, OTHER_CHUNK_BYTES)
    return max(1, min(len(q), room // int(q.shape[1] * k.shape[1] * q.element_size())))


def _parts(x: Tensor, size: int) -> list[slice]:
    return [slice(i, min(i + size, len(x))) for i in range(0, len(x), size)]


def _size(part: slice) -> int:
    return int(part.stop - part.start)


def _scale(
    op: Attention | AttentionGradient | AttentionRows | AttentionRowsGradient, q: Tensor
) -> float:
    return max(q.shape[-1], 1) ** -0.5 if op.scale is None else op.scale
