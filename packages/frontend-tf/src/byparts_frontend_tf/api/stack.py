"""`tf.stack` and `tf.unstack`: tensors joined and cut along a new axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import number
from byparts_frontend_tf.graph.convert import (
    TensorLike,
    convert_all,
    convert_to_tensor,
    is_tensor,
)
from byparts_frontend_tf.graph.infer import axis_of
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.shape import Dims, merged, shown


def one_dtype(tensors: Sequence[Tensor], what: str) -> None:
    """Refuse tensors of several dtypes.

    Raises:
        TypeError: one is of another dtype than the first.
    """
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
    one_dtype(tensors, "values")
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


@symbol("parallel_stack")
def parallel_stack(values: Any, name: str = "parallel_stack") -> Tensor:
    """Stack tensors as `stack` does."""
    return stack(values, name=name)
