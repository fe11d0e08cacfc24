"""The largest or the mean element under a window that slides over images.

The window never lies on padding alone: padding is less than the window, and with `ceil_mode` (the
last window may stick out behind) no window starts behind the image.  Padding takes no part in a
maximum; a mean counts it only with `count_include_pad`, and never what sticks out.

The gradient of a maximum goes to the first element, row by row, that equals it.  That choice is
made from x and y again, each time; so the gradient of the gradient picks the same elements.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import FLOATS, Node, Sample, ShapeError, TensorType, Types, Value
from byparts_opset.broadcast import meet_types
from byparts_opset.domain import finite
from byparts_opset.dtypes import NUMBERS, Array, least, require, total_dtype
from byparts_opset.pooling import (
    CASES,
    Pool,
    divisors,
    first_maxima,
    images,
    restored,
    type_of_x,
    type_of_y,
    unpadded,
    windows,
)
from byparts_opset.window import TO_NCHW, Pair, offsets, padded, padding_of, pair, remade


class MaxPool(Pool):
    """y[n, c, p, q] = max over u, v of x[n, c, p s + u, q s + v], the window being `ksize`."""

    def infer(self, x: TensorType) -> Types:
        return (type_of_y(self, require(self.name, x, NUMBERS, "cast(x, 'u8') first")),)

    infer_unranked = infer

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        return (type_of_x(self, inputs[0], outputs[0]),)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        counts, around = windows(self, x.shape)
        low = least(x.dtype)
        framed = padded(images(self, x), around, low)
        y = np.full((*framed.shape[:2], *counts), low, framed.dtype)
        for _, _, rows, columns in offsets(self.ksize, counts, self.strides):
            y = np.maximum(y, framed[..., rows, columns])
        return (restored(self, y, x),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,), (y,) = node.inputs, node.outputs
        return (remade(MaxPoolGradient, self)(x, y, dy),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for attributes, shape in CASES:
            yield Sample(cls(*attributes), (TensorType("f32", shape),))


class MaxPoolGradient(Pool):
    """dx: each dy added to the first element of x, in its window, that is y, where y = max_pool(x).

    A window whose maximum is nan passes nothing on.
    """

    def infer(self, x: TensorType, y: TensorType, dy: TensorType) -> Types:
        y = meet_types(self.name, meet_types(self.name, type_of_y(self, x), y), dy)
        return (type_of_x(self, x, y),)

    infer_unranked = infer

    def domain(self, x: Array, y: Array, dy: Array) -> tuple[Array, ...]:
        x = finite(x)
        return (x, *remade(MaxPool, self).evaluate(x), dy)

    def evaluate(self, x: Array, y: Array, dy: Array) -> tuple[Array, ...]:
        _, around = windows(self, x.shape)
        given = images(self, dy)
        dx = np.zeros_like(padded(images(self, x), around))
        with np.errstate(all="ignore"):
            for hit, rows, columns in first_maxima(self, x, y):
                dx[..., rows, columns] += np.where(hit, given, np.zeros_like(given))
        return (restored(self, unpadded(dx, around), x),)

    def gradient(self, node: Node, g: Value) -> tuple[Value | None, ...]:
        x, y, _ = node.inputs
        return (None, None, remade(MaxPoolGradientGradient, self)(x, y, g))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for attributes, shape in CASES:
            op, x = cls(*attributes), TensorType("f32", shape)
            yield Sample(op, (x, type_of_y(op, x), type_of_y(op, x)))


class MaxPoolGradientGradient(Pool):
    """y: of each window the element of g that stands where x is the maximum y (where first)."""

    def infer(self, x: TensorType, y: TensorType, g: TensorType) -> Types:
        x = type_of_x(self, meet_types(self.name, x, g), y)
        return (meet_types(self.name, type_of_y(self, x), y),)

    infer_unranked = infer

    def domain(self, x: Array, y: Array, g: Array) -> tuple[Array, ...]:
        x = finite(x)
        return (x, *remade(MaxPool, self).evaluate(x), g)

    def evaluate(self, x: Array, y: Array, g: Array) -> tuple[Array, ...]:
        framed = padded(images(self, g), windows(self, x.shape)[1])
        result = np.zeros_like(images(self, y))
        for hit, rows, columns in first_maxima(self, x, y):
            result = np.where(hit, framed[..., rows, columns], result)
        return (restored(self, result, y),)

    def gradient(self, node: Node, h: Value) -> tuple[Value | None, ...]:
        x, y, _ = node.inputs
        return (None, None, remade(MaxPoolGradient, self)(x, y, h))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for attributes, shape in CASES:
            op, x = cls(*attributes), TensorType("f32", shape)
            yield Sample(op, (x, type_of_y(op, x), x))


class Averaging(Pool):
    """A mean under each window, which counts its padding with `count_include_pad`."""

    count_include_pad: bool = False

    @classmethod
    def cases(cls) -> Iterator[tuple[Averaging, TensorType]]:
        """Ops and the types of their images, for samples."""
        for attributes, shape in CASES:
            for counted in (False, True):
                yield cls(*(*attributes, counted)), TensorType("f32", shape)


class AveragePool(Averaging):
    """y[n, c, p, q] = mean over u, v of x[n, c, p s + u, q s + v], the window being `ksize`."""

    def infer(self, x: TensorType) -> Types:
        return (type_of_y(self, require(self.name, x, FLOATS)),)

    infer_unranked = infer

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        return (type_of_x(self, inputs[0], outputs[0]),)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        counts, around = windows(self, x.shape)
        framed = padded(images(self, x), around)
        y = np.zeros((*framed.shape[:2], *counts), total_dtype(framed.dtype))
        with np.errstate(all="ignore"):
            for _, _, rows, columns in offsets(self.ksize, counts, self.strides):
                y += framed[..., rows, columns]
            y /= divisors(self, x.shape, self.count_include_pad).astype(y.dtype)
        return (restored(self, y, x),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (remade(AveragePoolGradient, self)(dy, node.inputs[0]),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for op, x in cls.cases():
            yield Sample(op, (x,))


class AveragePoolGradient(Averaging):
    """dx in the shape of `like`: each dy, divided as the mean was, added all over its window."""

    ignores = (1,)

    def infer(self, dy: TensorType, like: TensorType) -> Types:
        y = meet_types(self.name, type_of_y(self, require(self.name, like, FLOATS)), dy)
        return (type_of_x(self, like, y),)

    infer_unranked = infer

    def evaluate(self, dy: Array, like: Array) -> tuple[Array, ...]:
        counts, around = windows(self, like.shape)
        share = images(self, dy)
        dx = np.zeros_like(padded(images(self, like), around))
        with np.errstate(all="ignore"):
            share = share / divisors(self, like.shape, self.count_include_pad).astype(share.dtype)
            for _, _, rows, columns in offsets(self.ksize, counts, self.strides):
                dx[..., rows, columns] += share
        return (restored(self, unpadded(dx, around), dy),)

    def gradient(self, node: Node, g: Value) -> tuple[Value | None, ...]:
        return (remade(AveragePool, self)(g), None)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for op, x in cls.cases():
            yield Sample(op, (type_of_y(op, x), x))


def max_pool(
    x: Value,
    ksize: int | Pair,
    strides: int | Pair | None = None,
    padding: Any = MaxPool.padding,
    layout: str = MaxPool.layout,
    ceil_mode: bool = MaxPool.ceil_mode,
) -> Value:
    """The maximum of each window; windows lie side by side unless `strides` says otherwise."""
    steps = pair(ksize if strides is None else strides)
    return MaxPool(pair(ksize), steps, padding_of(padding), layout, ceil_mode)(x)


def average_pool(
    x: Value,
    ksize: int | Pair,
    strides: int | Pair | None = None,
    padding: Any = AveragePool.padding,
    layout: str = AveragePool.layout,
    ceil_mode: bool = AveragePool.ceil_mode,
    count_include_pad: bool = AveragePool.count_include_pad,
) -> Value:
    """The mean of each window; windows lie side by side unless `strides` says otherwise."""
    steps = pair(ksize if strides is None else strides)
    around = padding_of(padding)
    return AveragePool(pair(ksize), steps, around, layout, ceil_mode, count_include_pad)(x)


def global_max_pool(x: Value, layout: str = MaxPool.layout) -> Value:
    """The maximum of each channel of each image; height and width become 1."""
    return ops.max(x, _spatial("global_max_pool", layout), keepdims=True)


def global_average_pool(x: Value, layout: str = AveragePool.layout) -> Value:
    """The mean of each channel of each image; height and width become 1."""
    return ops.mean(x, _spatial("global_average_pool", layout), keepdims=True)


def _spatial(name: str, layout: str) -> tuple[int, ...]:
    """The axes of height and width."""
    if layout not in TO_NCHW:
        raise ShapeError(f"{name}: layout {layout!r:.60} is neither 'NCHW' nor 'NHWC'")
    return TO_NCHW[layout][2:]
