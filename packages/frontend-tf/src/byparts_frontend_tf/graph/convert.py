"""Conversion to tensors: of numbers, lists, arrays, variables, lists of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

from byparts_frontend_tf.graph import upper
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_graph_ir import Value
from byparts_opset import constant as constant_value
from byparts_tf_files.arrays import as_array
from byparts_tf_files.dimension import Dimension
from byparts_tf_files.dtypes import DType, as_dtype, string
from byparts_tf_files.shape import TensorShape

TensorLike = Any  # what `convert_to_tensor` takes

Conversion = Callable[..., Any]
_conversions: list[tuple[int, Any, Conversion]] = []


def _constant(*, value: Any, dtype: DType) -> Value:
    return constant_value(value)


def _constant_on_host(*, value: Any, dtype: DType) -> Any:
    return value


CONST = Kind(
    "Const",
    _constant,
    shape=lambda inputs, value, dtype: value.shape,
    dtype=lambda inputs, value, dtype: dtype,
)
STRING_CONST = Kind(
    "Const",
    host=_constant_on_host,
    shape=lambda inputs, value, dtype: value.shape,
    dtype=lambda inputs, value, dtype: dtype,
    gradient=False,
)


def constant_of(array: Any, name: Optional[str] = None) -> Tensor:
    """An array that is of one of TensorFlow's dtypes, as a constant of the default graph."""
    dtype = string if array.dtype == object else as_dtype(array.dtype)
    kind = CONST if dtype.own else STRING_CONST
    return kind(name=name, value=array, dtype=dtype)


def convert_to_tensor(
    value: TensorLike,
    dtype: Any = None,
    name: Optional[str] = None,
    preferred_dtype: Any = None,
    dtype_hint: Any = None,
    as_ref: bool = False,
) -> Tensor:
    """`value` as a tensor of `dtype`, or of the dtype it has.

    Raises:
        TypeError: it is of another dtype, or nothing that could be a tensor.
        ValueError: a tensor of another dtype; None.
    """
    if value.__class__ is Tensor and dtype is None:
        tensor: Tensor = value
        return tensor
    dtype = None if dtype is None else as_dtype(dtype).base_dtype
    made = _as_tensor(value, dtype, name)
    if made is not None:
        if dtype is not None and made.dtype.base_dtype is not dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
                f"{made.dtype.name}: {made!r}"
            )
        return made
    if dtype is None and (preferred_dtype or dtype_hint) is not None:
        try:
            return constant_of(as_array(value, as_dtype(preferred_dtype or dtype_hint)), name)
        except (TypeError, ValueError):
            pass  # a preference only
    return constant_of(as_array(value, dtype), name or "Const")


def _as_tensor(value: Any, dtype: Optional[DType], name: Optional[str]) -> Optional[Tensor]:
    """`value` as a tensor where it is more than numbers and strings, else `None`."""
    if isinstance(value, Tensor):
        return value
    if hasattr(value, "_as_tensor"):
        made: Tensor = value._as_tensor(dtype, name)
        return made
    if isinstance(value, Operation):
        raise TypeError(f"Can't convert Operation {value.name!r} to Tensor (target dtype={dtype})")
    if isinstance(value, (list, tuple)) and _holds_tensor(value):
        return _packed(value, dtype, name)
    for _, kind, conversion in _conversions:
        if isinstance(value, kind):
            found = conversion(value, dtype=dtype, name=name, as_ref=False)
            if found is not NotImplemented:
                return found  # type: ignore[no-any-return]  # a tensor, as registered
    return None


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_holds_tensor(v) for v in value)
    return isinstance(value, Tensor) or hasattr(value, "_as_tensor")


def _packed(value: Any, dtype: Optional[DType], name: Optional[str]) -> Tensor:
    dtype = dtype or _dtype_inside(value)
    rows = [convert_to_tensor(v, dtype) if v is not None else v for v in value]
    packed: Tensor = upper.functions.stack(rows, name=name or "packed")
    return packed


def _dtype_inside(value: Any) -> Optional[DType]:
    for v in value:
        if isinstance(v, Tensor) or hasattr(v, "_as_tensor"):
            return v.dtype.base_dtype  # type: ignore[no-any-return]  # a dtype
        found = _dtype_inside(v) if isinstance(v, (list, tuple)) else None
        if found is not None:
            return found
    return None


def register_tensor_conversion_function(
    base_type: Any, conversion_func: Conversion, priority: int = 100
) -> None:
    """Let `convert_to_tensor` take objects of `base_type`, by `conversion_func`."""
    _conversions.append((priority, base_type, conversion_func))
    _conversions.sort(key=lambda row: row[0])


def convert_all(
    values: Sequence[TensorLike], dtype: Any = None, name: Optional[str] = None
) -> list[Tensor]:
    """Each of `values` as a tensor of one dtype: `dtype`, or that of the first tensor."""
    if dtype is None:
        dtype = _dtype_inside(values)
    made: list[Tensor] = []
    for i, v in enumerate(values):
        made.append(convert_to_tensor(v, dtype, f"{name}_{i}" if name else None))
        dtype = dtype or made[0].dtype
    return made


def is_tensor(value: Any) -> bool:
    """Whether `value` is a tensor, a variable or a composite of tensors."""
    return (
        isinstance(value, Tensor) or hasattr(value, "_as_tensor") or hasattr(value, "dense_shape")
    )


def shape_tensor(shape: Any, name: str = "shape") -> Tensor:
    """A shape, of numbers or of a tensor, as a tensor of integers."""
    if isinstance(shape, (Tensor, Operation)) or hasattr(shape, "_as_tensor"):
        return convert_to_tensor(shape)
    if isinstance(shape, (int, Dimension)) and not isinstance(shape, bool):
        shape = TensorShape(shape)
    if isinstance(shape, TensorShape) or not _holds_tensor(list(shape)):
        numbers = as_array(shape if isinstance(shape, TensorShape) else list(shape))
        if numbers.size == 0:
            numbers = numbers.astype("int32")
        elif numbers.dtype.kind == "f":
            raise TypeError(
                f"Value passed to parameter {name!r} has DataType {numbers.dtype} not in list of "
                "allowed values: int32, int64"
            )
        return constant_of(numbers, name)
    return convert_to_tensor(shape, name=name)
