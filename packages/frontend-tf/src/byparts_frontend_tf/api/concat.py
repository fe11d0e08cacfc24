"""`tf.concat` and `tf.split`: tensors joined and cut along an axis that they have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import number
from byparts_frontend_tf.api.identity import IDENTITY
from byparts_frontend_tf.api.stack import convert_list, one_dtype
from byparts_frontend_tf.graph.convert import (
    TensorLike,
    convert_to_tensor,
)
from byparts_frontend_tf.graph.infer import axis_of
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.shape import Dims, fits, merged, shown


def _concatenated(inputs: Sequence[Tensor], *, axis: int) -> Dims:
    ranks = {len(t.dims) for t in inputs if t.dims is not None}
    if not ranks:
        return None
    if len(ranks) > 1:
        raise ValueError(f"Shapes of concat differ in rank: {[shown(t.dims) for t in inputs]}")
    (rank,) = ranks
    at = axis_of(axis, rank, "concat dimension")
    total: Optional[int] = 0
    rest: Dims = (None,) * (rank - 1)
    for t in inputs:
        dims = (None,) * rank if t.dims is None else t.dims
        others = (*dims[:at], *dims[at + 1 :])
        if not fits(rest, others):
            raise ValueError(
                f"Dimension {at} in both shapes must be equal: {[shown(t.dims) for t in inputs]}"
            )
        rest = merged(rest, others)
        d = dims[at]
        total = None if total is None or d is None else total + d
    assert rest is not None, "the rank is known"
    return (*rest[:at], total, *rest[at:])


CONCAT = Kind(
    "ConcatV2",
    lambda *xs, axis: ops.concat(xs, axis),
    host=lambda *xs, axis: np.concatenate(xs, axis),
    shape=_concatenated,
)


@symbol("concat")
def concat(values: Any, axis: TensorLike, name: str = "concat") -> Tensor:
    """Tensors one after the other along an axis.

    Raises:
        ValueError: other dimensions differ, or there is no such axis.
        TypeError: dtypes differ.
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    if not values:
        raise ValueError("List argument 'values' to 'ConcatV2' Op with length 0 shorter than 1.")
    if isinstance(axis, (list, tuple)):
        raise ValueError("Shape must be rank 0 but is rank 1 for 'ConcatV2' (op: 'ConcatV2')")
    tensors = convert_list(values, "values", "ConcatV2")
    axis = number(axis, "concat: the axis")
    if len(tensors) == 1:
        if tensors[0].dims is not None:
            axis_of(axis, len(tensors[0].dims))
        return IDENTITY(tensors[0], name=name)
    one_dtype(tensors, "values")
    return CONCAT(*tensors, name=name, axis=axis)


def _split(x: Value, sizes: Any, axis: int) -> tuple[Value, ...]:
    d, sizes = x.type.dims[axis], [int(s) for s in np.asarray(sizes).reshape(-1)]
    if -1 in sizes:
        sizes[sizes.index(-1)] = d - sum(sizes) - 1
    if sum(sizes) != d or min(sizes) < 0:
        raise ValueError(f"split: sizes {sizes} do not add up to {d}")
    return ops.split(x, sizes, axis) if len(sizes) > 1 else (ops.identity(x),)


def _split_evenly(x: Value, num: int, axis: int) -> tuple[Value, ...]:
    d = x.type.dims[axis]
    if d % num:
        raise ValueError(f"split: a dimension of {d} is no multiple of {num}")
    return ops.split(x, [d // num] * num, axis) if num > 1 else (ops.identity(x),)


def _even_shapes(inputs: Sequence[Tensor], *, num: int, axis: int) -> list[Dims]:
    dims = inputs[0].dims
    if dims is None:
        return [None] * num
    at = axis_of(axis, len(dims))
    d = dims[at]
    if d is not None and d % num:
        raise ValueError(f"Dimension size must be evenly divisible by {num} but is {d} for 'split'")
    return [(*dims[:at], None if d is None else d // num, *dims[at + 1 :])] * num


def _split_shapes(inputs: Sequence[Tensor], *, count: int, axis: int) -> list[Dims]:
    dims = inputs[0].dims
    if dims is None:
        return [None] * count
    at, sizes = axis_of(axis, len(dims)), static_value(inputs[1])
    given: list[Any] = [None] * count if sizes is None else [int(s) for s in sizes.reshape(-1)]
    d = dims[at]
    if sizes is not None and d is not None:
        left = d - sum([s for s in given if s != -1])
        given = [left if s == -1 else s for s in given]
        if sum(given) != d:
            raise ValueError(f"split: sizes {sizes.tolist()} do not add up to {d}")
    pieces = [None if s == -1 else s for s in given]
    return [(*dims[:at], s, *dims[at + 1 :]) for s in pieces]


SPLIT = Kind(
    "Split",
    _split_evenly,
    host=lambda x, num, axis: tuple(np.split(x, num, axis)) if num > 1 else x,
    shape=_even_shapes,
    dtype=lambda inputs, num, axis: [inputs[0].dtype.base_dtype] * num,
)


SPLIT_V = Kind(
    "SplitV",
    lambda x, sizes, count, axis: _split(x, sizes, axis),
    values=(1,),
    shape=_split_shapes,
    dtype=lambda inputs, count, axis: [inputs[0].dtype.base_dtype] * count,
)


@symbol("split")
def split(
    value: TensorLike,
    num_or_size_splits: TensorLike,
    axis: TensorLike = 0,
    num: Optional[int] = None,
    name: str = "split",
) -> list[Tensor]:
    """A tensor cut along an axis, into so many equal parts or into parts of these sizes.

    Raises:
        ValueError: it cannot be cut so.
    """
    x, sizes = convert_to_tensor(value), convert_to_tensor(num_or_size_splits)
    if isinstance(axis, Tensor) and axis.dtype.is_floating:
        raise TypeError(
            f"Input 'split_dim' of 'Split' Op has type {axis.dtype.name} that does not match "
            "expected type of int32."
        )
    axis = number(axis, "split: the axis")
    if sizes.dims == ():
        if not sizes.dtype.is_integer:
            raise ValueError(
                "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
                f"Argument provided: {num_or_size_splits}"
            )
        count = number(sizes, "split: the number of parts")
        return list(SPLIT.operation((x,), name, num=count, axis=axis).outputs)
    if num is None:
        if sizes.dims is None or sizes.dims[0] is None:
            raise ValueError(f"Cannot infer num from shape {shown(sizes.dims)}")
        num = sizes.dims[0]
    return list(SPLIT_V.operation((x, sizes), name, count=num, axis=axis).outputs)
