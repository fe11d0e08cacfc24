"""Pools: windows, and the adaptive ones, which know how many results they want."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import byparts_opset as ops
from byparts_frontend_torch.aten.axes import rank_of, size_at
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.rules import rules
from byparts_graph_ir import Value

Numbers = Sequence[int]


@rules.on("aten.max_pool2d.default")
def max_pool2d(
    x: Value,
    kernel_size: Numbers,
    stride: Numbers = (),
    padding: Numbers = (0,),
    dilation: Numbers = (1,),
    ceil_mode: bool = False,
) -> Value:
    if set(_numbers(dilation)) != {1}:
        raise UnsupportedOp(f"a pool with dilation {dilation}")
    size = _pair(kernel_size)
    around = _around(padding)
    strides = _pair(stride) if stride else size
    return _batched(x, lambda x: ops.max_pool(x, size, strides, around, ceil_mode=ceil_mode))


@rules.on("aten.max_pool2d_with_indices.default")
def max_pool2d_with_indices(
    x: Value,
    kernel_size: Numbers,
    stride: Numbers = (),
    padding: Numbers = (0,),
    dilation: Numbers = (1,),
    ceil_mode: bool = False,
) -> tuple[Value, None]:
    return max_pool2d(x, kernel_size, stride, padding, dilation, ceil_mode), None


@rules.on("aten.avg_pool2d.default")
def avg_pool2d(
    x: Value,
    kernel_size: Numbers,
    stride: Numbers = (),
    padding: Numbers = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Value:
    size = _pair(kernel_size)
    around, strides = _around(padding), _pair(stride) if stride else size
    if divisor_override is not None and ceil_mode:
        raise UnsupportedOp(f"a pool with ceil_mode and divisor {divisor_override}")
    counted = count_include_pad or divisor_override is not None
    y = _batched(
        x,
        lambda x: ops.average_pool(
            x, size, strides, around, ceil_mode=ceil_mode, count_include_pad=counted
        ),
    )
    if divisor_override is None:
        return y
    return y * (size[0] * size[1] / divisor_override)


@rules.on("aten._adaptive_avg_pool2d.default", "aten.adaptive_avg_pool2d.default")
def adaptive_avg_pool2d(x: Value, output_size: Numbers) -> Value:
    """A pool where the windows are all alike, and otherwise a product with their weights."""
    rows, columns = _pair(output_size)
    if (rows, columns) == (1, 1):
        return ops.mean(x, (rank_of(x) - 2, rank_of(x) - 1), keepdims=True)
    height, width = size_at(x, rank_of(x) - 2), size_at(x, rank_of(x) - 1)
    if height % rows == 0 and width % columns == 0:
        size = (height // rows, width // columns)
        return _batched(x, lambda x: ops.average_pool(x, size, size))
    down = ops.constant(_averages(height, rows), x.type.dtype)
    along = ops.constant(_averages(width, columns), x.type.dtype)
    return ops.matmul(ops.matmul(down, x), along, transpose_b=True)


@rules.on("aten._adaptive_avg_pool3d.default", "aten.adaptive_avg_pool3d.default")
def adaptive_avg_pool3d(x: Value, output_size: Numbers) -> Value:
    """A product with the weights of the windows along each axis."""
    given, rank = _numbers(output_size), rank_of(x)
    axes = range(rank - 3, rank)
    for axis, parts in zip(axes, given * 3 if len(given) == 1 else given, strict=True):
        weights = ops.constant(_averages(size_at(x, axis), parts), x.type.dtype)
        order = [*(a for a in range(rank) if a != axis), axis]
        y = ops.matmul(ops.transpose(x, order), weights, transpose_b=True)
        x = ops.transpose(y, [order.index(a) for a in range(rank)])
    return x


@rules.on("aten.adaptive_max_pool2d.default")
def adaptive_max_pool2d(x: Value, output_size: Numbers) -> tuple[Value, None]:
    rows, columns = _pair(output_size)
    height, width = size_at(x, rank_of(x) - 2), size_at(x, rank_of(x) - 1)
    if height % rows or width % columns:
        raise UnsupportedOp(f"{rows}x{columns} maxima of {height}x{width}: they do not divide")
    size = (height // rows, width // columns)
    return _batched(x, lambda x: ops.max_pool(x, size, size)), None


def _averages(size: int, parts: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """[parts, size]: row i averages elements floor(i s / p) to ceil((i + 1) s / p)."""
    weights = np.zeros((parts, size))
    for i in range(parts):
        start, stop = i * size // parts, -(-(i + 1) * size // parts)
        weights[i, start:stop] = 1 / (stop - start)
    return weights


def _batched(x: Value, pool: Callable[[Value], Value]) -> Value:
    """Torch also takes one image without an axis for the batch."""
    return pool(x) if rank_of(x) == 4 else ops.squeeze(pool(ops.expand_dims(x, 0)), 0)


def _pair(numbers: Numbers) -> tuple[int, int]:
    given = _numbers(numbers)
    return (given[0], given[-1])


def _around(padding: Numbers) -> tuple[tuple[int, int], tuple[int, int]]:
    top, left = _pair(padding)
    return ((top, top), (left, left))


def _numbers(numbers: Numbers | int) -> list[int]:
    return [numbers] if isinstance(numbers, int) else list(numbers)
