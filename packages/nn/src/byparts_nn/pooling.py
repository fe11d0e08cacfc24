"""Pooling: the maximum or the mean of each window, along one, two or three axes."""

from __future__ import annotations

from typing import ClassVar

import byparts_opset as ops
from byparts_graph_ir import ShapeError, Value
from byparts_nn.module import Module
from byparts_nn.windows import Padding, Sizes, inner, sides, sizes


class Pooling(Module):
    """The maximum, or the mean, of each window: `MaxPool1d`, `AveragePool2d` and the others.

    Args:
        window: its extents: a number, or one for each axis.
        stride: how far windows stand apart; they lie side by side by default.
        padding: elements around x, which count for no maximum; a mean counts them as zeros.
    """

    axes: ClassVar[int]
    mean: ClassVar[bool]

    def __init__(self, window: Sizes, *, stride: Sizes | None = None, padding: Padding = 0) -> None:
        name = type(self).__name__
        self.window = sizes(f"{name}: window", window, self.axes)
        self.stride = self.window if stride is None else sizes(f"{name}: stride", stride, self.axes)
        self.padding = sides(name, padding, self.axes)

    def __call__(self, x: Value) -> Value:
        """[n, channels, *extents] -> [n, channels, *extents]."""
        if len(x.type.shape or ()) != self.axes + 2:
            name = type(self).__name__
            raise ShapeError(f"{name}: x is {x.type}; it takes [n, channels and {self.axes} axes]")
        if self.axes == 1:
            return ops.squeeze(self._images(ops.expand_dims(x, 2), None, 0), 2)
        if self.axes == 2:
            return self._images(x, 0, 1)
        # The maximum of a block is that of its depths' maxima; and so for means.
        channels, depth, *extents = inner(x)
        y = self._images(ops.reshape(x, (-1, channels * depth, *extents)), 1, 2)
        extents = list(inner(y)[1:])
        y = self._images(ops.reshape(y, (-1, channels, depth, extents[0] * extents[1])), 0, None)
        return ops.reshape(y, (-1, channels, inner(y)[1], *extents))

    def _images(self, x: Value, rows: int | None, columns: int | None) -> Value:
        """Pool images; `rows` and `columns` are axes of the window, `None` where nothing is."""
        window, stride = (
            tuple([1 if axis is None else field[axis] for axis in (rows, columns)])
            for field in (self.window, self.stride)
        )
        around = self.padding
        if not isinstance(around, str):
            around = tuple([(0, 0) if axis is None else around[axis] for axis in (rows, columns)])
        pool = ops.average_pool if self.mean else ops.max_pool
        more = {"count_include_pad": not isinstance(around, str)} if self.mean else {}
        return pool(x, window, stride, around, **more)  # type: ignore[arg-type]  # pairs


class MaxPool1d(Pooling):
    """The maximum of each window of sequences; see `Pooling`."""

    axes, mean = 1, False


class MaxPool2d(Pooling):
    """The maximum of each window of images; see `Pooling`."""

    axes, mean = 2, False


class MaxPool3d(Pooling):
    """The maximum of each window of volumes; see `Pooling`."""

    axes, mean = 3, False


class AveragePool1d(Pooling):
    """The mean of each window of sequences; see `Pooling`."""

    axes, mean = 1, True


class AveragePool2d(Pooling):
    """The mean of each window of images; see `Pooling`."""

    axes, mean = 2, True


class AveragePool3d(Pooling):
    """The mean of each window of volumes; see `Pooling`."""

    axes, mean = 3, True


class GlobalAveragePool(Module):
    """[n, channels, *extents] -> [n, channels], the mean of each channel."""

    def __call__(self, x: Value) -> Value:
        """A row for each example."""
        return ops.mean(x, tuple(range(2, len(x.type.shape or ()))))


class GlobalMaxPool(Module):
    """[n, channels, *extents] -> [n, channels], the maximum of each channel."""

    def __call__(self, x: Value) -> Value:
        """A row for each example."""
        return ops.max(x, tuple(range(2, len(x.type.shape or ()))))
