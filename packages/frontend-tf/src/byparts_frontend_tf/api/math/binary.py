"""`tf.math.add`, `tf.math.less` and so on: arithmetic and comparison of two tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.elementwise import FLOATS, NUMBERS, binary, check_dtype, mismatch, pair
from byparts_frontend_tf.graph.convert import TensorLike, convert_all, convert_to_tensor
from byparts_frontend_tf.graph.infer import broadcast, same
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import FLOATS as OWN_FLOATS, Value
from byparts_tf_files.dtypes import as_dtype, bool_, float32, float64

_TEXT = (*NUMBERS, "string")
_ANY = (*_TEXT, "bool")

add = binary("Add", ops.add, _TEXT, host=np.add)
add_v2 = binary("AddV2", ops.add, _TEXT, host=np.add)
subtract = binary("Sub", ops.sub, host=np.subtract)
multiply = binary("Mul", ops.mul, host=np.multiply)
realdiv = binary("RealDiv", lambda x, y: _quotient(x, y), host=np.divide)
floor_div = binary("FloorDiv", ops.floordiv, gradient=False)
floormod = binary("FloorMod", ops.mod)
maximum = binary("Maximum", lambda x, y: ops.select(ops.less(x, y), y, x))  # at a tie: x
minimum = binary("Minimum", lambda x, y: ops.select(ops.less(y, x), y, x))
power = binary("Pow", ops.pow, host=np.power)
squared_difference = binary(
    "SquaredDifference",
    ops.squared_difference,
    host=lambda x, y: ((x - y) * np.conj(x - y)).astype(x.dtype),
)
atan2 = binary("Atan2", ops.atan2, FLOATS)

equal_tensors = binary("Equal", ops.equal, _ANY, dtype=bool_, gradient=False, host=np.equal)
not_equal_tensors = binary(
    "NotEqual", ops.not_equal, _ANY, dtype=bool_, gradient=False, host=np.not_equal
)
less = binary("Less", ops.less, dtype=bool_, gradient=False)
less_equal = binary("LessEqual", ops.less_equal, dtype=bool_, gradient=False)
greater = binary("Greater", ops.greater, dtype=bool_, gradient=False)
greater_equal = binary("GreaterEqual", ops.greater_equal, dtype=bool_, gradient=False)
logical_and = binary("LogicalAnd", ops.logical_and, ("bool",), gradient=False)
logical_or = binary("LogicalOr", ops.logical_or, ("bool",), gradient=False)


def truncated_quotient(x: Value, y: Value) -> Value:
    """x / y rounded towards 0."""
    sizes = ops.floordiv(ops.abs(x), ops.abs(y))
    return ops.select(ops.equal(ops.less(x, 0), ops.less(y, 0)), sizes, ops.neg(sizes))


def _quotient(x: Value, y: Value) -> Value:
    """Divide floats as x / y, also for `truncatediv`: TensorFlow cuts off integers alone."""
    return ops.div(x, y) if x.type.dtype in OWN_FLOATS else truncated_quotient(x, y)


truncatediv = binary("TruncateDiv", _quotient, host=np.divide, gradient=False)
truncatemod = binary("TruncateMod", lambda x, y: x - truncated_quotient(x, y) * y, gradient=False)


@symbol("truediv", "math.truediv")
def truediv(x: TensorLike, y: TensorLike, name: Optional[str] = None) -> Tensor:
    """Compute x / y; integers are divided as floats.

    Raises:
        TypeError: they are of two dtypes.
    """
    x, y, name = pair(x, y, "truediv", name or "truediv")
    if x.dtype.base_dtype.is_integer:
        wide = float32 if x.dtype.size < 4 else float64
        x, y = cast(x, wide), cast(y, wide)
    return realdiv(x, y, name=name)


@symbol("divide", "math.divide")
def divide(x: TensorLike, y: TensorLike, name: Optional[str] = None) -> Any:
    """Python's x / y."""
    if name is not None:
        return truediv(x, y, name)
    x = x if isinstance(x, Tensor) else convert_to_tensor(x)
    return x / y


@symbol("div")
def div(x: TensorLike, y: TensorLike, name: Optional[str] = None) -> Any:
    """Compute x / y; of integers it is rounded down."""
    x, y, name = pair(x, y, "div", name or "div")
    return (floor_div if x.dtype.base_dtype.is_integer else realdiv)(x, y, name=name)


@symbol("div_no_nan", "math.divide_no_nan")
def div_no_nan(x: TensorLike, y: TensorLike, name: Optional[str] = None) -> Tensor:
    """Compute x / y; 0 where y is 0."""
    x, y, name = pair(x, y, "div_no_nan", name or "div_no_nan")
    return _DIV_NO_NAN(check_dtype(x, FLOATS), y, name=name)


def _div_no_nan(x: Value, y: Value) -> Value:
    zero = ops.equal(y, 0.0)
    return ops.select(zero, 0.0 * x, x / ops.select(zero, ops.ones_like(y), y))


