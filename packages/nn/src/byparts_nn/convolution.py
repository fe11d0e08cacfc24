"""Convolutional layers; a filter is stored [out, in, *window], as in PyTorch."""

from __future__ import annotations

from typing import Any, ClassVar

import byparts_opset as ops
from byparts_graph_ir import GraphError, ShapeError, Value
from byparts_nn.convolve import convolve, convolve_transposed
from byparts_nn.initialize import Initializer, lecun
from byparts_nn.linear import by_fan_of
from byparts_nn.module import Module
from byparts_nn.parameter import Parameter, size
from byparts_nn.windows import Padding, Sizes, sides, sizes


class Convolution(Module):
    """Products of windows with filters, + bias: `Conv1d`, `ConvTranspose1d` and the others.

    A transposed one goes from the y of a convolution with its attributes back to the shape of x;
    its weight is [in, out / groups, *window], as in PyTorch.

    Args:
        inputs: channels of x; `None` is found when the layer is first called.
        outputs: channels of y; `groups` divides both.
        window: the extents of a filter: a number, or one for each axis.
        stride: how far windows stand apart.
        padding: zeros around x: a number, one for each axis, pairs (before, after), or "SAME".
        output_padding: of a transposed one, elements at the end of y that no window reaches: with a
            stride over 1, several extents of y go with one of x.
        dilation: how far the elements under a window stand apart.
        groups: each group of outputs sees one group of inputs.
        bias: whether there is one.
        initializer: of the weight.
    """

    axes: ClassVar[int]
    transposed: ClassVar[bool] = False

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
        if groups < 1 or outputs % groups or (inputs or 0) % groups:
            raise GraphError(f"{name}: {groups} groups of {inputs} inputs and {outputs} outputs")
        if output_padding and not self.transposed:
            raise GraphError(f"{name}: output_padding is for transposed convolutions")
        self.outputs, self.groups = outputs, groups
        shape = (*self._channels(inputs), *sizes(f"{name}: window", window, n))
        self.weight: Any = Parameter(shape, initializer or lecun(), dtype)
        draw = by_fan_of(self.cell("weight"))
        self.bias: Any = Parameter((outputs,), draw, dtype) if bias else None
        self.stride = sizes(f"{name}: stride", stride, n)
        self.dilation = sizes(f"{name}: dilation", dilation, n)
        self.output_padding = sizes(f"{name}: output_padding", output_padding, n)
        self.padding = sides(name, padding, n)

    def __call__(self, x: Value) -> Value:
        """[n, in, *extents] -> [n, out, *extents]."""
        shape, cell = x.type.shape or (), self.cell("weight")
        if len(shape) != self.axes + 2 or not isinstance(shape[1], int):
            what = f"it takes [n, channels and {self.axes} axes more]"
            raise ShapeError(f"{type(self).__name__}: x is {x.type}; {what}")
        size(cell, (*self._channels(shape[1]), *(cell.type.shape or ())[2:]))
        how = (self.stride, self.padding, self.dilation, self.groups)
        if self.transposed:
            y = convolve_transposed(x, self.weight, *how, self.output_padding)
        else:
            y = convolve(x, self.weight, *how)
        axes = tuple(range(1, self.axes + 1))
        return y if self.bias is None else y + ops.expand_dims(self.bias, axes)

    def _channels(self, inputs: int | None) -> tuple[int | None, int | None]:
        """The first two sizes of the weight."""
        if self.transposed:
            return inputs, self.outputs // self.groups
        return self.outputs, None if inputs is None else inputs // self.groups


class Conv1d(Convolution):
    """A convolution of sequences, [n, in, length]; see `Convolution`."""

    axes = 1


class Conv2d(Convolution):
    """A convolution of images, [n, in, height, width]; see `Convolution`."""

    axes = 2


class Conv3d(Convolution):
    """A convolution of volumes, [n, in, depth, height, width]; see `Convolution`."""

    axes = 3


class ConvTranspose1d(Convolution):
    """A transposed convolution of sequences; see `Convolution`."""

    axes, transposed = 1, True


class ConvTranspose2d(Convolution):
    """A transposed convolution of images; see `Convolution`."""

    axes, transposed = 2, True


class ConvTranspose3d(Convolution):
    """A transposed convolution of volumes; see `Convolution`."""

    axes, transposed = 3, True
