"""Pooling of volumes, and of images with the places of what is the largest."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.nn.conv import spatial
from byparts_frontend_tf.api.nn.conv3d import (
    Triple,
    in_layout,
    padded_edges,
    triple_of,
    volume_shape,
    with_channels_last,
)
from byparts_frontend_tf.api.nn.window_shapes import pool_shape
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import DType, as_dtype, int64
from byparts_tf_files.shape import Dims

MaxPoolWithArgmax = namedtuple("MaxPoolWithArgmax", ["output", "argmax"])


def _pooled(pool: Callable[..., Value]) -> Callable[..., Value]:
    def meaning(x: Value, ksize: Triple, strides: Triple, padding: str, layout: str) -> Value:
        x = with_channels_last(x, layout)
        n, depth, height, width, c = x.type.dims
        flat = pool(ops.reshape(x, [n * depth, height, width, c]), ksize[1:], strides[1:], padding)
        h, w = flat.type.dims[1:3]
        deep = pool(
            ops.reshape(flat, [n, depth, h * w, c]), (ksize[0], 1), (strides[0], 1), padding
        )
        return in_layout(ops.reshape(deep, [n, deep.type.dims[1], h, w, c]), layout)

    return meaning


def _pool_sizes(inputs: Sequence[Tensor], c: Any, ksize: Triple) -> Any:
    return ksize, c


MAX_POOL3D = Kind(
    "MaxPool3D",
    _pooled(lambda x, k, s, p: ops.max_pool(x, k, s, p, "NHWC")),
    shape=volume_shape(_pool_sizes),
)
AVERAGE_POOL3D = Kind(
    "AvgPool3D",
    _pooled(lambda x, k, s, p: ops.average_pool(x, k, s, p, "NHWC", count_include_pad=False)),
    shape=volume_shape(_pool_sizes),
)


def _pooling(kind: Kind, what: str) -> Callable[..., Tensor]:
    def pool3d(
        input: TensorLike,
        ksize: Any,
        strides: Any,
        padding: str,
        data_format: Optional[str] = "NDHWC",
        name: Optional[str] = None,
    ) -> Tensor:
        layout = data_format or "NDHWC"
        return kind(
            convert_to_tensor(input),
            name=name,
            ksize=triple_of(ksize, layout, "ksize"),
            strides=triple_of(strides, layout, "strides"),
            padding=padding,
            layout=layout,
        )

    pool3d.__name__, pool3d.__module__ = f"{what}_pool3d", __name__
    pool3d.__doc__ = f"TensorFlow's `{what}_pool3d`: of each window of volumes."
    return pool3d


max_pool3d, avg_pool3d = _pooling(MAX_POOL3D, "max"), _pooling(AVERAGE_POOL3D, "avg")


def _with_argmax(
    x: Value, ksize: Any, strides: Any, padding: str, dtype: DType, batch: bool
) -> tuple[Value, Value]:
    """The greatest of each window, and where in an image [height, width, channels] it is."""
    n, height, width, c = x.type.dims
    (kh, kw), (sh, sw) = ksize, strides
    edges = [padded_edges(height, kh, sh, padding), padded_edges(width, kw, sw, padding)]
    rows, columns = (
        (d + sum(e) - k) // s + 1
        for d, e, k, s in ((height, edges[0], kh, sh), (width, edges[1], kw, sw))
    )
    low = -float("inf") if x.type.dtype[0] in "fb" else 0
    padded = ops.pad(x, [(0, 0), *edges, (0, 0)], low)
    parts, places = [], []
    for i in range(kh):
        for j in range(kw):
            piece = (
                slice(None),
                slice(i, i + (rows - 1) * sh + 1, sh),
                slice(j, j + (columns - 1) * sw + 1, sw),
            )
            parts.append(ops.getitem(padded, piece))
            at = (np.arange(rows) * sh + i - edges[0][0])[:, None] * width
            places.append(at + np.arange(columns) * sw + j - edges[1][0])
    stacked = ops.stack(parts, 0)
    which = ops.argmax(stacked, 0)  # [n, rows, columns, c]
    table = np.stack(places).reshape(kh * kw, -1).astype(np.int64)
    cells = np.arange(rows * columns).reshape(rows, columns, 1)
    flat = ops.gather(
        ops.constant(table.reshape(-1)), which * (rows * columns) + ops.constant(cells)
    )
    found = flat * c + ops.constant(np.arange(c, dtype=np.int64))
    if batch:
        images = np.arange(n, dtype=np.int64).reshape(n, 1, 1, 1) * (height * width * c)
        found = found + ops.constant(images)
    return ops.max_pool(x, ksize, strides, padding, "NHWC"), ops.cast(found, dtype.own)


def _argmax_shape(
    inputs: Sequence[Tensor], ksize: Any, strides: Any, padding: str, **_: Any
) -> Dims:
    found = pool_shape(inputs, ksize=ksize, strides=strides, padding=padding, layout="NHWC")
    return (None,) * 4 if found is None else found


MAX_POOL_WITH_ARGMAX = Kind(
    "MaxPoolWithArgmax",
    _with_argmax,
    shape=_argmax_shape,
    dtype=lambda inputs, dtype, **_: [inputs[0].dtype.base_dtype, dtype],
)


@symbol("nn.max_pool_with_argmax")
def max_pool_with_argmax(
    input: TensorLike,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    Targmax: Any = None,  # noqa: N803  # TensorFlow's name
    name: Optional[str] = None,
    output_dtype: Any = None,
    include_batch_in_index: bool = False,
) -> MaxPoolWithArgmax:
    """The maximum of each window, and its index in the flat image (or batch of images)."""
    kind = output_dtype if Targmax is None else Targmax
    values, places = MAX_POOL_WITH_ARGMAX.outputs(
        convert_to_tensor(input),
        name=name,
        ksize=spatial(ksize, "NHWC", "ksize"),
        strides=spatial(strides, "NHWC", "strides"),
        padding=padding,
        dtype=int64 if kind is None else as_dtype(kind),
        batch=bool(include_batch_in_index),
    )
    return MaxPoolWithArgmax(values, places)


SYMBOLS = {"nn.max_pool3d": "max_pool3d", "nn.avg_pool3d": "avg_pool3d"}
