"""Chooses the fastest way to compute a convolution and its gradients.

The ways are functions in `conv2d.py`, where the times are that these choices are made by.
"""

from __future__ import annotations

import torch

from byparts_kernels_torch.patches import Geometry
from byparts_kernels_torch.table import Tensor

FEW_TAPS = 100  # elements of a patch up to which patches are faster
FEW_CHANNELS = 3  # of x up to which patches are faster for dx, and x and dy stay as they are for dw
BLOCK = 16  # oneDNN's blocks of channels: f32 in a register


def forward_by(g: Geometry, x: Tensor) -> str:
    """The key in `conv2d._FORWARD` of the fastest way to compute y from x [n, c, h, w]."""
    if not x.dtype.is_floating_point:
        return "patches"
    if x.device.type != "cpu" or g.groups > 1:
        return "torch"
    if g.pointwise:
        return "product"
    if g.taps <= FEW_TAPS:
        return "patches" if g.layout == "NCHW" else "rows from columns"
    if g.layout == "NHWC":
        return "rows" if _few_pixels(g) else "torch"
    return "channels last" if g.i > BLOCK and g.i % BLOCK and x.dtype is torch.float32 else "torch"


def input_by(g: Geometry, dx: Tensor) -> str:
    """The key in `conv2d._INPUT` of the fastest way to compute dx [n, c, h, w]."""
    if not dx.dtype.is_floating_point:
        return "patches"
    if dx.device.type != "cpu" or g.groups > 1:
        return "torch"
    if g.pointwise:
        return "product"
    if g.layout == "NHWC":
        return "rows" if _few_pixels(g) else "torch"
    return "patches" if g.i <= FEW_CHANNELS else "torch"


def filter_by(g: Geometry, x: Tensor) -> str:
    """The key in `conv2d._FILTER` of the fastest way to compute dw, from x [n, c, h, w]."""
    if not x.dtype.is_floating_point:
        return "patches"
    if x.device.type != "cpu" or g.groups > 1:
        return "torch"
    if g.pointwise:
        return "product"
    if g.layout == "NHWC":
        return "rows" if _few_pixels(g) else "torch"
    if g.images == 1 and _few_pixels(g):
        return "patches"
    odd = g.i > FEW_CHANNELS and g.i % BLOCK
    return "channels last" if odd and x.dtype is torch.float32 else "torch"


def _few_pixels(g: Geometry) -> bool:
    """Whether y has at most two pixels a filter, so transposing filters is much of the work."""
    return g.images * g.pixels <= 2 * g.o
