"""Shapes: what they are, and the same elements in another one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import numbers, renamed
from byparts_frontend_tf.api.casting import cast
from byparts_frontend_tf.api.sequences import range as range_
from byparts_frontend_tf.api.stacking import concat
from byparts_frontend_tf.graph.convert import (
    TensorLike,
    constant_of,
    convert_to_tensor,
    shape_tensor,
)
from byparts_frontend_tf.graph.infer import axis_of, broadcast_dims, scalar
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_dims, static_value
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import DType, as_dtype, int32
from byparts_tf_files.shape import Dims, TensorShape, count_of, is_static, shown

_of_type = lambda inputs, dtype: dtype  # noqa: E731  # the dtype rule of all measures


def _shape_of(x: Value, dtype: DType) -> Value:
    return ops.constant(np.array(x.type.dims, dtype.as_numpy_dtype))


SHAPE = Kind(
    "Shape",
    _shape_of,
    host=lambda x, dtype: np.array(x.shape, dtype.as_numpy_dtype),
    shape=lambda inputs, dtype: (None if inputs[0].dims is None else len(inputs[0].dims),),
    dtype=_of_type,
    gradient=False,
)
SIZE = Kind(
    "Size",
    lambda x, dtype: ops.constant(np.array(x.type.size, dtype.as_numpy_dtype)),
    host=lambda x, dtype: x.size,
    shape=scalar,
    dtype=_of_type,
    gradient=False,
)
RANK = Kind(
    "Rank",
    lambda x, dtype: ops.constant(np.array(len(x.type.dims), dtype.as_numpy_dtype)),
    host=lambda x, dtype: x.ndim,
    shape=scalar,
    dtype=_of_type,
    gradient=False,
)


@symbol("shape")
def shape(input: TensorLike, name: Optional[str] = None, out_type: Any = int32) -> Tensor:
    """The shape of a tensor, as a tensor: a constant where it is known."""
    return _measure(SHAPE, input, name, out_type, lambda dims: np.array(dims))


@symbol("python.ops.array_ops.shape_internal")
def shape_internal(
    input: TensorLike, name: Optional[str] = None, optimize: bool = True, out_type: Any = int32
) -> Tensor:
    """As `shape`; it is a constant where it is known, whatever `optimize` says."""
    return shape(input, name, out_type)


@symbol("size")
def size(input: TensorLike, name: Optional[str] = None, out_type: Any = int32) -> Tensor:
    """How many elements a tensor has."""
    return _measure(SIZE, input, name, out_type, lambda dims: np.array(prod(dims)))


@symbol("rank")
def rank(input: TensorLike, name: Optional[str] = None) -> Tensor:
    """How many axes a tensor has."""
    return _measure(RANK, input, name, int32, lambda dims: np.array(len(dims)))


def _measure(kind: Kind, input: Any, name: Optional[str], out_type: Any, known: Any) -> Tensor:
    if hasattr(input, "dense_shape") and hasattr(input, "indices"):  # a SparseTensor
        return cast(input.dense_shape, out_type)  # type: ignore[no-any-return]  # a tensor
    x, dtype = convert_to_tensor(input), as_dtype(out_type)
    if is_static(x.dims) or (kind is RANK and x.dims is not None):
        return constant_of(known(x.dims).astype(dtype.as_numpy_dtype), name or kind.type)
    return kind(x, name=name, dtype=dtype)


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


def _transposed(inputs: Sequence[Tensor]) -> Dims:
    dims = inputs[0].dims
    order = static_value(inputs[1])
    if order is None:
        return None if dims is None else (None,) * len(dims)
    if dims is None:
        return (None,) * int(order.size)
    if len(dims) != order.size or sorted(order.tolist()) != list(range(order.size)):
        raise ValueError(f"Dimension must be {len(dims)} but is {order.size} for 'transpose'")
    return tuple([dims[i] for i in order.tolist()])


TRANSPOSE = Kind(
    "Transpose",
    lambda x, order: ops.transpose(x, [int(i) for i in order]),
    host=np.transpose,
    values=(1,),
    shape=_transposed,
)


@symbol("transpose")
def transpose(
    a: TensorLike, perm: Any = None, name: str = "transpose", conjugate: bool = False
) -> Tensor:
    """The tensor with its axes in another order, by default the opposite one.

    Raises:
        ValueError: it is no order of its axes.
    """
    x = convert_to_tensor(a)
    if perm is None:
        if x.dims is None:
            perm = rank(x) - 1 - range_(0, rank(x), 1)
        else:
            perm = list(range(len(x.dims)))[::-1]
    return TRANSPOSE(x, shape_tensor(perm, "perm"), name=name)


@symbol("matrix_transpose", "linalg.transpose", "linalg.matrix_transpose")
def matrix_transpose(
    a: TensorLike, name: str = "matrix_transpose", conjugate: bool = False
) -> Tensor:
    """The tensor with its last two axes exchanged.

    Raises:
        ValueError: it has fewer, or how many is not known.
    """
    x = convert_to_tensor(a)
    if x.dims is None:
        n = rank(x)
        return transpose(x, concat([range_(0, n - 2), [n - 1, n - 2]], 0), name)
    if len(x.dims) < 2:
        raise ValueError(
            f"Argument 'a' should be a (batch) matrix, with rank >= 2: {shown(x.dims)}"
        )
    axes = len(x.dims)
    return transpose(x, [*range(axes - 2), axes - 1, axes - 2], name)


def _spread(inputs: Sequence[Tensor]) -> Dims:
    target = static_dims(inputs[1])
    if target is not None and inputs[0].dims is not None:
        broadcast_dims(inputs[0].dims, target)
    return target


BROADCAST_TO = Kind(
    "BroadcastTo",
    lambda x, shape: ops.broadcast_to(x, [int(d) for d in shape]),
    host=np.broadcast_to,
    values=(1,),
    shape=_spread,
)


@symbol("broadcast_to")
def broadcast_to(input: TensorLike, shape: TensorLike, name: Optional[str] = None) -> Tensor:
    """The tensor repeated into a shape.

    Raises:
        ValueError: it does not fit.
    """
    return BROADCAST_TO(convert_to_tensor(input), shape_tensor(shape), name=name)


@symbol("broadcast_static_shape")
def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape that two shapes are repeated into.

    Raises:
        ValueError: they do not fit.
    """
    return TensorShape(broadcast_dims(TensorShape(shape_x)._dims, TensorShape(shape_y)._dims))


def _reversed_shape(inputs: Sequence[Tensor], *, axes: tuple[int, ...]) -> Dims:
    dims = inputs[0].dims
    if dims is not None:
        for a in axes:
            axis_of(a, len(dims))
    return dims


REVERSE = Kind(
    "ReverseV2",
    lambda x, axes: ops.reverse(x, axes) if axes else ops.identity(x),
    host=lambda x, axes: np.flip(x, axes),
    shape=_reversed_shape,
)


@symbol("reverse", "reverse_v2", "manip.reverse")
def reverse(tensor: TensorLike, axis: Any, name: Optional[str] = None) -> Tensor:
    """The elements along each of the axes in the opposite order."""
    if isinstance(axis, (int, np.integer)):
        raise ValueError("Shape must be rank 1 but is rank 0 for 'ReverseV2' (op: 'ReverseV2')")
    axes = numbers(axis, "reverse: the axes")
    return REVERSE(convert_to_tensor(tensor), name=name, axes=axes)
