"""`tf.space_to_batch`, `tf.depth_to_space`: axes exchanged for others, in blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.shape import Dims


def _to_channels_last(x: Value, layout: str) -> Value:
    return x if layout == "NHWC" else ops.transpose(x, [0, 2, 3, 1])


def _back(x: Value, layout: str) -> Value:
    return x if layout == "NHWC" else ops.transpose(x, [0, 3, 1, 2])


def _depth_to_space(x: Value, size: int, layout: str) -> Value:
    x = _to_channels_last(x, layout)
    n, h, w, c = x.type.dims
    if c % (size * size):
        raise ValueError(f"depth_to_space: {c} channels are no multiple of {size} * {size}")
    split = ops.reshape(x, [n, h, w, size, size, c // size**2])
    made = ops.transpose(split, [0, 1, 3, 2, 4, 5])
    return _back(ops.reshape(made, [n, h * size, w * size, c // size**2]), layout)


def _space_to_depth(x: Value, size: int, layout: str) -> Value:
    x = _to_channels_last(x, layout)
    n, h, w, c = x.type.dims
    if h % size or w % size:
        raise ValueError(f"space_to_depth: images {h} x {w} are no multiples of {size}")
    split = ops.reshape(x, [n, h // size, size, w // size, size, c])
    made = ops.transpose(split, [0, 1, 3, 2, 4, 5])
    return _back(ops.reshape(made, [n, h // size, w // size, c * size**2]), layout)


def _blocks_shape(up: bool) -> Any:
    def rule(inputs: Sequence[Tensor], *, size: int, layout: str) -> Dims:
        dims = inputs[0].dims
        if dims is None:
            return (None,) * 4
        if len(dims) != 4:
            raise ValueError(f"Shape must be rank 4 but is rank {len(dims)}")
        channels = 3 if layout == "NHWC" else 1
        made: list[Optional[int]] = [dims[0]]
        for i, d in enumerate(dims[1:], 1):
            times, over = (1, size * size) if i == channels else (size, 1)
            times, over = (times, over) if up else (over, times)
            if d is not None and d * times % over:
                raise ValueError(f"Dimension size must be evenly divisible by {over} but is {d}")
            made.append(None if d is None else d * times // over)
        return tuple(made)

    return rule


DEPTH_TO_SPACE = Kind("DepthToSpace", _depth_to_space, shape=_blocks_shape(True))
SPACE_TO_DEPTH = Kind("SpaceToDepth", _space_to_depth, shape=_blocks_shape(False))


@symbol("depth_to_space", "nn.depth_to_space")
def depth_to_space(
    input: TensorLike, block_size: int, name: Optional[str] = None, data_format: str = "NHWC"
) -> Tensor:
    """Channels as blocks of pixels: [n, h, w, c] -> [n, h size, w size, c / size^2].

    Raises:
        ValueError: it does not fit.
    """
    x, size = convert_to_tensor(input), int(block_size)
    return DEPTH_TO_SPACE(x, name=name, size=size, layout=data_format)


@symbol("space_to_depth", "nn.space_to_depth")
def space_to_depth(
    input: TensorLike, block_size: int, name: Optional[str] = None, data_format: str = "NHWC"
) -> Tensor:
    """Blocks of pixels as channels: the opposite of `depth_to_space`."""
    x, size = convert_to_tensor(input), int(block_size)
    return SPACE_TO_DEPTH(x, name=name, size=size, layout=data_format)


def _space_to_batch(x: Value, block: Any, paddings: Any) -> Value:
    sizes = [int(b) for b in np.reshape(block, -1)]
    m = len(sizes)
    pads = [(int(a), int(b)) for a, b in np.reshape(paddings, (-1, 2))]
    rest = len(x.type.dims) - m - 1
    x = ops.pad(x, [(0, 0), *pads, *[(0, 0)] * rest])
    n, *dims = x.type.dims
    split = [n]
    for d, b in zip(dims, sizes, strict=False):
        if d % b:
            raise ValueError(f"space_to_batch: padded size {d} is no multiple of block size {b}")
        split += [d // b, b]
    order = [2 + 2 * i for i in range(m)] + [0] + [1 + 2 * i for i in range(m)]
    order += [1 + 2 * m + i for i in range(rest)]
    made = ops.transpose(ops.reshape(x, [*split, *dims[m:]]), order)
    space = [d // b for d, b in zip(dims, sizes, strict=False)]
    return ops.reshape(made, [n * int(np.prod(sizes)), *space, *dims[m:]])


def _batch_to_space(x: Value, block: Any, crops: Any) -> Value:
    sizes = [int(b) for b in np.reshape(block, -1)]
    m, count = len(sizes), int(np.prod(sizes))
    n, *dims = x.type.dims
    if n % count:
        raise ValueError(f"batch_to_space: batch {n} is no multiple of {count}")
    split = ops.reshape(x, [*sizes, n // count, *dims])
    order = [m]
    for i in range(m):
        order += [m + 1 + i, i]
    order += [2 * m + 1 + i for i in range(len(dims) - m)]
    space = [d * b for d, b in zip(dims, sizes, strict=False)]
    made = ops.reshape(ops.transpose(split, order), [n // count, *space, *dims[m:]])
    cuts = [(int(a), int(b)) for a, b in np.reshape(crops, (-1, 2))]
    inner = [slice(a, d - b) for (a, b), d in zip(cuts, space, strict=True)]
    return ops.getitem(made, (slice(None), *inner))


def _block_shape(to_batch: bool) -> Any:
    def rule(inputs: Sequence[Tensor]) -> Dims:
        dims, block, edges = inputs[0].dims, static_value(inputs[1]), static_value(inputs[2])
        if dims is None:
            return None
        if block is None or edges is None:
            return (None,) * len(dims)
        count = int(np.prod(block))
        made: list[Optional[int]] = []
        for i, d in enumerate(dims):
            if d is None:
                made.append(None)
            elif i == 0:
                made.append(d * count if to_batch else d // count)
            elif i <= block.size:
                b, edge = int(block.reshape(-1)[i - 1]), int(edges.reshape(-1, 2)[i - 1].sum())
                made.append((d + edge) // b if to_batch else d * b - edge)
            else:
                made.append(d)
        return tuple(made)

    return rule


SPACE_TO_BATCH = Kind("SpaceToBatchND", _space_to_batch, values=(1, 2), shape=_block_shape(True))
BATCH_TO_SPACE = Kind("BatchToSpaceND", _batch_to_space, values=(1, 2), shape=_block_shape(False))


@symbol("space_to_batch_nd", "manip.space_to_batch_nd")
def space_to_batch_nd(
    input: TensorLike, block_shape: TensorLike, paddings: TensorLike, name: Optional[str] = None
) -> Tensor:
    """Blocks of what follows the batch, padded, moved into the batch."""
    given = convert_to_tensor(block_shape), convert_to_tensor(paddings)
    return SPACE_TO_BATCH(convert_to_tensor(input), *given, name=name)


@symbol("batch_to_space_nd", "manip.batch_to_space_nd")
def batch_to_space_nd(
    input: TensorLike, block_shape: TensorLike, crops: TensorLike, name: Optional[str] = None
) -> Tensor:
    """The opposite of `space_to_batch_nd`, with edges cut away."""
    given = convert_to_tensor(block_shape), convert_to_tensor(crops)
    return BATCH_TO_SPACE(convert_to_tensor(input), *given, name=name)


def _both(block: Any) -> Any:
    """The extents of a block, from one number for both, or from two."""
    return block if isinstance(block, (list, tuple, np.ndarray, Tensor)) else [block, block]


@symbol("space_to_batch", "nn.space_to_batch")
def space_to_batch(
    input: TensorLike,
    paddings: TensorLike,
    block_size: Any = None,
    name: Optional[str] = None,
    block_shape: Any = None,
) -> Tensor:
    """`space_to_batch_nd` of the two axes of images."""
    block = block_shape if block_size is None else block_size
    made = space_to_batch_nd(input, _both(block), paddings, name)
    made.set_shape([None] * 4)
    return made


@symbol("batch_to_space")
def batch_to_space(
    input: TensorLike,
    crops: TensorLike,
    block_size: Any = None,
    name: Optional[str] = None,
    block_shape: Any = None,
) -> Tensor:
    """`batch_to_space_nd` of the two axes of images."""
    block = block_shape if block_size is None else block_size
    made = batch_to_space_nd(input, _both(block), crops, name)
    made.set_shape([None] * 4)
    return made
