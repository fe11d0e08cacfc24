"""Pools: the greatest, the mean or the norm of windows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import reduce

import numpy as np

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, rank_of
from byparts_frontend_onnx.rules import rules
from byparts_frontend_onnx.standard.elementwise import is_float, limits, number
from byparts_frontend_onnx.standard.window import Window, window_of
from byparts_graph_ir import Value

_MOST_PARTS = 4096  # elements of a window that is written out


@rules.on("MaxPool")
def max_pool(node: OnnxNode, x: Value) -> Value | tuple[Value, Value]:
    """The greatest element of each window, and its place in the array."""
    if node.wants(1):
        return _with_places(node, x)
    return _pooled(node, x, "max")


@rules.on("AveragePool")
def average_pool(node: OnnxNode, x: Value) -> Value:
    """The mean of each window."""
    return _pooled(node, x, "mean")


@rules.on("LpPool")
def lp_pool(node: OnnxNode, x: Value) -> Value:
    """The norm of each window."""
    p = float(node.get("p"))
    total = _pooled(node, ops.pow(ops.abs(x), number(p, x)), "sum")
    return ops.pow(total, number(1 / p, x))


@rules.on("GlobalAveragePool")
def global_average_pool(node: OnnxNode, x: Value) -> Value:
    """The mean of each image."""
    return ops.mean(x, _image_axes(x), True)


@rules.on("GlobalMaxPool")
def global_max_pool(node: OnnxNode, x: Value) -> Value:
    """The greatest element of each image."""
    return ops.max(x, _image_axes(x), True)


@rules.on("GlobalLpPool")
def global_lp_pool(node: OnnxNode, x: Value) -> Value:
    """The norm of each image."""
    return ops.norm(x, float(node.get("p")), _image_axes(x), True)


def _image_axes(x: Value) -> tuple[int, ...]:
    return tuple(range(2, rank_of(x)))


def _pooled(node: OnnxNode, x: Value, kind: str) -> Value:
    kernel = [int(k) for k in node.get("kernel_shape")]
    window = window_of(node, x, kernel)
    ceil, n = bool(node.get("ceil_mode", 0)), len(kernel)
    plain = n <= 2 and set(window.dilations) == {1} and kind != "sum" and is_float(x)
    inside = all(max(pads) < k for pads, k in zip(window.pads, kernel, strict=True))
    if not (plain and inside):
        return _by_shifts(node, x, kernel, window, kind)
    if n == 1:
        x, kernel, window = ops.expand_dims(x, 2), [1, *kernel], window.with_first_axis()
    size, strides = (tuple(kernel), window.strides)
    if kind == "max":
        y = ops.max_pool(x, size, strides, window.pads, ceil_mode=ceil)  # type: ignore[arg-type]
    else:
        whole = bool(node.get("count_include_pad", 0))
        y = ops.average_pool(x, size, strides, window.pads, ceil_mode=ceil,  # type: ignore[arg-type]
                             count_include_pad=whole)  # fmt: skip
    return ops.squeeze(y, 2) if n == 1 else y


def _counts(node: OnnxNode, sizes: tuple[int, ...], kernel: list[int], window: Window) -> list[int]:
    """The number of windows along each axis."""
    counts = []
    for size, k, stride, dilation, pads in zip(
        sizes, kernel, window.strides, window.dilations, window.pads, strict=True
    ):
        room = size + sum(pads) - (k - 1) * dilation - 1
        if room < 0:
            raise node.refuse(f"a window of {kernel} in an image of {sizes}")
        count = room // stride + 1
        if node.get("ceil_mode", 0):
            count = -(-room // stride) + 1
            count -= (count - 1) * stride >= size + pads[0]
        counts.append(count)
    return counts


def _by_shifts(node: OnnxNode, x: Value, kernel: list[int], window: Window, kind: str) -> Value:
    """A pool written out: along one axis after another, a strided slice for each element."""
    sizes = node.dims(x, "the size of its images", 2)
    if sum(kernel) > _MOST_PARTS:
        raise node.refuse(f"a window of {kernel}")
    join = ops.maximum if kind == "max" else ops.add
    inside = 1.0 if node.get("count_include_pad", 0) else 0.0
    for i, n in enumerate(_counts(node, sizes, kernel, window)):
        k, s, d, (low, high) = kernel[i], window.strides[i], window.dilations[i], window.pads[i]
        more = max((n - 1) * s + (k - 1) * d + 1 - sizes[i] - low - high, 0)
        before, behind = [(0, 0)] * (2 + i), [(0, 0)] * (len(kernel) - i - 1)
        padded = ops.pad(x, [*before, (low, high + more), *behind],
                         _least(x) if kind == "max" else 0.0)  # fmt: skip
        parts = [slice(j * d, j * d + (n - 1) * s + 1, s) for j in range(k)]
        x = reduce(join, [ops.getitem(padded, (slice(None),) * (2 + i) + (p,)) for p in parts])
        if kind == "mean":
            node.limited(sizes[i] + low + high + more)
            counted = np.pad(np.ones(sizes[i]), (low, high), constant_values=inside)
            counted = np.pad(counted, (0, more))
            many = sum(counted[p] for p in parts)
            shape = (-1, *(1,) * len(behind))
            x = x / ops.cast(ops.constant(np.reshape(many, shape)), x.type.dtype)
    return x


def _parts(kernel: list[int], counts: list[int], window: Window) -> Iterator[tuple[slice, ...]]:
    for place in np.ndindex(*kernel):
        steps = zip(place, window.dilations, window.strides, counts, strict=True)
        yield tuple(slice(i * d, i * d + (n - 1) * s + 1, s) for i, d, s, n in steps)


def _least(x: Value) -> float:
    return -math.inf if is_float(x) else limits(x.type.dtype)[0]


def _with_places(node: OnnxNode, x: Value) -> tuple[Value, Value]:
    """The greatest elements and where they stand: windows side by side along a new axis."""
    dims = node.dims(x)
    kernel = [int(k) for k in node.get("kernel_shape")]
    window = window_of(node, x, kernel)
    counts = _counts(node, dims[2:], kernel, window)
    node.limited(*dims, *kernel)
    places = np.arange(math.prod(dims)).reshape(dims)
    if node.get("storage_order"):
        strides = [math.prod(dims[2 : 2 + i]) for i in range(len(kernel))]
        inner = sum(i * s for i, s in zip(np.indices(dims[2:]), strides, strict=True))
        first = np.arange(dims[0] * dims[1]).reshape(*dims[:2], *(1,) * len(kernel))
        places = first * math.prod(dims[2:]) + inner
    around = [(0, 0), (0, 0), *((low, high + k * d + s) for (low, high), k, d, s in zip(
        window.pads, kernel, window.dilations, window.strides, strict=True))]  # fmt: skip
    padded, known = ops.pad(x, around, _least(x)), np.pad(places, around)
    whole = (slice(None), slice(None))
    parts = list(_parts(kernel, counts, window))
    stacked = ops.stack([ops.getitem(padded, whole + part) for part in parts], -1)
    indices = ops.constant(np.stack([known[whole + part] for part in parts], -1))
    best = ops.argmax(stacked, -1, True)
    return ops.max(stacked, -1), ops.squeeze(ops.take_along_axis(indices, best, -1), -1)


@rules.on("MaxUnpool", known=(2,))
def max_unpool(node: OnnxNode, x: Value, places: Value, shape: object = None) -> Value:
    """Zeros, with the elements of x at the places that a pool gave."""
    dims = node.dims(x)
    kernel = node.get("kernel_shape")
    window = window_of(node, x, list(kernel))
    sizes = [
        (d - 1) * s - sum(p) + k
        for d, s, p, k in zip(dims[2:], window.strides, window.pads, kernel, strict=True)
    ]
    whole = (*dims[:2], *sizes)
    zeros = ops.fill(0.0, x.type.dtype, (math.prod(whole),))
    flat = ops.scatter(zeros, ops.reshape(places, (-1,)), ops.reshape(x, (-1,)), 0)
    y = ops.reshape(flat, whole)
    if shape is None:
        return y
    return ops.pad(y, [(0, int(n) - d) for n, d in zip(np.asarray(shape), whole, strict=True)])
