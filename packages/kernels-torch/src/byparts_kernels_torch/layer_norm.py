"""Layer normalisation: torch's kernel, which has no `out=`, on some rows at a time.

What it returns for a megabyte of rows is copied while it is in cache, and its memory used again for
the next ones.  f32, ms on one thread:

                   torch eager   here   all rows at once
    [4096, 1024]       3.3        3.6        7.4
    the gradient       BACK
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import nan

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.dense import dense
from byparts_kernels_torch.elementwise import filled, number
from byparts_kernels_torch.table import Tensor, Tensors, allocates, kernels
from byparts_kernels_torch.wide import in_turn, widened
from byparts_kernels_torch.workspace import scratch
from byparts_opset.layer_norm import LayerNorm, LayerNormGradient

allocates[LayerNorm] = allocates[LayerNormGradient] = (
    "torch's kernel has no out=: what it returns is copied, a megabyte at a time"
)

CHUNK_BYTES = 1 << 20

native_layer_norm_backward = torch.ops.aten.native_layer_norm_backward.default

Results = Sequence[Tensor]


@kernels.on(LayerNorm, workspace=True)
@widened
@dense
def layer_norm(op: LayerNorm, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    """torch gives 1 / sqrt(variance + epsilon): as exact, for all that variances are read for."""
    (x, gamma, beta), (y, mean, variance) = inputs, outputs
    width = gamma.numel()
    if x.numel() == 0:
        return in_turn([filled(mean, nan), filled(variance, nan)])
    results = (y.view(-1, width), mean.view(-1, 1), variance.view(-1, 1))
    rows, weights = x.view(-1, width), (gamma.view(-1), beta.view(-1))
    steps: list[Run] = []
    for part in _parts(rows):
        compute = partial(torch.native_layer_norm, rows[part], (width,), *weights, op.epsilon)
        steps.append(partial(_copied, compute, tuple(t[part] for t in results)))
    return in_turn([*steps, *_variance(variance, op.epsilon)])


@kernels.on(LayerNormGradient, workspace=True)
@widened
@dense
def layer_norm_gradient(
    op: LayerNormGradient, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    """The sums over rows are added up, chunk by chunk."""
    (x, gamma, mean, variance, dy), (dx, dgamma, dbeta) = inputs, outputs
    width = gamma.numel()
    if x.numel() == 0:
        return in_turn([filled(dgamma, 0), filled(dbeta, 0)])
    scale, rows = scratch(workspace, (x.numel() // width, 1), x), x.view(-1, width)
    steps: list[Run] = [
        partial(torch.add, variance.view(-1, 1), number(op.epsilon, x), out=scale),
        scale.rsqrt_,
    ]
    weights, given, into = gamma.view(-1), dy.view(-1, width), dx.view(-1, width)
    sums = (dgamma.view(-1), dbeta.view(-1))
    for part in _parts(rows):
        statistics = (mean.view(-1, 1)[part], scale[part])
        how = ((width,), *statistics, weights, weights, (True, True, True))
        compute = partial(native_layer_norm_backward, given[part], rows[part], *how)
        keep = _added if part.start else _copied
        steps.append(partial(keep, compute, (into[part], *sums)))
    return in_turn(steps)


def _variance(scale: Tensor, epsilon: float) -> list[Run]:
    """From 1 / sqrt(variance + epsilon), in place; never less than 0."""
    square, least = number(-2, scale), number(epsilon, scale)
    return [
        partial(torch.pow, scale, square, out=scale),
        partial(scale.sub_, least),
        partial(scale.clamp_min_, 0),
    ]


def _copied(compute: Callable[[], Results], into: Results) -> None:
    for to, result in zip(into, compute(), strict=True):
        to.copy_(result)


def _added(compute: Callable[[], Results], into: Results) -> None:
    """The first is this chunk's own, the others are sums over all."""
    first, *sums = compute()
    into[0].copy_(first)
    for to, result in zip(into[1:], sums, strict=True):
        to.add_(result)


def _parts(rows: Tensor) -> list[slice]:
    size = max(1, CHUNK_BYTES // (rows.shape[1] * rows.element_size()))
    return [slice(i, i + size) for i in range(0, len(rows), size)]
