"""`tf.reshape`, `tf.expand_dims`, `tf.squeeze`: the same elements in another shape."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import numbers, renamed
from byparts_frontend_tf.graph.convert import (
    TensorLike,
    convert_to_tensor,
    shape_tensor,
)
from byparts_frontend_tf.graph.infer import axis_of
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_dims, static_value
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.shape import Dims, count_of, shown


def _reshape(x: Value, shape: Any) -> Value:
    dims = [int(d) for d in np.asarray(shape).reshape(-1)]
    if -1 in dims and 0 in dims and x.type.size == 0:  # what -1 stands for is told by nothing
        at = dims.index(-1)
        dims[at] = x.type.dims[at] if at < len(x.type.dims) else 0
    return ops.reshape(x, dims)


def _reshaped(inputs: Sequence[Tensor]) -> Dims:
    dims, known = inputs[0].dims, static_value(inputs[1])
    target = static_dims(inputs[1]) if known is None else tuple([int(d) for d in known.reshape(-1)])
    if target is None:
        return None
    if known is None:
        return target
    count = count_of(dims)
    fixed = prod([d for d in target if d not in (-1, None)])
    holes = [i for i, d in enumerate(target) if d == -1]
    if len(holes) > 1:
        raise ValueError(f"Only one input size may be -1: {list(target)}")
    if count is None:
        return tuple([None if d == -1 else d for d in target])
    if holes and fixed == 0 == count:
        return tuple([None if d == -1 else d for d in target])
    if (holes and (fixed == 0 or count % fixed)) or (not holes and count != fixed):
        raise ValueError(
            f"Cannot reshape a tensor with {count} elements to shape {list(target)} ({fixed} "
            f"elements) for 'Reshape' (op: 'Reshape') with input shape {shown(dims)}"
        )
    return tuple([count // fixed if d == -1 else d for d in target])


RESHAPE = Kind(
    "Reshape",
    _reshape,
    host=lambda x, shape: x.reshape(shape),
    values=(1,),
    shape=_reshaped,
)


@symbol("reshape")
def reshape(tensor: TensorLike, shape: TensorLike, name: Optional[str] = None) -> Tensor:
    """The elements, in order, in another shape; one -1 stands for what is left.

    Raises:
        ValueError: it is known that they do not fit.
    """
    if isinstance(shape, (int, np.integer)) or getattr(shape, "dims", None) == ():
        raise ValueError("Shape must be rank 1 but is rank 0 for 'Reshape' (op: 'Reshape')")
    return RESHAPE(convert_to_tensor(tensor), shape_tensor(shape), name=name)


def _expanded(inputs: Sequence[Tensor], *, axis: int) -> Dims:
    dims = inputs[0].dims
    if dims is None:
        return None
    at = axis_of(axis, len(dims) + 1, "dimension")
    return (*dims[:at], 1, *dims[at:])


EXPAND_DIMS = Kind(
    "ExpandDims",
    lambda x, axis: ops.expand_dims(x, axis),
    host=lambda x, axis: np.expand_dims(x, axis),
    shape=_expanded,
)


@symbol("expand_dims")
def expand_dims(
    input: TensorLike, axis: Any = None, name: Optional[str] = None, dim: Any = None
) -> Tensor:
    """The tensor with an axis of one element.

    Raises:
        ValueError: it cannot stand there, or no axis is given.
    """
    axis = renamed(axis, dim, "axis", "dim")
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    (axis,) = numbers(axis, "expand_dims: the axis")
    return EXPAND_DIMS(convert_to_tensor(input), name=name, axis=axis)


def _squeezed(inputs: Sequence[Tensor], *, axes: Optional[tuple[int, ...]]) -> Dims:
    dims = inputs[0].dims
    if dims is None:
        return None
    if axes is None:
        return None if None in dims else tuple([d for d in dims if d != 1])
    gone = {axis_of(a, len(dims)) for a in axes}
    for i in gone:
        if dims[i] not in (1, None):
            raise ValueError(f"Can not squeeze dim[{i}], expected a dimension of 1, got {dims[i]}")
    return tuple([d for i, d in enumerate(dims) if i not in gone])


SQUEEZE = Kind(
    "Squeeze",
    lambda x, axes: ops.squeeze(x, axes),
    host=lambda x, axes: np.squeeze(x, axes),
    shape=_squeezed,
)


@symbol("squeeze")
def squeeze(
    input: TensorLike, axis: Any = None, name: Optional[str] = None, squeeze_dims: Any = None
) -> Tensor:
    """The tensor without axes of one element: those given, or all.

    Raises:
        ValueError: an axis is of another size.
    """
    axis = renamed(axis, squeeze_dims, "axis", "squeeze_dims")
    axes = None if axis is None else numbers(axis, "squeeze: the axes") or None
    return SQUEEZE(convert_to_tensor(input), name=name, axes=axes)
