"""Convolution and its gradients as products of matrices; `patches.py` says how patches are laid.

f32, NCHW, CPU ms on one thread of a 2.3 GHz AVX-512 Xeon, NumPy 2.4 with OpenBLAS, batch 100;
`*` marks what runs here.  "gemm" is the product alone, on patches that are already there.

    image * filter              gemm  columns  rows   chwn   tap   | y here   dx here  dw here
    1x28x28   * 20x5x5           0.7    1.0*    3.2    1.8   45.5  |   0.9      2.5      1.2
    20x12x12  * 50x5x5           2.7    5.7     4.0*   4.6    6.2  |   3.9      6.5      3.8
    16x32x32  * 16x3x3 same      6.6   11.7    16.1*  14.5   19.0  |  10.7     10.6     10.9
    32x16x16  * 32x3x3 same      7.4    9.0     7.1*  10.8   10.9  |   6.8      6.8      6.7
    64x8x8    * 64x3x3 same      3.6    7.5     4.7*   6.5    6.6  |   4.7      4.6      4.8
    16x32x32  * 32x3x3 stride 2  2.4    5.1     4.4*  12.6    9.6  |   4.5     10.1      4.6

    dx                        columns, added  rows, added  tap, added  reversed
    20x12x12  * 50x5x5             11.7           8.6          7.0*      12.5
    32x16x16  * 32x3x3 same        19.1          15.8         11.1        7.4*
    16x32x32  * 32x3x3 stride 2     9.9          10.1          9.9*      22.9

    dw                          columns  rows
    1x28x28   * 20x5x5            1.1*    3.6
    20x12x12  * 50x5x5            7.3     4.2*
    64x8x8    * 64x3x3 same       9.5     4.8*

"chwn" puts the batch last, so that all copies are long; turning x and y costs what that gains.
"tap" multiplies and adds once for each element of the kernel, without patches.  NHWC is as fast,
or faster by the turning it saves.  Chunks of 128 KiB to 2 MiB make no difference beyond noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.patches import (
    FEW_CHANNELS,
    Geometry,
    PaddedImages,
    geometry,
    merged,
    patches,
    pixel_matrix,
    reversed_geometry,
    split_filter,
    split_images,
    windows,
)
from byparts_kernels_numpy.plain import in_turn, plain
from byparts_kernels_numpy.table import allocates, kernels
from byparts_kernels_numpy.workspace import Shared, empty
from byparts_opset.conv2d import Conv2d, Conv2dFilterGradient, Conv2dTranspose
from byparts_opset.dtypes import Array

allocates[Conv2dTranspose] = (
    "three of NumPy's buffers, 8192 elements each, to add to strided images"
)


@kernels.on(Conv2d, workspace=True)
@plain
def conv2d(
    op: Conv2d, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    """Patches times filters."""
    (x, w), (y,) = inputs, outputs
    if 0 in (x.size, w.size, y.size):
        return partial(y.fill, 0)
    images, pixels = split_images(op, x), split_images(op, y)
    return _forward(geometry(op, x, w), images, split_filter(op, w), pixels, Shared(workspace))


@kernels.on(Conv2dTranspose, workspace=True)
@plain
def conv2d_transpose(
    op: Conv2dTranspose, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    """dx, by a convolution of dy with the reversed filter, or by products that are added up."""
    (x, w), (y,) = inputs, outputs
    if 0 in (x.size, w.size, y.size):
        return partial(y.fill, 0)
    g, pixels, images = geometry(op, y, w), split_images(op, x), split_images(op, y)
    weights, shared = split_filter(op, w), Shared(workspace)
    if _reversible(g):
        reversed_weights = weights[..., ::-1, ::-1].transpose(0, 2, 1, 3, 4)
        return _forward(reversed_geometry(g), pixels, reversed_weights, images, shared)
    scatter = _scatter_rows if g.rows else _scatter_columns
    return scatter(g, pixels, weights, images, shared)


@kernels.on(Conv2dFilterGradient, workspace=True)
def conv2d_filter_gradient(
    op: Conv2dFilterGradient,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    workspace: Workspace,
) -> Run:
    """Patches times pixels."""
    return _filter_gradient(op, inputs[:2], outputs, workspace)  # the third is never read


@plain
def _filter_gradient(
    op: Conv2dFilterGradient,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    workspace: Workspace,
) -> Run:
    (x, dy), (dw,) = inputs, outputs
    if 0 in (x.size, dy.size, dw.size):
        return partial(dw.fill, 0)
    g, weights = geometry(op, x, dw), split_filter(op, dw)
    images, pixels = split_images(op, x), split_images(op, dy)
    ordered = weights.transpose(0, 3, 4, 2, 1) if g.rows else weights
    total = empty(workspace, ordered.shape, dw.dtype)
    sums = total.reshape(g.groups, *((g.taps, g.o) if g.rows else (g.o, g.taps)))
    steps = _sum_filters(g, images, pixels, sums, Shared(workspace))
    return in_turn([*steps, partial(np.copyto, ordered, total)])


def _forward(g: Geometry, x: Array, w: Array, y: Array, shared: Shared) -> Run:
    weights, steps = _weights(g, w, shared)
    for chunk, copies, matrix in patches(g, x, shared):
        pixels, part, staged = pixel_matrix(g, y, chunk, shared)
        factors = (matrix, weights) if g.rows else (weights, matrix)
        steps += [*copies, partial(np.matmul, *factors, pixels)]
        if staged is not part:
            steps.append(partial(np.copyto, part, staged))
    return in_turn(steps)


def _weights(g: Geometry, w: Array, shared: Shared) -> tuple[Array, list[Run]]:
    """The filter as [group, taps, o] for rows, [group, o, taps] for columns; how to fill it."""
    ordered = w.transpose(0, 3, 4, 2, 1) if g.rows else w
    shape = (g.groups, *((g.taps, g.o) if g.rows else (g.o, g.taps)))
    matrix = merged(ordered, shape)
    if matrix is not None:
        return matrix, []
    copy = shared.take("weights", ordered.shape, w.dtype)
    return copy.reshape(shape), [partial(np.copyto, copy, ordered)]


def _sum_filters(g: Geometry, x: Array, dy: Array, sums: Array, shared: Shared) -> list[Run]:
    """Patches times pixels; rows are summed over images by the product, columns after it."""
    steps: list[Run] = []
    for k, (chunk, copies, matrix) in enumerate(patches(g, x, shared)):
        into = shared.take("more", sums.shape, sums.dtype) if k else sums
        pixels, part, staged = pixel_matrix(g, dy, chunk, shared)
        steps += copies
        if staged is not part:
            steps.append(partial(np.copyto, staged, part))
        if g.rows:
            steps.append(partial(np.matmul, matrix.transpose(0, 2, 1), pixels, into))
        else:
            products = shared.take("products", (len(pixels), *sums.shape), dy.dtype)
            steps.append(partial(np.matmul, pixels, matrix.transpose(0, 1, 3, 2), products))
            steps.append(partial(np.add.reduce, products, 0, None, into))
        if k:
            steps.append(partial(np.add, sums, into, sums))
    return steps


def _scatter_columns(g: Geometry, dy: Array, w: Array, x: Array, shared: Shared) -> Run:
    """All patches at once, then each tap of them added to the images."""
    weights, steps = _weights(g, w, shared)
    frames = PaddedImages(g, x, False, shared)
    for chunk in g.chunks(g.taps * x.itemsize):
        frame, before, after = frames.to_add_to(chunk)
        pixels, part, _ = pixel_matrix(g, dy, chunk, shared)
        products = shared.take(
            "products", (len(pixels), g.groups, g.taps, pixels.shape[-1]), x.dtype
        )
        steps += [*before, partial(np.matmul, weights.transpose(0, 2, 1), pixels, products)]
        taps = products.reshape(*part.shape[:2], g.i, *g.kernel, *part.shape[3:])
        targets = windows(g, frame)[..., chunk.top : chunk.bottom, :]
        for u, v in np.ndindex(g.kernel):
            target = targets[:, :, :, u, v]
            steps.append(partial(np.add, target, taps[:, :, :, u, v], target))
        steps += after
    return in_turn(steps)


def _scatter_rows(g: Geometry, dy: Array, w: Array, x: Array, shared: Shared) -> Run:
    """Multiply for each tap, and add the product to the images while it is in cache."""
    ordered = w.transpose(3, 4, 0, 1, 2)  # [u, v, group, o, i]
    weights = merged(ordered, ordered.shape)
    steps: list[Run] = []
    if weights is None:
        weights = shared.take("weights", ordered.shape, w.dtype)
        steps.append(partial(np.copyto, weights, ordered))
    frames = PaddedImages(g, x, g.layout == "NCHW", shared)
    for chunk in g.chunks((2 * g.i + g.o) * x.itemsize):
        frame, before, after = frames.to_add_to(chunk)
        pixels, part, staged = pixel_matrix(g, dy, chunk, shared)
        steps += before
        if staged is not part:
            steps.append(partial(np.copyto, staged, part))
        m, _, _, p, q = part.shape
        product = shared.take("products", (m, p, q, g.groups, g.i), x.dtype)
        into = product.reshape(m * p * q, g.groups, g.i).transpose(1, 0, 2)
        targets = windows(g, frame)[..., chunk.top : chunk.bottom, :]
        for u, v in np.ndindex(g.kernel):
            target = targets[:, :, :, u, v]
            steps.append(partial(np.matmul, pixels, weights[u, v], into))
            steps.append(partial(np.add, target, product.transpose(0, 3, 4, 1, 2), target))
        steps += after
    return in_turn(steps)


def _reversible(g: Geometry) -> bool:
    """Whether a convolution of the pixels is faster than adding patches to the images.

    It adds nothing in memory, but makes a patch for each element of x, of which y may have fewer.
    """
    if g.strides != (1, 1):
        return False
    small = g.extents[0] * g.extents[1] <= 1.5 * g.counts[0] * g.counts[1]
    return g.pointwise or (small and g.i >= FEW_CHANNELS)
