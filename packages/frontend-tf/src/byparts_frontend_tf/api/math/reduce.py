"""`tf.math.reduce_sum` and so on: sums, means, extremes along axes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import numbers, renamed
from byparts_frontend_tf.api.elementwise import FLOATS, NUMBERS, check_dtype
from byparts_frontend_tf.api.math.binary import truncated_quotient
from byparts_frontend_tf.api.math.unary import sqrt, square
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import axis_of, reduced
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import FLOATS as OWN_FLOATS, Value, integer_limits
from byparts_tf_files.dtypes import DType, as_dtype, int64
from byparts_tf_files.shape import Dims

Reduce = Callable[..., Value]


def _mean(x: Value, axes: Any, keepdims: bool) -> Value:
    if x.type.dtype in OWN_FLOATS:
        return ops.mean(x, axes, keepdims)
    total = ops.sum(x, axes, keepdims)
    return truncated_quotient(total, ops.fill(count_of(x, total), x.type.dtype))


def count_of(x: Value, reduced_: Value) -> int:
    """Number of elements of x that are reduced to one."""
    return max(1, x.type.size // max(1, reduced_.type.size))


def _of_none(op: Reduce, number: float) -> Reduce:
    """An extreme, which of no elements is infinite."""

    def meaning(x: Value, axes: Any, keepdims: bool) -> Value:
        if x.type.size:
            return op(x, axes, keepdims)
        shape = ops.sum(x, axes, keepdims)
        integers = x.type.dtype not in OWN_FLOATS
        limits = integer_limits(x.type.dtype) if integers else (-float("inf"), float("inf"))
        return shape * 0 + limits[number > 0]

    return meaning


def _kind(type: str, meaning: Reduce, gradient: bool = True, host: Any = None) -> Kind:
    of_complex = host and (lambda x, axes, keepdims: host(x, axis=axes, keepdims=keepdims))
    return Kind(type, meaning, host=of_complex, shape=reduced, gradient=gradient)


def _late(type: str, kind: Kind) -> Kind:
    """The same where the axes are known only when it runs."""

    def meaning(x: Value, axes: Any, keepdims: bool) -> Value:
        return kind.meaning(x, tuple([int(a) for a in axes.reshape(-1)]), keepdims)  # type: ignore[misc,no-any-return]  # it has a meaning

    return Kind(type, meaning, values=(1,), shape=lambda inputs, keepdims: None)


def _reduce(kind: Kind, symbols: str, allowed: Collection[str]) -> Callable[..., Tensor]:
    late = _late(kind.type, kind)

    def apply(
        input_tensor: TensorLike,
        axis: Any = None,
        keepdims: Optional[bool] = None,
        name: Optional[str] = None,
        reduction_indices: Any = None,
        keep_dims: Optional[bool] = None,
    ) -> Tensor:
        axis = renamed(axis, reduction_indices, "axis", "reduction_indices")
        kept = bool(renamed(keepdims, keep_dims, "keepdims", "keep_dims"))
        x = check_dtype(convert_to_tensor(input_tensor), allowed, "input")
        made: Tensor
        if isinstance(axis, Tensor) and static_value(axis) is None:
            made = late(x, axis, name=name, keepdims=kept)
        else:
            axes = None if axis is None else numbers(axis, "the axes")
            if axes is None:
                x.graph.unique_name("Const")  # TensorFlow makes a constant of the axes
            elif x.dims is not None and len({a % max(1, len(x.dims)) for a in axes}) < len(axes):
                axes = tuple(dict.fromkeys(axis_of(a, len(x.dims)) for a in axes))
            made = kind(x, name=name, axes=axes, keepdims=kept)
        return made

    apply.__name__ = apply.__qualname__ = symbols
    apply.__doc__ = f"TensorFlow's `{kind.type}` along axes, by default all."
    return apply


reduce_sum = _reduce(_kind("Sum", ops.sum, host=np.sum), "reduce_sum", NUMBERS)
reduce_mean = _reduce(_kind("Mean", _mean, host=np.mean), "reduce_mean", NUMBERS)
reduce_prod = _reduce(_kind("Prod", ops.prod, host=np.prod), "reduce_prod", NUMBERS)
reduce_max = _reduce(_kind("Max", _of_none(ops.max, -1)), "reduce_max", NUMBERS)
reduce_min = _reduce(_kind("Min", _of_none(ops.min, 1)), "reduce_min", NUMBERS)
reduce_all = _reduce(_kind("All", ops.all, False), "reduce_all", ("bool",))
reduce_any = _reduce(_kind("Any", ops.any, False), "reduce_any", ("bool",))
reduce_logsumexp = _reduce(_kind("LogSumExp", ops.logsumexp), "reduce_logsumexp", FLOATS)


def _position(op: Callable[..., Value], x: Value, axis: Any, dtype: DType) -> Value:
    found = op(x, int(axis))
    return found if dtype is int64 else ops.cast(found, dtype.own)


def _position_shape(inputs: Sequence[Tensor], *, dtype: DType) -> Dims:
    dims, axis = inputs[0].dims, static_value(inputs[1])
    if dims is None:
        return None
    if axis is None:
        return (None,) * (len(dims) - 1)
    at = axis_of(int(axis), len(dims))
    return (*dims[:at], *dims[at + 1 :])


def _extreme(type: str, op: Callable[..., Value]) -> Callable[..., Tensor]:
    kind = Kind(
        type,
        lambda x, axis, dtype: _position(op, x, axis, dtype),
        values=(1,),
        shape=_position_shape,
        dtype=lambda inputs, dtype: dtype,
        gradient=False,
    )

    def apply(
        input: TensorLike,
        axis: Any = None,
        name: Optional[str] = None,
        dimension: Any = None,
        output_type: Any = int64,
    ) -> Tensor:
        axis = renamed(axis, dimension, "axis", "dimension")
        x = check_dtype(convert_to_tensor(input), (*NUMBERS, "bool"), "input")
        at = convert_to_tensor(0 if axis is None else axis, name="dimension")
        made: Tensor = kind(x, at, name=name, dtype=as_dtype(output_type))
        return made

    apply.__doc__ = f"TensorFlow's `{type}`: where along an axis."
    return apply


argmax = _extreme("ArgMax", ops.argmax)
argmin = _extreme("ArgMin", ops.argmin)


@symbol("arg_max")
def arg_max(
    input: TensorLike, dimension: Any, output_type: Any = int64, name: Optional[str] = None
) -> Tensor:
    """Index of the greatest element along an axis."""
    return argmax(input, dimension, name, output_type=output_type)


@symbol("arg_min")
def arg_min(
    input: TensorLike, dimension: Any, output_type: Any = int64, name: Optional[str] = None
) -> Tensor:
    """Index of the least element along an axis."""
    return argmin(input, dimension, name, output_type=output_type)


_REDUCES = ("sum", "mean", "prod", "max", "min", "all", "any", "logsumexp")


@symbol("math.reduce_variance")
def reduce_variance(
    input_tensor: TensorLike, axis: Any = None, keepdims: bool = False, name: Optional[str] = None
) -> Tensor:
    """The variance along axes, by default of all elements."""
    with name_scope(name, "reduce_variance"):
        x = convert_to_tensor(input_tensor)
        return reduce_mean(square(x - reduce_mean(x, axis, True)), axis, keepdims)


@symbol("math.reduce_std")
def reduce_std(
    input_tensor: TensorLike, axis: Any = None, keepdims: bool = False, name: Optional[str] = None
) -> Tensor:
    """The standard deviation along axes, by default of all elements."""
    with name_scope(name, "reduce_std"):
        return sqrt(reduce_variance(input_tensor, axis, keepdims))


@symbol("math.reduce_euclidean_norm")
def reduce_euclidean_norm(
    input_tensor: TensorLike, axis: Any = None, keepdims: bool = False, name: Optional[str] = None
) -> Tensor:
    """The root of the sum of squares along axes."""
    with name_scope(name, "euclidean_norm"):
        return sqrt(reduce_sum(square(convert_to_tensor(input_tensor)), axis, keepdims))


SYMBOLS = {
    **{f"{p}reduce_{s}": f"reduce_{s}" for p in ("", "math.") for s in _REDUCES},
    "argmax": "argmax",
    "argmin": "argmin",
    "math.argmax": "argmax",
    "math.argmin": "argmin",
}
