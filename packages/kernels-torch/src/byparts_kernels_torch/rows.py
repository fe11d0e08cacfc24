"""Convolution with the channels last: each patch of the images becomes a row.

Filters stand in memory as they are multiplied, [u, v, i, o], and y and dw are written as they
stand.  torch transposes the filters at each call, which costs more than the product where a layer
has many channels and few pixels (times are in `conv2d.py`).  One group; else as in `patches.py`.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.patches import (
    Geometry,
    contiguous,
    filled_patches,
    frame,
    inner,
    parts,
    room,
    windows,
)
from byparts_kernels_torch.table import Tensor
from byparts_kernels_torch.workspace import scratch

AS_ROWS = (0, 5, 6, 3, 4, 2, 1)  # [n, group, i, u, v, p, q] -> [n, p, q, u, v, i, group]


def forward(g: Geometry, x: Tensor, w: Tensor, y: Tensor, workspace: Workspace) -> list[Run]:
    """y = patches times filters."""
    weights, steps = contiguous(w.permute(2, 3, 1, 0), workspace)
    factors, rows = weights.view(g.taps, g.o), y.permute(0, 2, 3, 1).view(-1, g.o)
    for part, fill, patches in filled_patches(g, x, workspace, AS_ROWS):
        steps += fill
        into = rows[_rows(g, part)]
        steps.append(partial(torch.mm, patches.view(-1, g.taps), factors, out=into))
    return steps


def forward_by_columns(
    g: Geometry, x: Tensor, w: Tensor, y: Tensor, workspace: Workspace
) -> list[Run]:
    """y = patches times filters, for patches of few elements: they are filled as columns.

    Each copy then moves a row of pixels, not a few elements.
    """
    weights, steps = contiguous(w, workspace)
    factors = weights.view(g.o, g.taps).t()
    into = y.permute(0, 2, 3, 1).view(g.images, g.pixels, g.o)
    for part, fill, patches in filled_patches(g, x, workspace):
        one = factors.expand(len(patches), -1, -1)
        steps += [*fill, partial(torch.bmm, patches[:, 0].mT, one, out=into[part])]
    return steps


def filter_gradient(
    g: Geometry, x: Tensor, dy: Tensor, dw: Tensor, workspace: Workspace
) -> list[Run]:
    """dw = patches times pixels, summed over images by the product."""
    (pixels, steps), (weights, _) = (
        contiguous(dy.permute(0, 2, 3, 1), workspace),
        contiguous(dw.permute(2, 3, 1, 0), workspace),
    )
    given, sums = pixels.view(-1, g.o), weights.view(g.taps, g.o)
    for part, fill, patches in filled_patches(g, x, workspace, AS_ROWS):
        factors = patches.view(-1, g.taps).t(), given[_rows(g, part)]
        keep = 0 if part.start == 0 else 1
        steps += [*fill, partial(torch.addmm, sums, *factors, beta=keep, out=sums)]
    return steps


def input_gradient(
    g: Geometry, dy: Tensor, w: Tensor, dx: Tensor, workspace: Workspace
) -> list[Run]:
    """dx = pixels times transposed filters; the products are added to the images tap by tap."""
    weights, steps = contiguous(w.permute(2, 3, 1, 0), workspace)
    pixels, more = contiguous(dy.permute(0, 2, 3, 1), workspace)
    factors, given = weights.view(g.taps, g.o).t(), pixels.view(-1, g.o)
    products, steps = room(g, dx, workspace), [*steps, *more, *([dx.zero_] if g.crops else [])]
    spare = frame(g, dx, len(products), partial(scratch, workspace))
    for part in parts(g, dx):
        images = spare[: part.stop - part.start]
        rows = products[: len(images)]
        into, targets = rows.view(-1, g.taps), windows(g, images).permute(AS_ROWS)
        taps = rows.view(targets.shape)
        steps += [images.zero_, partial(torch.mm, given[_rows(g, part)], factors, out=into)]
        for u, v in product(*map(range, g.kernel)):
            steps.append(partial(targets[:, :, :, u, v].add_, taps[:, :, :, u, v]))
        steps.append(partial(inner(g, dx[part], -1).copy_, inner(g, images, 1)))
    return steps


def _rows(g: Geometry, part: slice) -> slice:
    return slice(part.start * g.pixels, part.stop * g.pixels)
