"""Pooling of images and rows."""

from __future__ import annotations

from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.api.nn.conv import Pair, layout_of, padding_of, spatial
from byparts_frontend_tf.api.nn.window_shapes import pool_shape
from byparts_frontend_tf.api.reshape import expand_dims, squeeze
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value


def _max(x: Value, ksize: Pair, strides: Pair, padding: Any, layout: str) -> Value:
    return ops.max_pool(x, ksize, strides, padding, layout)


def _average(x: Value, ksize: Pair, strides: Pair, padding: Any, layout: str) -> Value:
    return ops.average_pool(x, ksize, strides, padding, layout, count_include_pad=False)


MAX_POOL = Kind("MaxPool", _max, shape=pool_shape)
AVERAGE_POOL = Kind("AvgPool", _average, shape=pool_shape)


def _pool(
    kind: Kind, x: Any, ksize: Any, strides: Any, padding: Any, data_format: Any, name: Any
) -> Tensor:
    layout, given = layout_of(data_format), convert_to_tensor(x, name="input")
    if given.dims is not None and len(given.dims) != 4:
        raise ValueError(f"Shape must be rank 4 but is rank {len(given.dims)}: {given}")
    return kind(
        given,
        name=name,
        ksize=spatial(ksize, layout, "ksize"),
        strides=spatial(strides, layout, "strides"),
        padding=padding_of(padding, layout),
        layout=layout,
    )


@symbol("nn.max_pool", "nn.max_pool2d")
def max_pool(
    value: Any = None,
    ksize: Any = None,
    strides: Any = None,
    padding: Any = None,
    data_format: Optional[str] = "NHWC",
    name: Optional[str] = None,
    input: Any = None,
) -> Tensor:
    """The maximum of each window.

    Raises:
        ValueError: images are not of rank 4; windows over batch or channels.
    """
    return _pool(
        MAX_POOL, value if input is None else input, ksize, strides, padding, data_format, name
    )


@symbol("nn.avg_pool", "nn.avg_pool2d")
def avg_pool(
    value: Any = None,
    ksize: Any = None,
    strides: Any = None,
    padding: Any = None,
    data_format: Optional[str] = "NHWC",
    name: Optional[str] = None,
    input: Any = None,
) -> Tensor:
    """The mean of each window; what is padded does not count.

    Raises:
        ValueError: images are not of rank 4; windows over batch or channels.
    """
    return _pool(
        AVERAGE_POOL, value if input is None else input, ksize, strides, padding, data_format, name
    )


@symbol("nn.pool")
def pool(
    input: TensorLike,
    window_shape: Any,
    pooling_type: str,
    padding: str,
    dilation_rate: Any = None,
    strides: Any = None,
    name: Optional[str] = None,
    data_format: Optional[str] = None,
) -> Tensor:
    """`max_pool` or `avg_pool` of images or rows, as `pooling_type` says: "MAX" or "AVG".

    Raises:
        ValueError: another type, or dilated windows.
    """
    if dilation_rate not in (None, 1, [1, 1], (1, 1)):
        raise ValueError(f"nn.pool: dilation_rate {dilation_rate} is not here; only 1")
    kinds = {"MAX": MAX_POOL, "AVG": AVERAGE_POOL}
    if pooling_type not in kinds:
        raise ValueError(f"nn.pool: pooling_type {pooling_type!r}; one of MAX, AVG")
    kind, given, window = kinds[pooling_type], convert_to_tensor(input), list(window_shape)
    steps = [1] * len(window) if strides is None else list(strides)
    if len(window) > 1:
        return _pool(kind, given, window, steps, padding, data_format, name)
    first = data_format is not None and data_format.startswith("NC")  # channels first: [n, c, w]
    axis, layout = (2, "NCHW") if first else (1, "NHWC")
    images = expand_dims(given, axis)
    return squeeze(_pool(kind, images, [1, *window], [1, *steps], padding, layout, name), [axis])
