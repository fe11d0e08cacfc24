"""`tf.math.segment_sum` and so on: rows that belong together, reduced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import ones_like, zeros_like
from byparts_frontend_tf.api.custom_gradient import with_gradient
from byparts_frontend_tf.api.gather import gather
from byparts_frontend_tf.api.math.binary import maximum
from byparts_frontend_tf.api.math.unary import sqrt
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_number
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import FLOATS, Value, integer_limits
from byparts_opset.dtypes import dtype_name, numpy_dtype
from byparts_tf_files.shape import Dims

_FEW = 512  # elements that are put in order in the graph


def _flattened(data: Value, ids: Value) -> tuple[Value, Value]:
    """Data [n, ...] and ids [n]."""
    rest = data.type.dims[len(ids.type.dims) :]
    n = ids.type.size
    return ops.reshape(data, [n, *rest]), ops.reshape(ids, [n])


def _of_rows(test: Value, rows: Value) -> Value:
    """[n] as [n, 1, ...], to choose rows by."""
    return ops.reshape(test, [rows.type.dims[0], *[1] * (len(rows.type.dims) - 1)])


def _sum(data: Value, ids: Value, count: Any) -> Value:
    """Rows with a negative id are left out."""
    rows, at = _flattened(data, ids)
    none = at < 0
    kept = ops.select(_of_rows(none, rows), ops.fill(0, rows.type.dtype), rows)
    like = ops.fill(0, rows.type.dtype, [int(count), *rows.type.dims[1:]])
    return ops.scatter_add(ops.select(none, ops.fill(0, at.type.dtype), at), kept, like)


def _lowest(dtype: str, sign: int) -> float:
    if dtype in FLOATS:
        return sign * float(np.finfo(numpy_dtype(dtype)).max)
    low, high = integer_limits(dtype)
    return low if sign < 0 else high


def _extreme(data: Value, ids: Value, count: Any, sign: int) -> Value:
    """The greatest (sign -1: what stands for none is least) or the least of each segment.

    Elements are written in order, so that the last at each place is the extreme.
    """
    rows, at = _flattened(data, ids)
    width = int(np.prod(rows.type.dims[1:]))
    n = rows.type.size
    empty = ops.fill(_lowest(rows.type.dtype, sign), rows.type.dtype, [int(count) * width])
    if n and int(count):
        place = ops.reshape(
            ops.expand_dims(ops.cast(at, "i64"), 1) * width + ops.constant(np.arange(width)), [-1]
        )
        values, order = ops.top_k(ops.reshape(rows, [-1]), n)
        if sign < 0:
            values, order = ops.reverse(values, [0]), ops.reverse(order, [0])
        places = ops.gather(place, order)
        inside = places >= 0
        all_ = ops.concat([empty, ops.fill(0, rows.type.dtype, [1])], 0)
        outside = ops.fill(int(count) * width, "i64")
        empty = ops.getitem(
            ops.scatter(all_, ops.select(inside, places, outside), values),
            slice(0, int(count) * width),
        )
    return ops.reshape(empty, [int(count), *rows.type.dims[1:]])


def _extreme_of_sorted(data: Value, ids: Value, count: Any, sign: int) -> Value:
    """Reduce as `_extreme`, for ids that ascend: each element takes the extreme of those before it.

    In rounds that look 1, 2, 4, ... elements back; the last element of a segment has its extreme.
    """
    rows, at = _flattened(data, ids)
    n, low = rows.type.dims[0], ops.fill(_lowest(rows.type.dtype, sign), rows.type.dtype)
    edges = [(0, 0)] * (len(rows.type.dims) - 1)
    back = 1
    while back < n:
        before = ops.pad(ops.getitem(rows, slice(0, n - back)), [(back, 0), *edges])
        same = ops.equal(at, ops.pad(ops.getitem(at, slice(0, n - back)), [(back, 0)], -1))
        seen = ops.select(_of_rows(same, rows), before, low)
        rows = ops.maximum(rows, seen) if sign < 0 else ops.minimum(rows, seen)
        back *= 2
    empty = ops.broadcast_to(low, [int(count), *rows.type.dims[1:]])
    return ops.scatter(empty, at, rows)


def _extreme_on_host(data: Any, ids: Any, count: Any, sign: int) -> Any:
    """Reduce as `_extreme` does, on the host, by sorting the ids."""
    at = ids.reshape(-1)
    rows = data.reshape(len(at), *data.shape[ids.ndim :])
    low = _lowest(dtype_name(rows.dtype), sign)
    made = np.full((int(count), *rows.shape[1:]), low, rows.dtype)
    order = np.argsort(at, kind="stable")
    order = order[at[order] >= 0]
    found, starts = np.unique(at[order], return_index=True)
    if len(found):
        if found[-1] >= int(count):
            raise ValueError(f"segment_ids = {found[-1]} is out of range [0, {int(count)})")
        made[found] = (np.maximum if sign < 0 else np.minimum).reduceat(rows[order], starts)
    return made


def _lower_extreme(lowering: Any, op: Operation) -> Optional[Value]:
    """In the graph where there are few elements, or in a body; else on the host."""
    x, ids = lowering.values(op.inputs[:2], op)
    sign = op.attributes["sign"]
    if x.type.size <= _FEW or lowering.outer is not None:
        return _extreme(x, ids, lowering.number(op.inputs[2], op), sign)
    dtype = op.outputs[0].dtype.as_numpy_dtype
    lowering.call(op, partial(_extreme_on_host, sign=sign), op.inputs, [dtype])
    return None


def _segments(inputs: Sequence[Tensor], **_: Any) -> Dims:
    data, ids = inputs[0].dims, inputs[1].dims
    if data is None or ids is None:
        return None
    return (static_number(inputs[2]), *data[len(ids) :])


SUM = Kind("UnsortedSegmentSum", _sum, values=(2,), shape=_segments)
EXTREME = Kind("SegmentExtreme", special=_lower_extreme, shape=_segments, gradient=False)
EXTREME_OF_SORTED = Kind(
    "SortedSegmentExtreme", _extreme_of_sorted, values=(2,), shape=_segments, gradient=False
)


def _product(data: Any, ids: Any, count: Any) -> tuple[Any, Any]:
    """The products of segments, and for each element that of the others of its segment."""
    rest = data.shape[ids.ndim :]
    rows, at = data.reshape(-1, *rest), ids.reshape(-1)
    kept = at >= 0
    made = np.ones((int(count), *rest), data.dtype)
    np.multiply.at(made, at[kept], rows[kept])
    zeros = rows == 0
    nonzero, none = np.ones_like(made), np.zeros(made.shape, np.int64)
    np.multiply.at(nonzero, at[kept], np.where(zeros, 1, rows)[kept])
    np.add.at(none, at[kept], zeros[kept])
    of_row, count_of_row = nonzero[np.maximum(at, 0)], none[np.maximum(at, 0)]
    alone = np.where(count_of_row == 1, of_row, 0)
    divided = np.where(count_of_row == 0, of_row / np.where(zeros, 1, rows), 0)
    others = np.where(zeros, alone, divided).astype(data.dtype)
    return made, others.reshape(data.shape)


PRODUCT = Kind(
    "UnsortedSegmentProd",
    host=_product,
    shape=lambda inputs: [_segments(inputs), inputs[0].dims],
    dtype=lambda inputs: [inputs[0].dtype.base_dtype] * 2,
    gradient=False,
)


def _given(data: TensorLike, ids: TensorLike) -> tuple[Tensor, Tensor]:
    x, at = convert_to_tensor(data, name="data"), convert_to_tensor(ids, name="segment_ids")
    if not at.dtype.base_dtype.is_integer:
        raise TypeError(f"Value passed to parameter 'segment_ids' has DataType {at.dtype.name}")
    return x, at


def _spread(rows: Tensor, ids: Tensor) -> Tensor:
    """For each element the row of its segment; zeros for a negative id."""
    found = gather(rows, maximum(ids, zeros_like(ids)))
    none = convert_to_tensor(ids < 0)
    if found.dims is not None and ids.dims is not None:
        for _ in range(len(found.dims) - len(ids.dims)):
            none = none[..., None]
    kept: Tensor = found * cast(~none, found.dtype.base_dtype)
    return kept


@symbol("unsorted_segment_sum", "math.unsorted_segment_sum")
def unsorted_segment_sum(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: Optional[str] = None
) -> Tensor:
    """The sums of the rows with each id; rows with a negative id are left out."""
    return SUM(*_given(data, segment_ids), convert_to_tensor(num_segments), name=name)


def _counts(x: Tensor, ids: Tensor, count: TensorLike) -> Tensor:
    """Number of rows of each segment, at least 1; with axes of one element for those of a row."""
    counted = unsorted_segment_sum(cast(ones_like(ids), x.dtype.base_dtype), ids, count)
    found = maximum(counted, ones_like(counted))
    if x.dims is not None and ids.dims is not None:
        return reshape(found, [-1, *[1] * (len(x.dims) - len(ids.dims))])
    return found


@symbol("unsorted_segment_mean", "math.unsorted_segment_mean")
def unsorted_segment_mean(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: Optional[str] = None
) -> Tensor:
    """The means of the rows with each id; 0 where there is none."""
    with name_scope(name, "UnsortedSegmentMean"):
        x, ids = _given(data, segment_ids)
        made: Tensor = unsorted_segment_sum(x, ids, num_segments) / _counts(x, ids, num_segments)
        return made


@symbol("unsorted_segment_sqrt_n", "math.unsorted_segment_sqrt_n")
def unsorted_segment_sqrt_n(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: Optional[str] = None
) -> Tensor:
    """The sums of the rows with each id, divided by the root of how many there are."""
    with name_scope(name, "UnsortedSegmentSqrtN"):
        x, ids = _given(data, segment_ids)
        made: Tensor = unsorted_segment_sum(x, ids, num_segments) / sqrt(
            _counts(x, ids, num_segments)
        )
        return made


def _of_extreme(op: Any, dy: Tensor) -> list[Optional[Tensor]]:
    """Elements that are the extreme of their segment share its gradient."""
    x, ids, _ = op.inputs[1:]
    hit = cast((x >= _spread(op.outputs[0], ids)) & (x <= _spread(op.outputs[0], ids)), x.dtype)
    shared = dy / maximum(unsorted_segment_sum(hit, ids, shape_of(dy)[0]), 1)
    return [hit * _spread(shared, ids), None, None]


def _extreme_of(type: str, sign: int, kind: Kind = EXTREME) -> Callable[..., Tensor]:
    def apply(
        data: TensorLike,
        segment_ids: TensorLike,
        num_segments: TensorLike,
        name: Optional[str] = None,
    ) -> Tensor:
        inputs = [*_given(data, segment_ids), convert_to_tensor(num_segments)]
        made = kind(*inputs, name=name or type, sign=sign)
        return with_gradient([made], inputs, _of_extreme)[0]

    apply.__name__, apply.__module__ = type, __name__
    apply.__doc__ = f"TensorFlow's `{type}`: of the rows with each id."
    return apply


unsorted_segment_max = _extreme_of("UnsortedSegmentMax", -1)
unsorted_segment_min = _extreme_of("UnsortedSegmentMin", 1)
_max_of_sorted = _extreme_of("SegmentMax", -1, EXTREME_OF_SORTED)
_min_of_sorted = _extreme_of("SegmentMin", 1, EXTREME_OF_SORTED)


@symbol("unsorted_segment_prod", "math.unsorted_segment_prod")
def unsorted_segment_prod(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: Optional[str] = None
) -> Tensor:
    """The products of the rows with each id; 1 where there is none."""
    x, ids = _given(data, segment_ids)
    made, others = PRODUCT.outputs(x, ids, convert_to_tensor(num_segments), name=name)
    inputs = [x, ids, others]
    return with_gradient([made], inputs, lambda op, dy: [_spread(dy, ids) * others, None, None])[0]


def count_of_segments(ids: Tensor) -> Tensor:
    """The last id and one: how many segments there are."""
    none = cast(convert_to_tensor([-1]), ids.dtype.base_dtype)
    made: Tensor = concat([none, ids], 0)[-1] + 1
    return made


def _or_zero(made: Tensor, ids: Tensor, count: Tensor) -> Tensor:
    """0 where a segment has no row."""
    some = unsorted_segment_sum(ones_like(ids), ids, count) > 0
    return where(some, made, zeros_like(made))


def highest_in_segments(
    data: TensorLike, ids: TensorLike, count: TensorLike, ascending: bool = False
) -> Tensor:
    """The greatest rows with each id, 0 where there is none."""
    at = convert_to_tensor(ids)
    found = (_max_of_sorted if ascending else unsorted_segment_max)(data, at, count)
    return _or_zero(found, at, convert_to_tensor(count))


def _sorted(unsorted: Callable[..., Tensor], zero: bool = False) -> Callable[..., Tensor]:
    def apply(data: TensorLike, segment_ids: TensorLike, name: Optional[str] = None) -> Tensor:
        with name_scope(name, "Segment"):
            x, ids = _given(data, segment_ids)
            count = count_of_segments(ids)
            made = unsorted(x, ids, count)
            return _or_zero(made, ids, count) if zero else made

    apply.__doc__ = "Of rows whose ids ascend; as many segments as the last id says."
    apply.__module__ = __name__
    return apply


segment_sum = _sorted(unsorted_segment_sum)
segment_mean = _sorted(unsorted_segment_mean)
segment_prod = _sorted(unsorted_segment_prod)
segment_max = _sorted(_max_of_sorted, zero=True)
segment_min = _sorted(_min_of_sorted, zero=True)
_SORTED = [f"segment_{how}" for how in ("sum", "mean", "prod", "max", "min")]
_EXTREMES = ["unsorted_segment_max", "unsorted_segment_min"]
SYMBOLS = {
    **{f"{p}{name}": name for p in ("", "math.") for name in (*_SORTED, *_EXTREMES)},
}
