"""Small functions of `tf.math`, `tf.bitwise` and arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arithmetic import multiply
from byparts_frontend_tf.api.families import FLOATS, INTEGERS, binary, unary
from byparts_frontend_tf.api.passing import identity
from byparts_frontend_tf.api.places import scatter_nd
from byparts_frontend_tf.api.reductions import reduce_all
from byparts_frontend_tf.api.shaping import reshape, shape as shape_of
from byparts_frontend_tf.api.unary import expm1, log
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.shape import as_dims, merged

bitwise_and = binary("BitwiseAnd", ops.bitwise_and, INTEGERS, gradient=False)
bitwise_or = binary("BitwiseOr", ops.bitwise_or, INTEGERS, gradient=False)
bitwise_xor = binary("BitwiseXor", ops.bitwise_xor, INTEGERS, gradient=False)
invert = unary("Invert", ops.bitwise_not, INTEGERS, gradient=False)


def _shifted(sign: int) -> Callable[[Value, Value], Value]:
    def meaning(x: Value, by: Value) -> Value:
        power = ops.cast(ops.pow(ops.fill(2.0, "f64"), ops.cast(by, "f64")), x.type.dtype)
        return x * power if sign > 0 else ops.floordiv(x, power)

    return meaning


left_shift = binary("LeftShift", _shifted(1), INTEGERS, gradient=False)
right_shift = binary("RightShift", _shifted(-1), INTEGERS, gradient=False)


def _where_not_zero(function: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    """`function` where x is not 0, else 0; of y only what counts is seen."""

    def meaning(x: Value, y: Value) -> Value:
        none = ops.equal(x, 0)
        return ops.select(
            none, ops.fill(0, x.type.dtype), function(x, ops.select(none, 1 + 0 * x, y))
        )

    return meaning


xlogy = binary("Xlogy", _where_not_zero(lambda x, y: x * ops.log(y)), FLOATS)
xdivy = binary("Xdivy", _where_not_zero(lambda x, y: x / y), FLOATS)
multiply_no_nan = binary(
    "MulNoNan",
    lambda x, y: ops.select(ops.equal(y, 0), ops.fill(0, x.type.dtype), x * y),
    FLOATS,
)


@symbol("math.polyval")
def polyval(coeffs: Any, x: TensorLike, name: Optional[str] = None) -> Any:
    """The polynomial with these coefficients, the highest power first."""
    with name_scope(name, "polyval"):
        at = convert_to_tensor(x)
        made: Any = at * 0 if not coeffs else coeffs[0] + at * 0
        for c in coeffs[1:]:
            made = c + made * at
        return made


def _ascending(strict: bool) -> Callable[..., Tensor]:
    def apply(x: TensorLike, name: Optional[str] = None) -> Tensor:
        flat = reshape(convert_to_tensor(x), [-1])
        step = flat[1:] - flat[:-1]
        return reduce_all(step > 0 if strict else step >= 0, name=name)

    apply.__doc__ = "Whether the elements in order " + ("all grow." if strict else "never fall.")
    apply.__module__ = __name__
    return apply


is_strictly_increasing, is_non_decreasing = _ascending(True), _ascending(False)


@symbol("is_numeric_tensor", "debugging.is_numeric_tensor")
def is_numeric_tensor(tensor: Any) -> bool:
    """Whether it is a tensor of numbers."""
    if not isinstance(tensor, Tensor):
        return False
    dtype = tensor.dtype
    return dtype.is_floating or dtype.is_integer or dtype.is_complex


@symbol("ensure_shape")
def ensure_shape(x: TensorLike, shape: Any, name: Optional[str] = None) -> Tensor:
    """The tensor, whose shape is compatible with this one.

    Raises:
        ValueError: it is known not to be.
    Raises at run time:
        InvalidArgumentError: it is not.
    """
    given = convert_to_tensor(x)
    merged(given.dims, as_dims(shape))
    return ENSURE_SHAPE(given, name=name, shape=as_dims(shape))


def _ensured(x: Value, shape: Any) -> Value:
    dims = x.type.dims
    if shape is not None and (
        len(dims) != len(shape) or any(w not in (None, d) for d, w in zip(dims, shape, strict=True))
    ):
        raise ValueError(
            f"Shape of tensor {list(dims)} is not compatible with expected shape {list(shape)}."
        )
    return ops.identity(x)


ENSURE_SHAPE = Kind(
    "EnsureShape", _ensured, shape=lambda inputs, shape: merged(inputs[0].dims, shape)
)


@symbol("guarantee_const")
def guarantee_const(input: TensorLike, name: Optional[str] = None) -> Any:
    """The tensor itself."""
    return identity(input, name)


def _unraveled(indices: Value, dims: Any) -> Value:
    sizes = [int(d) for d in np.reshape(dims, -1)]
    steps = [int(np.prod(sizes[i + 1 :])) for i in range(len(sizes))]
    rank = [1] * len(indices.type.dims)
    column = ops.constant(np.array(steps).reshape(-1, *rank), indices.type.dtype)
    limits = ops.constant(np.array(sizes).reshape(-1, *rank), indices.type.dtype)
    return ops.mod(ops.floordiv(ops.expand_dims(indices, 0), column), limits)


UNRAVEL = Kind("UnravelIndex", _unraveled, values=(1,), gradient=False)


@symbol("unravel_index")
def unravel_index(indices: TensorLike, dims: TensorLike, name: Optional[str] = None) -> Tensor:
    """The places [rank, ...] of flat indices in an array of these dimensions."""
    return UNRAVEL(convert_to_tensor(indices), convert_to_tensor(dims), name=name)


def _scattered(how: str) -> Callable[..., Tensor]:
    def apply(
        tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: Optional[str] = None
    ) -> Tensor:
        with name_scope(name, f"TensorScatter{how}"):
            x, at = convert_to_tensor(tensor), convert_to_tensor(indices)
            rows = convert_to_tensor(updates, x.dtype.base_dtype)
            change = scatter_nd(at, rows, shape_of(x))
            if how == "Add":
                made: Tensor = x + change
            elif how == "Sub":
                made = x - change
            else:
                hit = scatter_nd(at, rows * 0 + 1, shape_of(x))
                made = multiply(x, _one_minus(hit)) + change
            return made

    apply.__doc__ = f"TensorFlow's `tensor_scatter_{how.lower()}`: at places [..., depth]."
    apply.__module__ = __name__
    return apply


def _one_minus(hit: Tensor) -> Tensor:
    left: Tensor = 1 - hit
    return left


tensor_scatter_add, tensor_scatter_sub = _scattered("Add"), _scattered("Sub")
tensor_scatter_update = _scattered("Update")


@symbol("contrib.distributions.softplus_inverse", "math.softplus_inverse")
def softplus_inverse(x: TensorLike, name: Optional[str] = None) -> Any:
    """y with softplus(y) = x."""
    with name_scope(name, "softplus_inverse"):
        return log(expm1(convert_to_tensor(x)))


_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift")
_GROWING = ("is_strictly_increasing", "is_non_decreasing")
SYMBOLS = {
    **{f"bitwise.{name}": name for name in _BITS},
    **{f"math.{name}": name for name in ("xlogy", "xdivy", "multiply_no_nan", *_GROWING)},
    **{name: name for name in _GROWING},
    **{
        f"tensor_scatter_{nd}{how}": f"tensor_scatter_{how}"
        for how in ("add", "sub", "update")
        for nd in ("", "nd_")
    },
}
