"""Tensors joined and cut along an axis: stack, unstack, concat, split, tile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import number
from byparts_frontend_tf.api.passing import IDENTITY
from byparts_frontend_tf.graph.convert import (
    TensorLike,
    convert_all,
    convert_to_tensor,
    is_tensor,
    shape_tensor,
)
from byparts_frontend_tf.graph.infer import axis_of
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_dims, static_value
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.shape import Dims, fits, merged, shown


def _one_dtype(tensors: Sequence[Tensor], what: str) -> None:
    for t in tensors:
        if t.dtype.base_dtype is not tensors[0].dtype.base_dtype:
            raise TypeError(
                f"Tensors in list passed to {what!r} have types "
                f"[{', '.join(t.dtype.name for t in tensors)}] that don't all match."
            )


def convert_list(values: Sequence[TensorLike], argument: str, type: str) -> list[Tensor]:
    """The values as tensors of one dtype.

    Raises:
        TypeError: they are of several.
    """
    try:
        return convert_all(values, name=argument)
    except ValueError as error:
        if "requested dtype" not in str(error):
            raise
        raise TypeError(
            f"Tensors in list passed to {argument!r} of {type!r} Op have types "
            f"[{', '.join(convert_to_tensor(v).dtype.name for v in values)}] that don't all match."
        ) from None


def _holds_tensors(values: Any) -> bool:
    if isinstance(values, (list, tuple)):
        return any(_holds_tensors(v) for v in values)
    return is_tensor(values)


def _stacked(inputs: Sequence[Tensor], *, axis: int) -> Dims:
    dims: Dims = None
    for t in inputs:
        dims = merged(dims, t.dims)
    if dims is None:
        return None
    at = axis_of(axis, len(dims) + 1)
    return (*dims[:at], len(inputs), *dims[at:])


PACK = Kind(
    "Pack",
    lambda *xs, axis: ops.stack(xs, axis),
    host=lambda *xs, axis: np.stack(xs, axis),
    shape=_stacked,
)


@symbol("stack")
def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Tensors of one shape along a new axis.

    Raises:
        ValueError: shapes differ, or there is no such axis.
        TypeError: dtypes differ.
    """
    if axis == 0 and (isinstance(values, Tensor) or not _holds_tensors(values)):
        return convert_to_tensor(
            values, name=name
        )  # as TensorFlow: also nothing, and mixed numbers
    if isinstance(values, Tensor):
        values = unstack(values)
    tensors = convert_all(values)
    _one_dtype(tensors, "values")
    return PACK(*tensors, name=name, axis=number(axis, "axis"))


def _unstack(x: Value, num: int, axis: int) -> tuple[Value, ...]:
    if x.type.dims[axis] != num:
        raise ValueError(f"unstack: {num} tensors asked for, of an axis of {x.type.dims[axis]}")
    return ops.unstack(x, axis) if num else ()


def _unstacked(inputs: Sequence[Tensor], *, num: int, axis: int) -> list[Dims]:
    dims = inputs[0].dims
    if dims is None:
        return [None] * num
    at = axis_of(axis, len(dims))
    if dims[at] not in (None, num):
        raise ValueError(f"Dimension must be {num} but is {dims[at]} for 'unstack' (op: 'Unpack')")
    return [(*dims[:at], *dims[at + 1 :])] * num


UNPACK = Kind(
    "Unpack",
    _unstack,
    host=lambda x, num, axis: tuple(np.moveaxis(x, axis, 0)) if num > 1 else x.squeeze(axis),
    shape=_unstacked,
    dtype=lambda inputs, num, axis: [inputs[0].dtype.base_dtype] * num,
)


@symbol("unstack")
def unstack(
    value: TensorLike, num: Optional[int] = None, axis: int = 0, name: str = "unstack"
) -> list[Tensor]:
    """The tensors that stand along an axis.

    Raises:
        ValueError: how many there are is not known and not given; or there is no such axis.
    """
    x = convert_to_tensor(value, name="value")
    if num is None:
        if x.dims is None or x.dims[axis_of(axis, len(x.dims))] is None:
            raise ValueError(f"Cannot infer num from shape {shown(x.dims)}")
        num = x.dims[axis_of(axis, len(x.dims))]
    assert num is not None, "it is known now"
    return list(UNPACK.operation((x,), name, num=int(num), axis=axis).outputs)


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
    _one_dtype(tensors, "values")
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


def _tiled(inputs: Sequence[Tensor]) -> Dims:
    dims, repeats = inputs[0].dims, static_dims(inputs[1])
    if dims is None and repeats is not None:
        dims = (None,) * len(repeats)
    if dims is None or repeats is None:
        known = dims if repeats is None else repeats
        return None if known is None else (None,) * len(known)
    if len(dims) != len(repeats):
        raise ValueError(f"Shape must be rank {len(dims)} but is rank {len(repeats)} for 'Tile'")
    return tuple([_times(d, r) for d, r in zip(dims, repeats, strict=True)])


def _times(size: Optional[int], repeats: Optional[int]) -> Optional[int]:
    if 0 in (size, repeats):
        return 0
    return None if size is None or repeats is None else size * repeats


TILE = Kind(
    "Tile",
    lambda x, repeats: ops.tile(x, [int(r) for r in repeats]),
    host=np.tile,
    values=(1,),
    shape=_tiled,
)


@symbol("tile")
def tile(input: TensorLike, multiples: TensorLike, name: Optional[str] = None) -> Tensor:
    """`multiples[a]` copies along each axis a.

    Raises:
        ValueError: there is not one number for each axis.
    """
    return TILE(convert_to_tensor(input), shape_tensor(multiples, "multiples"), name=name)