_DIV_NO_NAN = Kind("DivNoNan", _div_no_nan, shape=broadcast)


@symbol("equal", "math.equal")
def equal(x: TensorLike, y: TensorLike, name: Optional[str] = None) -> Any:
    """Whether x is y, element by element."""
    return equal_tensors(x, y, name)


@symbol("not_equal", "math.not_equal")
def not_equal(x: TensorLike, y: TensorLike, name: Optional[str] = None) -> Any:
    """Whether x is not y, element by element."""
    return not_equal_tensors(x, y, name)


@symbol("pow", "math.pow")
def pow(x: TensorLike, y: TensorLike, name: Optional[str] = None) -> Any:
    """Compute x to the power of y."""
    return power(x, y, name)


@symbol("logical_xor", "math.logical_xor")
def logical_xor(x: TensorLike, y: TensorLike, name: Optional[str] = None) -> Any:
    """Whether exactly one of x and y holds, element by element."""
    x, y, name = pair(x, y, "LogicalXor", name or "LogicalXor")
    return _XOR(check_dtype(x, ("bool",)), y, name=name)


_XOR = Kind("LogicalXor", ops.logical_xor, shape=broadcast, gradient=False)


@symbol("add_n", "math.add_n")
def add_n(inputs: Any, name: Optional[str] = None) -> Tensor:
    """The sum of tensors of one shape.

    Raises:
        ValueError: there are none, or shapes differ.
        TypeError: dtypes differ.
    """
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(
            "inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and "
            "shape"
        )
    tensors = [convert_to_tensor(t) for t in inputs]
    for t in tensors:
        if t.dtype.base_dtype is not tensors[0].dtype.base_dtype:
            raise mismatch("AddN", tensors[0].dtype, t.dtype)
    return _ADD_N(*tensors, name=name)


_ADD_N = Kind("AddN", lambda *xs: ops.add_n(xs), host=lambda *xs: sum(xs), shape=same)


@symbol("saturate_cast", "dtypes.saturate_cast")
def saturate_cast(value: TensorLike, dtype: Any, name: Optional[str] = None) -> Any:
    """The elements as another dtype, held between the least and the greatest it has."""
    x, dtype = convert_to_tensor(value), as_dtype(dtype).base_dtype
    if x.dtype.min < dtype.min:
        x = maximum(x, convert_to_tensor(np.asarray(dtype.min, x.dtype.as_numpy_dtype)))
    if x.dtype.max > dtype.max:
        x = minimum(x, convert_to_tensor(np.asarray(dtype.max, x.dtype.as_numpy_dtype)))
    return cast(x, dtype, name)


@symbol("scalar_mul", "math.scalar_mul")
def scalar_mul(scalar: TensorLike, x: Any, name: Optional[str] = None) -> Any:
    """A number times a tensor, or IndexedSlices.

    Raises:
        ValueError: it is no number.
    """
    x = x if hasattr(x, "_map_values") else convert_to_tensor(x)
    number = convert_to_tensor(scalar, dtype=x.dtype.base_dtype, name="scalar")
    if number.dims not in (None, ()):
        raise ValueError("Only scalar multiply works, got shape " + str(number.shape))
    if hasattr(x, "_map_values"):
        return x._map_values(lambda values: multiply(number, values, name))
    return multiply(number, x, name)


@symbol("accumulate_n", "math.accumulate_n")
def accumulate_n(
    inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: Optional[str] = None
) -> Tensor:
    """Add up tensors as `add_n` does.

    Raises:
        ValueError: shapes differ, or there is none.
    """
    made = add_n(convert_all(list(inputs)), name=name or "AccumulateNV2")
    if shape is not None:
        made.set_shape(shape)
    return made


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


SYMBOLS = {
    "add": "add",
    "math.add": "add",
    "subtract": "subtract",
    "math.subtract": "subtract",
    "multiply": "multiply",
    "math.multiply": "multiply",
    "realdiv": "realdiv",
    "floordiv": "floor_div",
    "floor_div": "floor_div",
    "math.floordiv": "floor_div",
    "mod": "floormod",
    "floormod": "floormod",
    "math.mod": "floormod",
    "math.floormod": "floormod",
    "maximum": "maximum",
    "math.maximum": "maximum",
    "minimum": "minimum",
    "math.minimum": "minimum",
    "squared_difference": "squared_difference",
    "math.squared_difference": "squared_difference",
    "atan2": "atan2",
    "math.atan2": "atan2",
    "less": "less",
    "math.less": "less",
    "less_equal": "less_equal",
    "math.less_equal": "less_equal",
    "greater": "greater",
    "math.greater": "greater",
    "greater_equal": "greater_equal",
    "math.greater_equal": "greater_equal",
    "logical_and": "logical_and",
    "math.logical_and": "logical_and",
    "logical_or": "logical_or",
    "math.logical_or": "logical_or",
    "truncatediv": "truncatediv",
    "truncatemod": "truncatemod",
    **{f"math.{name}": name for name in ("xlogy", "xdivy", "multiply_no_nan")},
}
