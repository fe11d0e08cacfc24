"""Convolutional layers; a filter is stored [out, in, *window], as in PyTorch."""

from __future__ import annotations

from typing import ClassVar

import byparts_opset as ops
from byparts_graph_ir import GraphError, ShapeError, Value
from byparts_nn.convolve import convolve, convolve_transposed
from byparts_nn.initialize import Initializer, lecun
from byparts_nn.linear import by_fan_of
from byparts_nn.module import Module
from byparts_nn.parameter import Parameter, size
from byparts_nn.windows import Padding, Sizes, sides, sizes


class Convolution(Module):
    """What `Conv1d`, `Conv2d` and `Conv3d` have in common: y = x convolved with weight, + bias.

    Args:
        inputs: channels of x; `None` is found when the layer is first called.
        outputs: channels of y; `groups` divides both.
        window: the extents of a filter: a number, or one for each axis.
        stride: how far windows stand apart.
        padding: zeros around x: a number, one for each axis, pairs (before, after), or "SAME".
        dilation: how far the elements under a window stand apart.
        groups: each group of outputs sees one group of inputs.
        bias: whether there is one.
        initializer: of the weight.
    """

    axes: ClassVar[int]

    def __init__(
        self,
        inputs: int | None,
        outputs: int,
        window: Sizes,
        *,
        stride: Sizes = 1,
        padding: Padding = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        initializer: Initializer | None = None,
        dtype: str = "f32",
    ) -> None:
        name, n = type(self).__name__, self.axes
        _check_groups(name, inputs, outputs, groups)
        inside = None if inputs is None else inputs // groups
        shape = (outputs, inside, *sizes(f"{name}: window", window, n))
        self.weight = Parameter(shape, initializer or lecun(), dtype)
        self.bias = Parameter((outputs,), by_fan_of(self.cell("weight")), dtype) if bias else None
        self.stride = sizes(f"{name}: stride", stride, n)
        self.dilation = sizes(f"{name}: dilation", dilation, n)
        self.padding, self.groups = sides(name, padding, n), groups

    def __call__(self, x: Value) -> Value:
        """[n, in, *extents] -> [n, out, *extents]."""
        channels = _channels(type(self).__name__, self.axes, x)
        shape = self.cell("weight").type.shape or ()
        size(self.cell("weight"), (shape[0], channels // self.groups, *shape[2:]))  # type: ignore[arg-type]  # these are known
        y = convolve(x, self.weight, self.stride, self.padding, self.dilation, self.groups)
        return _with_bias(y, self.bias)


class Conv1d(Convolution):
    """A convolution of sequences, [n, in, length]; see `Convolution`."""

    axes = 1


class Conv2d(Convolution):
    """A convolution of images, [n, in, height, width]; see `Convolution`."""

    axes = 2


class Conv3d(Convolution):
    """A convolution of volumes, [n, in, depth, height, width]; see `Convolution`."""

    axes = 3


class TransposedConvolution(Module):
    """What `ConvTranspose1d`, `ConvTranspose2d` and `ConvTranspose3d` have in common.

    The layer goes from the y of a convolution with these attributes back to the shape of its x.  The
    weight is stored [in, out / groups, *window], as in PyTorch.

    Args:
        inputs: channels of x; `None` is found when the layer is first called.
        outputs: channels of y; `groups` divides both.
        window, stride, padding, dilation, groups, bias, initializer: as in `Convolution`.
        output_padding: elements at the end of y that no window reaches: several extents of y go
            with one of x where the stride is over 1.
    """

    axes: ClassVar[int]

    def __init__(
        self,
        inputs: int | None,
        outputs: int,
        window: Sizes,
        *,
        stride: Sizes = 1,
        padding: Padding = 0,
        output_padding: Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        initializer: Initializer | None = None,
        dtype: str = "f32",
    ) -> None:
        name, n = type(self).__name__, self.axes
        _check_groups(name, inputs, outputs, groups)
        shape = (inputs, outputs // groups, *sizes(f"{name}: window", window, n))
        self.weight = Parameter(shape, initializer or lecun(), dtype)
        self.bias = Parameter((outputs,), by_fan_of(self.cell("weight")), dtype) if bias else None
        self.stride = sizes(f"{name}: stride", stride, n)
        self.dilation = sizes(f"{name}: dilation", dilation, n)
        self.output_padding = sizes(f"{name}: output_padding", output_padding, n)
        self.padding, self.groups = sides(name, padding, n), groups

    def __call__(self, x: Value) -> Value:
        """[n, in, *extents] -> [n, out, *extents]."""
        channels = _channels(type(self).__name__, self.axes, x)
        shape = self.cell("weight").type.shape or ()
        size(self.cell("weight"), (channels, *shape[1:]))  # type: ignore[arg-type]  # these are known
        how = (self.stride, self.padding, self.dilation, self.groups, self.output_padding)
        return _with_bias(convolve_transposed(x, self.weight, *how), self.bias)


class ConvTranspose1d(TransposedConvolution):
    """A transposed convolution of sequences; see `TransposedConvolution`."""

    axes = 1


class ConvTranspose2d(TransposedConvolution):
    """A transposed convolution of images; see `TransposedConvolution`."""

    axes = 2


class ConvTranspose3d(TransposedConvolution):
    """A transposed convolution of volumes; see `TransposedConvolution`."""

    axes = 3


def _check_groups(name: str, inputs: int | None, outputs: int, groups: int) -> None:
    if groups < 1 or outputs % groups or (inputs or 0) % groups:
        raise GraphError(f"{name}: {groups} groups of {inputs} inputs and {outputs} outputs")


def _channels(name: str, axes: int, x: Value) -> int:
    shape = x.type.shape or ()
    if len(shape) != axes + 2 or not isinstance(shape[1], int):
        raise ShapeError(f"{name}: x is {x.type}; it takes [n, channels and {axes} axes more]")
    return shape[1]


def _with_bias(y: Value, bias: Value | None) -> Value:
    axes = tuple(range(1, len(y.type.shape or ()) - 1))
    return y if bias is None else y + ops.expand_dims(bias, axes)
