"""`tf.sort`, `tf.argsort`, `tf.searchsorted`."""

from __future__ import annotations

from functools import partial
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import number
from byparts_frontend_tf.graph.convert import TensorLike, convert_all, convert_to_tensor
from byparts_frontend_tf.graph.infer import axis_of
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import DType, as_dtype, int32


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
    """Indices that sort x along an axis; equal elements keep their order."""
    if not down:
        return np.argsort(x, axis, kind="stable")
    turned = np.argsort(np.flip(x, axis), axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(turned, axis)


def _lower_order(lowering: Any, op: Operation) -> Optional[Value]:
    """In the graph where an axis is short, or in a body; else on the host, which takes n log n."""
    x, axis, down = lowering.value(op.inputs[0], op), op.attributes["axis"], op.attributes["down"]
    if x.type.dims[axis] <= _SHORT or lowering.outer is not None:
        return ops.cast(_ordered(x, axis, down)[1], "i32")
    lowering.call(op, partial(_order_on_host, axis=axis, down=down), op.inputs, [np.int32])
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
    """Indices that sort values along an axis; equal elements keep their order."""
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
    """Index at which each value goes into the ordered row: before equal ones ("left") or after.

    Raises:
        ValueError: another side.
    """
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'right' or 'left'. Saw: {side}.")
    row, x = convert_all([sorted_sequence, values])
    return SEARCH(row, x, name=name, right=side == "right", dtype=as_dtype(out_type))
