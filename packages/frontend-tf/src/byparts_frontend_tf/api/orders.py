"""Order and frequency: sort, search, histograms, confusion matrices."""

from __future__ import annotations

from functools import partial
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import number, numbers, renamed
from byparts_frontend_tf.api.arithmetic import maximum, minimum, not_equal
from byparts_frontend_tf.api.casting import cast
from byparts_frontend_tf.api.constants import ones_like, zeros_like
from byparts_frontend_tf.api.places import scatter_nd
from byparts_frontend_tf.api.reductions import reduce_max, reduce_sum
from byparts_frontend_tf.api.shaping import reshape, squeeze
from byparts_frontend_tf.api.stacking import concat, stack
from byparts_frontend_tf.api.unary import floor
from byparts_frontend_tf.graph.convert import TensorLike, convert_all, convert_to_tensor
from byparts_frontend_tf.graph.infer import axis_of
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_number
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import DType, as_dtype, int32, int64


def _ordered(x: Value, axis: int, down: bool) -> tuple[Value, Value]:
    """The elements along an axis in order, and where they stood; of equal ones the first first."""
    rank = len(x.type.dims)
    at = axis % rank
    order = [i for i in range(rank) if i != at] + [at]
    back = [order.index(i) for i in range(rank)]
    moved = ops.transpose(x, order)
    if x.type.dtype.startswith("u"):
        moved = ops.cast(moved, "i64")
    values, places = ops.top_k(moved if down else ops.neg(moved), x.type.dims[at])
    values = values if down else ops.neg(values)
    return ops.cast(ops.transpose(values, back), x.type.dtype), ops.transpose(places, back)


def _order_on_host(x: Any, axis: int, down: bool) -> Any:
    """Where the elements in order stand; of equal ones the first first."""
    if not down:
        return np.argsort(x, axis, kind="stable")
    turned = np.argsort(np.flip(x, axis), axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(turned, axis)


def _lower_order(lowering: Any, op: Operation) -> Optional[Value]:
    """In the graph where an axis is short, or in a body; else on the host, which takes n log n."""
    x, axis, down = lowering.value(op.inputs[0], op), op.attributes["axis"], op.attributes["down"]
    if x.type.dims[axis] <= _SHORT or lowering.outer is not None:
        return ops.cast(_ordered(x, axis, down)[1], "i32")
    lowering.run.call(op, partial(_order_on_host, axis=axis, down=down), op.inputs, [np.int32])
    return None


def _taken(x: Value, order: Value, axis: int, down: bool) -> Value:
    """The elements at these positions along an axis."""
    dims, at = x.type.dims, axis % len(x.type.dims)
    step = int(np.prod(dims[at + 1 :]))
    places = np.arange(x.type.size).reshape(dims)
    first = places - places // max(step, 1) % max(dims[at], 1) * step
    flat = ops.cast(order, "i64") * step + ops.constant(first)
    return ops.gather(ops.reshape(x, [-1]), flat)


def _along(inputs: Any, axis: int, down: bool) -> Any:
    if inputs[0].dims is not None:
        axis_of(axis, len(inputs[0].dims))
    return inputs[0].dims


SORT = Kind("Sort", _taken, shape=_along)
ARGSORT = Kind("ArgSort", special=_lower_order, shape=_along, dtype=int32, gradient=False)
_SHORT = 512


def _down(direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"{direction} should be one of ASCENDING, DESCENDING")
    return direction == "DESCENDING"


@symbol("sort", "contrib.framework.sort")
def sort(
    values: TensorLike, axis: Any = -1, direction: str = "ASCENDING", name: Optional[str] = None
) -> Tensor:
    """The elements in order along an axis.

    Raises:
        ValueError: another direction, or no such axis.
    """
    at = number(axis, "sort: the axis")
    x, down = convert_to_tensor(values), _down(direction)
    return SORT(x, ARGSORT(x, axis=at, down=down), name=name or "sort", axis=at, down=down)


@symbol("argsort", "contrib.framework.argsort")
def argsort(
    values: TensorLike,
    axis: Any = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """Where the elements in order stand; of equal ones the first first."""
    at = number(axis, "argsort: the axis")
    x = convert_to_tensor(values)
    return ARGSORT(x, name=name or "argsort", axis=at, down=_down(direction))


def _searched(row: Value, x: Value, right: bool, dtype: DType) -> Value:
    before = (ops.less_equal if right else ops.less)(
        ops.expand_dims(row, -2), ops.expand_dims(x, -1)
    )
    return ops.sum(ops.cast(before, dtype.own), [-1])


SEARCH = Kind(
    "SearchSorted",
    _searched,
    shape=lambda inputs, **_: inputs[1].dims,
    dtype=lambda inputs, right, dtype: dtype,
    gradient=False,
)


@symbol("searchsorted")
def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: Any = int32,
    name: Optional[str] = None,
) -> Tensor:
    """Where each value would stand in the ordered row: before equal ones ("left") or after.

    Raises:
        ValueError: another side.
    """
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'right' or 'left'. Saw: {side}.")
    row, x = convert_all([sorted_sequence, values])
    return SEARCH(row, x, name=name, right=side == "right", dtype=as_dtype(out_type))


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
    """How often each number from 0 on occurs, or the sum of the weights of each."""
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


@symbol("histogram_fixed_width_bins")
def histogram_fixed_width_bins(
    values: TensorLike,
    value_range: TensorLike,
    nbins: Any = 100,
    dtype: Any = int32,
    name: Optional[str] = None,
) -> Tensor:
    """Which of `nbins` equal parts of a range each value is in; those outside: the nearest."""
    with name_scope(name, "histogram_fixed_width_bins"):
        x = convert_to_tensor(values)
        ends = convert_to_tensor(value_range, x.dtype.base_dtype)
        count = cast(convert_to_tensor(nbins), x.dtype.base_dtype)
        at = floor(count * ((x - ends[0]) / (ends[1] - ends[0])))
        inside = minimum(maximum(at, zeros_like(at)), ones_like(at) * (count - 1))
        bins: Tensor = cast(inside, dtype)
        return bins


@symbol("histogram_fixed_width")
def histogram_fixed_width(
    values: TensorLike,
    value_range: TensorLike,
    nbins: Any = 100,
    dtype: Any = int32,
    name: Optional[str] = None,
) -> Tensor:
    """How many values are in each of `nbins` equal parts of a range."""
    with name_scope(name, "histogram_fixed_width"):
        at = histogram_fixed_width_bins(values, value_range, nbins)
        return COUNT(convert_to_tensor(nbins), at, cast(ones_like(at), dtype))


@symbol("confusion_matrix", "math.confusion_matrix", "contrib.metrics.confusion_matrix")
def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: Any = None,
    dtype: Any = int32,
    name: Optional[str] = None,
    weights: Any = None,
) -> Tensor:
    """How often label i was predicted as j: [classes, classes]."""
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
    """How many elements are not zero (not empty, True) along axes, by default all."""
    kept = bool(renamed(keepdims, keep_dims, "keepdims", "keep_dims"))
    along = renamed(axis, reduction_indices, "axis", "reduction_indices")
    with name_scope(name, "count_nonzero"):
        x = convert_to_tensor(input_tensor if input is None else input)
        some = x if x.dtype.is_bool else not_equal(x, zeros_like(x))
        axes = None if along is None else numbers(along, "the axes")
        made: Tensor = cast(reduce_sum(cast(some, int64), axes, kept), dtype)
        return made
