"""`tf.math.bincount`, `tf.math.confusion_matrix`, `tf.math.count_nonzero`: how often."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import numbers, renamed
from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import ones_like, zeros_like
from byparts_frontend_tf.api.math.binary import maximum, minimum, not_equal
from byparts_frontend_tf.api.math.reduce import reduce_max, reduce_sum
from byparts_frontend_tf.api.reshape import reshape, squeeze
from byparts_frontend_tf.api.scatter_nd import scatter_nd
from byparts_frontend_tf.api.stack import stack
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_number
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import int32, int64


def _counted(size: Any, x: Value, weights: Value) -> Value:
    """The sums of weights by number; numbers of `size` and more do not count."""
    at, n = ops.reshape(x, [-1]), int(size)
    inside = at < n
    kept = ops.select(inside, ops.reshape(weights, [-1]), ops.fill(0, weights.type.dtype))
    places = ops.select(inside, at, ops.fill(0, at.type.dtype))
    if n == 0:
        return ops.fill(0, weights.type.dtype, [0])
    return ops.scatter_add(places, kept, ops.fill(0, weights.type.dtype, [n]))


COUNT = Kind(
    "Bincount",
    _counted,
    values=(0,),
    shape=lambda inputs: (static_number(inputs[0]),),
    dtype=lambda inputs: inputs[2].dtype.base_dtype,
)


@symbol("bincount", "math.bincount")
def bincount(
    arr: TensorLike,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = int32,
    name: Optional[str] = None,
) -> Tensor:
    """Count each number from 0 on, or sum the weights of each."""
    with name_scope(name, "bincount"):
        x = convert_to_tensor(arr, int32)
        none = convert_to_tensor(np.array([-1], np.int32))
        size: Any = reduce_max(concat([none, reshape(x, [-1])], 0), 0) + 1
        if minlength is not None:
            size = maximum(convert_to_tensor(minlength, int32), size)
        if maxlength is not None:
            size = minimum(convert_to_tensor(maxlength, int32), size)
        given = cast(ones_like(x), dtype) if weights is None else convert_to_tensor(weights)
        return COUNT(size, x, given)


@symbol("confusion_matrix", "math.confusion_matrix", "contrib.metrics.confusion_matrix")
def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: Any = None,
    dtype: Any = int32,
    name: Optional[str] = None,
    weights: Any = None,
) -> Tensor:
    """Number of times that label i was predicted as j: [classes, classes]."""
    with name_scope(name, "confusion_matrix", [labels, predictions]):
        y, x = convert_to_tensor(labels), convert_to_tensor(predictions)
        if y.dims is not None and x.dims is not None:
            more = len(y.dims) - len(x.dims)
            y = squeeze(y, [-1]) if more == 1 else y
            x = squeeze(x, [-1]) if more == -1 else x
        y, x = cast(y, int64), cast(x, int64)
        if num_classes is None:
            count: Any = maximum(reduce_max(x), reduce_max(y)) + 1
        else:
            count = cast(convert_to_tensor(num_classes), int64)
        given = ones_like(x) if weights is None else convert_to_tensor(weights)
        return scatter_nd(stack([y, x], 1), cast(given, dtype), cast(stack([count, count]), int32))


@symbol("count_nonzero", "math.count_nonzero")
def count_nonzero(
    input_tensor: Any = None,
    axis: Any = None,
    keepdims: Any = None,
    dtype: Any = int64,
    name: Optional[str] = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
    input: Any = None,
) -> Tensor:
    """Count the elements that are not zero (not empty, True) along axes, by default all."""
    kept = bool(renamed(keepdims, keep_dims, "keepdims", "keep_dims"))
    along = renamed(axis, reduction_indices, "axis", "reduction_indices")
    with name_scope(name, "count_nonzero"):
        x = convert_to_tensor(input_tensor if input is None else input)
        some = x if x.dtype.is_bool else not_equal(x, zeros_like(x))
        axes = None if along is None else numbers(along, "the axes")
        made: Tensor = cast(reduce_sum(cast(some, int64), axes, kept), dtype)
        return made
