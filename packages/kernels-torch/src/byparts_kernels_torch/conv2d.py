"""Convolution and its gradients: torch's, or products of matrices.

torch's convolution has no `out=`: its result is copied into the plan's memory.  It pads both sides
alike; for other paddings x is copied into larger images, and cropping is a view.  f32, ms on one
thread of a 2-core AVX-512 Xeon, best of nine; torch without that copy, then what runs here:

                                            y             dx             dw
    100x1x28x28   * 20x5x5             1.4   0.8 p    11.6   1.1 p    1.4   1.3
    32x3x32x32    * 64x3x3 same        1.6   1.1 p     6.2   1.2 p    1.7   1.6
    100x20x12x12  * 50x5x5             4.9   3.3 t     4.6   4.7      5.4   3.7 t
    32x64x32x32   * 64x3x3 same       24.1  18.8 i    25.2  20.9 i   25.7  26.2
    32x128x16x16  * 128x3x3 same      14.5  15.0      15.0  15.3     15.6  15.7
    32x256x8x8    * 256x3x3 same      13.8  14.0      13.9  14.4     17.0  17.6
    32x512x4x4    * 512x3x3 same      14.8  14.9      12.9  13.2     23.8  25.7
    1x512x4x4     * 512x3x3 same      0.75  0.74      0.97  0.97     1.24  0.73 p
    32x64x32x32   * 128x3x3 stride 2   8.4   9.0      13.3  14.4     10.3  10.5
    32x64x32x32   * 128x1x1 stride 2   2.4   1.3 m     6.6   1.7 m    2.6   1.6 m
    32x256x8x8    * 256x1x1            2.1   1.7 m     2.2   1.8 m    2.3   1.9 m
    NHWC (torch is given filters that are transposed already)
    100x28x28x1   * 5x5x20             1.4   1.0 p    11.4   7.9      2.1   2.0
    100x12x12x20  * 5x5x50             2.8   3.0       4.3   4.5      3.2   3.2
    32x8x8x256    * 3x3x256 same      14.0  15.4      14.4  15.6     16.5  17.5
    32x4x4x512    * 3x3x512 same      26.2  17.2 r    25.2  24.5 r   29.3  22.1 r

    p  patches (`patches.py`)       patches of few elements, images of few channels, integers
    r  rows (`rows.py`)             channels last, hardly more pixels than filters
    m  product                      1x1 kernels: no patches
    t  channels last                copied so to scratch memory: oneDNN wants 16 at a time else
    i  in parts                     8 MiB of images and more, laid out anew by oneDNN

Measured and not taken: filters laid out by oneDNN beforehand (they change at each step of training,
and doing that takes what it saves), adding onto zeros in place of the copy (as slow), thnn_conv2d,
whose `out=` is real (1 to 4 times as slow but for one input channel).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch import patches, rows
from byparts_kernels_torch.conv2d_choice import filter_by, forward_by, input_by
from byparts_kernels_torch.elementwise import filled
from byparts_kernels_torch.patches import Geometry, frame, geometry, inner
from byparts_kernels_torch.refuse import floats_only_on_gpu
from byparts_kernels_torch.table import Tensor, Tensors, allocates, kernels
from byparts_kernels_torch.wide import in_turn, widened_on_cpu
from byparts_kernels_torch.workspace import kept, scratch
from byparts_opset.conv2d import Conv2d, Conv2dFilterGradient, Conv2dTranspose
from byparts_opset.convolution import TO_OIHW, Convolution
from byparts_opset.window import TO_NCHW, Pair

_REASON = "torch's convolution has no out=: what it returns is copied"
allocates.update(dict.fromkeys((Conv2d, Conv2dTranspose, Conv2dFilterGradient), _REASON))

PART_BYTES = 1 << 21  # of images that torch is given at a time: it lays them out anew for itself
LEAST_BYTES = 1 << 20  # from which on they are given in two parts at least

convolution_backward = torch.ops.aten.convolution_backward.default


@kernels.on(Conv2d, workspace=True)
@floats_only_on_gpu
@widened_on_cpu
def conv2d(op: Conv2d, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    x, w, y = _images(op, inputs[0]), _filter(op, inputs[1]), _images(op, outputs[0])
    if 0 in (x.numel(), w.numel(), y.numel()):
        return filled(y, 0)
    g = geometry(op, x, w)
    return in_turn(_FORWARD[forward_by(g, x)](g, x, w, y, workspace))


@kernels.on(Conv2dTranspose, workspace=True)
@floats_only_on_gpu
@widened_on_cpu
def conv2d_transpose(
    op: Conv2dTranspose, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    """The gradient of the input of a convolution whose input has the shape of the output here."""
    dy, w, dx = _images(op, inputs[0]), _filter(op, inputs[1]), _images(op, outputs[0])
    if 0 in (dy.numel(), w.numel(), dx.numel()):
        return filled(dx, 0)
    g = geometry(op, dx, w)
    return in_turn(_INPUT[input_by(g, dx)](g, dy, w, dx, workspace))


@kernels.on(Conv2dFilterGradient, workspace=True)
@floats_only_on_gpu
@widened_on_cpu
def conv2d_filter_gradient(
    op: Conv2dFilterGradient, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    """The third input gives the shape of dw and is not read."""
    x, dy, dw = _images(op, inputs[0]), _images(op, inputs[1]), _filter(op, outputs[0])
    if 0 in (x.numel(), dy.numel(), dw.numel()):
        return filled(dw, 0)
    g = geometry(op, x, dw)
    return in_turn(_FILTER[filter_by(g, x)](g, x, dy, dw, workspace))


def _forward_by_torch(
    g: Geometry, x: Tensor, w: Tensor, y: Tensor, workspace: Workspace
) -> list[Run]:
    padding, framed, steps = _padded(g, x, workspace)
    filter, more = _filter_last(g, w, workspace)
    how = (None, g.strides, padding, g.dilations, False, (0, 0), g.groups)
    steps += more
    for part in _parts(g, framed, w, y):
        compute = partial(torch.convolution, framed[part], filter, *how)
        steps.append(partial(_copy, y[part], compute))
    return steps


def _forward_channels_last(
    g: Geometry, x: Tensor, w: Tensor, y: Tensor, workspace: Workspace
) -> list[Run]:
    (images, before), (filter, more) = _channels_last(x, workspace), _channels_last(w, workspace)
    return [
        *before,
        *more,
        *_forward_by_torch(replace(g, layout="NHWC"), images, filter, y, workspace),
    ]


def _forward_product(
    g: Geometry, x: Tensor, w: Tensor, y: Tensor, workspace: Workspace
) -> list[Run]:
    matrix, steps, _ = _as_matrix(g, _sampled(g, x), workspace)
    into, _, after = _as_matrix(g, y, workspace)
    weights = w[:, :, 0, 0]
    if g.layout == "NHWC":
        return [*steps, partial(torch.mm, matrix, weights.t(), out=into), *after]
    one = weights.expand(g.images, -1, -1)
    return [*steps, partial(torch.bmm, one, matrix, out=into), *after]


def _input_by_torch(
    g: Geometry, dy: Tensor, w: Tensor, dx: Tensor, workspace: Workspace
) -> list[Run]:
    """torch's kernel, which reads the input of the convolution for its shape alone.

    It is given dx, or larger images where the padding differs between sides or crops.
    """
    padding, (filter, steps) = g.padding, _filter_last(g, w, workspace)
    like = frame(g, dx, g.images, partial(scratch, workspace)) if padding is None else dx
    how = (None, g.strides, padding or (0, 0), g.dilations, False, (0, 0), g.groups)
    if padding is None and g.crops:
        steps.append(dx.zero_)
    for part in _parts(g, dx, w, dy):
        only = (True, False, False)
        compute = partial(convolution_backward, dy[part], like[part], filter, *how, only)
        if padding is None:
            steps.append(partial(_copy_inner, g, inner(g, dx[part], -1), compute))
        else:
            steps.append(partial(_copy_input_gradient, dx[part], compute))
    return steps


def _input_product(
    g: Geometry, dy: Tensor, w: Tensor, dx: Tensor, workspace: Workspace
) -> list[Run]:
    pixels, steps, _ = _as_matrix(g, dy, workspace)
    part, weights = _sampled(g, dx), w[:, :, 0, 0]
    into, _, after = _as_matrix(g, part, workspace)
    if part.shape != dx.shape:
        steps.append(dx.zero_)
    if g.layout == "NHWC":
        return [*steps, partial(torch.mm, pixels, weights, out=into), *after]
    one = weights.t().expand(g.images, -1, -1)
    return [*steps, partial(torch.bmm, one, pixels, out=into), *after]


def _filter_by_torch(
    g: Geometry, x: Tensor, dy: Tensor, dw: Tensor, workspace: Workspace
) -> list[Run]:
    """torch's kernel, for some images at a time; it reads the filter for its shape alone."""
    padding, framed, steps = _padded(g, x, workspace)
    parts = _parts(g, x, dw, dy, PART_BYTES // 2)
    for part in parts:
        steps += _filter_part(g, padding, framed[part], dy[part], dw, part.start > 0, workspace)
    return steps


def _filter_channels_last(
    g: Geometry, x: Tensor, dy: Tensor, dw: Tensor, workspace: Workspace
) -> list[Run]:
    """torch's kernel on copies of x and dy with the channels last, for some images at a time."""
    padding, framed, steps = _padded(g, x, workspace)
    parts = _parts(g, x, dw, dy, PART_BYTES // 2)
    images, pixels = (_channels_last(t[parts[0]], workspace)[0] for t in (framed, dy))
    last = replace(g, layout="NHWC")
    for part in parts:
        some = slice(0, len(dy[part]))
        steps += [partial(images[some].copy_, framed[part]), partial(pixels[some].copy_, dy[part])]
        steps += _filter_part(
            last, padding, images[some], pixels[some], dw, part.start > 0, workspace
        )
    return steps


def _filter_part(
    g: Geometry,
    padding: Pair,
    x: Tensor,
    dy: Tensor,
    dw: Tensor,
    more: bool,
    workspace: Workspace,
) -> list[Run]:
    """The filter gradient of some images: written to dw, or added to it if `more`.

    Args:
        g: the convolution.
        padding: of x, along height and width.
        x: these images, [n, c, h, w].
        dy: their gradients, [n, o, p, q].
        dw: [o, i, u, v].
        more: whether dw has the sum over earlier images already.
        workspace: of the kernel.
    """
    like, _ = patches.contiguous(dw, workspace)
    how = (None, g.strides, padding, g.dilations, False, (0, 0), g.groups)
    compute = partial(convolution_backward, dy, x, like, *how, (False, True, False))
    into = dw.permute(2, 3, 1, 0)
    if more:
        return [partial(_add_filter_gradient, dw, compute)]
    if into.is_contiguous():
        return [partial(_copy_filter_gradient_hwio, into.view(-1, dw.shape[0]), compute)]
    return [partial(_copy_filter_gradient, dw, compute)]


def _filter_product(
    g: Geometry, x: Tensor, dy: Tensor, dw: Tensor, workspace: Workspace
) -> list[Run]:
    (matrix, steps, _), (pixels, more, _) = (
        _as_matrix(g, _sampled(g, x), workspace),
        _as_matrix(g, dy, workspace),
    )
    sums = dw[:, :, 0, 0]
    if g.layout == "NHWC":
        return [*steps, *more, partial(torch.mm, matrix.t(), pixels, out=sums.t())]
    add = partial(torch.addbmm, sums, pixels, matrix.transpose(1, 2), beta=0, out=sums)
    return [*steps, *more, add]


_FORWARD = {
    "torch": _forward_by_torch,
    "channels last": _forward_channels_last,
    "product": _forward_product,
    "patches": patches.forward,
    "rows": rows.forward,
    "rows from columns": rows.forward_by_columns,
}
_INPUT = {
    **{"torch": _input_by_torch, "product": _input_product},
    **{"patches": patches.input_gradient, "rows": rows.input_gradient},
}
_FILTER = {
    "torch": _filter_by_torch,
    "channels last": _filter_channels_last,
    "product": _filter_product,
    "patches": patches.filter_gradient,
    "rows": rows.filter_gradient,
}


def _copy(y: Tensor, compute: Callable[[], Tensor]) -> None:
    y.copy_(compute())


def _copy_input_gradient(dx: Tensor, compute: Callable[[], Sequence[Tensor]]) -> None:
    dx.copy_(compute()[0])


def _copy_filter_gradient(dw: Tensor, compute: Callable[[], Sequence[Tensor]]) -> None:
    dw.copy_(compute()[1])


def _add_filter_gradient(dw: Tensor, compute: Callable[[], Sequence[Tensor]]) -> None:
    dw.add_(compute()[1])


def _copy_filter_gradient_hwio(dw: Tensor, compute: Callable[[], Sequence[Tensor]]) -> None:
    """Copy dw [o, i, u, v] to a matrix [u v i, o]: torch transposes matrices in blocks.

    Tensors of more axes it transposes element by element, which is slower.
    """
    dw.copy_(compute()[1].permute(2, 3, 1, 0).flatten(0, 2))


def _copy_inner(g: Geometry, dx: Tensor, compute: Callable[[], Sequence[Tensor]]) -> None:
    dx.copy_(inner(g, compute()[0], 1))


def _padded(g: Geometry, x: Tensor, workspace: Workspace) -> tuple[Pair, Tensor, list[Run]]:
    """The padding and the images to give to torch, and the runs that fill these images.

    Where torch's own padding cannot give the windows of the op, the images have the border in them.
    """
    if g.padding is not None:
        return g.padding, x, []
    source = inner(g, x, -1)
    if not g.pads:
        return (0, 0), source, []
    images = frame(g, x, g.images, partial(kept, workspace))
    return (0, 0), images, [partial(inner(g, images, 1).copy_, source)]


def _filter_last(g: Geometry, w: Tensor, workspace: Workspace) -> tuple[Tensor, list[Run]]:
    """The filter in the layout that torch wants for these images, and the runs that fill it."""
    if g.layout == "NCHW" or w.is_contiguous(memory_format=torch.channels_last):
        return w, []
    copy, turned = scratch(workspace, w.shape, w, None, torch.channels_last), w.permute(2, 3, 1, 0)
    if not turned.is_contiguous():
        return copy, [partial(copy.copy_, w)]
    matrix = copy.permute(0, 2, 3, 1).view(len(w), -1)
    return copy, [partial(matrix.copy_, turned.view(-1, len(w)).t())]  # in blocks, as above


def _parts(
    g: Geometry, x: Tensor, w: Tensor, y: Tensor, part_bytes: int = PART_BYTES
) -> list[slice]:
    """Slices of the images: one of all, or several where torch would copy much to another layout.

    oneDNN copies the images x and y to its own layout, so a part has at most `part_bytes` of them.
    """
    most = max(x.numel(), y.numel()) * x.element_size()
    few = g.layout == "NHWC" or w.numel() * w.element_size() > PART_BYTES // 2
    if x.device.type != "cpu" or most < LEAST_BYTES or few or g.images < 2:
        return [slice(0, g.images)]
    size = max(1, min(part_bytes * g.images // most, -(-g.images // 2)))
    return [slice(i, min(i + size, g.images)) for i in range(0, g.images, size)]


def _channels_last(x: Tensor, workspace: Workspace) -> tuple[Tensor, list[Run]]:
    """A copy of x [n, c, h, w] with the channels last in memory, and the run that fills it."""
    copy = scratch(workspace, x.shape, x, None, torch.channels_last)
    return copy, [partial(copy.copy_, x)]


def _sampled(g: Geometry, x: Tensor) -> Tensor:
    """The pixels of x that a 1x1 kernel reads, by its strides: a view [n, c, p, q]."""
    view = inner(g, x, -1)[:, :, :: g.strides[0], :: g.strides[1]]
    return view[:, :, : g.counts[0], : g.counts[1]]


def _as_matrix(g: Geometry, x: Tensor, workspace: Workspace) -> tuple[Tensor, list[Run], list[Run]]:
    """x [n, c, p, q] as [n, c, p q], or as [n p q, c] where the channels are last.

    Where no view is such a matrix it is a copy: then also the run that fills the copy from x, and
    the run that writes the copy back to x.
    """
    last = g.layout == "NHWC"
    view = x.permute(0, 2, 3, 1) if last else x
    shape = (-1, x.shape[1]) if last else (*x.shape[:2], -1)
    try:
        return view.view(shape), [], []
    except RuntimeError:
        copy = scratch(workspace, view.shape, x)
        return copy.view(shape), [partial(copy.copy_, view)], [partial(view.copy_, copy)]


def _images(op: Convolution, x: Tensor) -> Tensor:
    return x.permute(TO_NCHW[op.layout])


def _filter(op: Convolution, w: Tensor) -> Tensor:
    return w.permute(TO_OIHW[op.layout])
