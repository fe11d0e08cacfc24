"""Fourier transforms as products with matrices of sines and cosines; mels; suppression of boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, axis_in, ints, rank_of
from byparts_frontend_onnx.rules import rules
from byparts_frontend_onnx.sizes import Known
from byparts_frontend_onnx.tensors import dtype_of
from byparts_graph_ir import Value
from byparts_opset.dtypes import numpy_dtype

Array = NDArray[Any]


@rules.on("DFT", known=(1, 2))
def dft(node: OnnxNode, x: Value, length: Known | None = None, axis: Known | None = None) -> Value:
    """The discrete Fourier transform along an axis; the last axis is one number, or two."""
    said = node.get("axis", -2) if axis is None else ints(axis)[0]
    place = axis_in(int(said), rank_of(x))
    inverse, half = bool(node.get("inverse", 0)), bool(node.get("onesided", 0))
    given = node.dims(x)[place]
    whole = 2 * (given - 1) if inverse and half else given
    size = whole if length is None else int(ints(length)[0])
    order = [*(a for a in range(rank_of(x) - 1) if a != place), place, rank_of(x) - 1]
    y = _transformed(node, ops.transpose(x, order), size, inverse, half)
    return ops.transpose(y, [order.index(a) for a in range(rank_of(x))])


def _transformed(node: OnnxNode, x: Value, size: int, inverse: bool, half: bool) -> Value:
    """x: [..., time, parts] -> [..., frequencies, 2]."""
    given, parts = node.dims(x)[-2:]
    used, count = min(size, given), size // 2 + 1 if half and not inverse else size
    if inverse and half:
        used = min(size // 2 + 1, given)
    node.limited(used, count)
    turns = np.outer(np.arange(used), np.arange(count)) % size
    angles = (2 if inverse else -2) * np.pi * turns / size
    scale, dtype = 1 / size if inverse else 1.0, numpy_dtype(x.type.dtype)
    cos, sin = (ops.constant((f(angles) * scale).astype(dtype)) for f in (np.cos, np.sin))
    rows = ops.getitem(x, (Ellipsis, slice(0, used), slice(None)))
    real = ops.squeeze(ops.getitem(rows, (Ellipsis, slice(0, 1))), -1)
    y = ops.matmul(real, cos), ops.matmul(real, sin)
    if inverse and half:  # the other half is the same, with the sign of its second part changed
        twice = np.where((np.arange(used) == 0) | (2 * np.arange(used) == size), 1, 2)
        real, rows = (v * ops.constant(twice.reshape(s).astype(dtype)) for v, s in
                      ((real, (-1,)), (rows, (-1, 1))))  # fmt: skip
        other = ops.squeeze(ops.getitem(rows, (Ellipsis, slice(1, 2))), -1)
        return ops.expand_dims(ops.matmul(real, cos) - ops.matmul(other, sin), -1)
    if parts == 2:
        other = ops.squeeze(ops.getitem(rows, (Ellipsis, slice(1, 2))), -1)
        y = y[0] - ops.matmul(other, sin), y[1] + ops.matmul(other, cos)
    return ops.stack(y, -1)


@rules.on("STFT", known=(1, 3))
def stft(
    node: OnnxNode,
    x: Value,
    step: Known,
    window: Value | None = None,
    length: Known | None = None,
) -> Value:
    """Fourier transforms of windows of a signal: [batch, time, parts] -> [batch, frames, ...]."""
    size = node.dims(x)[1] if length is None else int(ints(length)[0])
    if length is None and window is not None:
        size = node.dims(window)[0]
    every = int(ints(step)[0])
    count = (node.dims(x)[1] - size) // every + 1
    node.limited(count, size)
    places = np.arange(count)[:, None] * every + np.arange(size)
    frames = ops.gather(x, ops.constant(places.astype(np.int64)), 1)
    if window is not None:
        frames = frames * ops.reshape(window, (-1, 1))
    return _transformed(node, frames, size, False, bool(node.get("onesided", 1)))


@rules.on("MelWeightMatrix", known=(0, 1, 2, 3, 4))
def mel_weight_matrix(
    node: OnnxNode, mels: Known, length: Known, rate: Known, lower: Known, upper: Known
) -> Array:
    """[frequencies, mels]: triangles of weights, evenly spaced on the mel scale (O'Shaughnessy)."""
    (count,), (size,), (hertz,) = ([int(i) for i in ints(k)] for k in (mels, length, rate))
    node.limited(size // 2 + 1, count)
    ends = np.array([np.asarray(e).item() for e in (lower, upper)], np.float64)
    first, last = 2595 * np.log10(1 + ends / 700)
    steps = first + np.arange(count + 2) * (last - first) / (count + 2)  # as ONNX spaces them
    edges = np.floor((size + 1) * 700 * (10 ** (steps / 2595) - 1) / hertz).astype(np.int64)
    low, middle, high = edges[:-2], edges[1:-1], edges[2:]
    j = np.arange(size // 2 + 1)[:, None]
    up = np.where(low < middle, (j - low) / np.maximum(middle - low, 1), 1.0)
    down = (high - j) / np.maximum(high - middle, 1)
    rising, falling = (low <= j) & (j <= middle), (middle <= j) & (j < high)
    weights = np.where(falling, down, np.where(rising, up, 0.0))
    return weights.astype(numpy_dtype(dtype_of(node.get("output_datatype"))))


@rules.on("NonMaxSuppression", known=(0, 1, 2, 3, 4))
def non_max_suppression(
    node: OnnxNode,
    boxes: Array,
    scores: Array,
    most: Any = None,
    overlap: Any = None,
    least: Any = None,
) -> Array:
    """Rows (batch, class, box) of the best boxes that do not cover each other."""
    count = 0 if most is None else int(ints(most)[0])
    limit = 0.0 if overlap is None else float(np.asarray(overlap).reshape(-1)[0])
    lowest = -np.inf if least is None else float(np.asarray(least).reshape(-1)[0])
    corners = _corners(boxes.astype(np.float64), bool(node.get("center_point_box")))
    chosen = []
    for b, c in np.ndindex(*scores.shape[:2]):
        kept: list[int] = []
        for i in np.argsort(-scores[b, c], kind="stable"):
            if len(kept) == count or not scores[b, c, i] > lowest:
                break
            if all(_shared(corners[b, i], corners[b, j]) <= limit for j in kept):
                kept.append(int(i))
        chosen += [(b, c, i) for i in kept]
    return np.array(chosen, np.int64).reshape(-1, 3)


def _corners(boxes: Array, by_center: bool) -> Array:
    """[batch, box, 4]: the lower and the upper corner of each."""
    first, second = boxes[..., :2], boxes[..., 2:]
    if by_center:
        return np.concatenate([first - second / 2, first + second / 2], -1)
    return np.concatenate([np.minimum(first, second), np.maximum(first, second)], -1)


def _shared(a: Array, b: Array) -> float:
    """The area in both boxes over the area in any."""
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    both = float(np.prod(np.maximum(sides, 0)))
    whole = float(np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2])) - both
    return both / whole if both > 0 else 0.0
