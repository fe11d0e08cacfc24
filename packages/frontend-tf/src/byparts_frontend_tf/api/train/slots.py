"""Variables that belong to another one: the momentum of a weight, its moving average."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api.constant import zeros_like
from byparts_frontend_tf.api.initializers import Zeros
from byparts_frontend_tf.api.variables.variable_scope import get_variable, variable_scope
from byparts_frontend_tf.graph.operation import Tensor
from byparts_tf_files.shape import is_static


def create_slot(primary: Any, value: Any, name: str) -> Any:
    """A variable named after `primary` and `name`, whose first value is `value`."""
    with variable_scope(None, f"{primary.op.name}/{name}"):
        validate = not isinstance(value, Tensor) or is_static(value.dims)
        return get_variable("", initializer=value, trainable=False, validate_shape=validate)


def create_slot_with_initializer(
    primary: Any, initializer: Any, shape: Any, dtype: Any, name: str
) -> Any:
    """A variable named after `primary` and `name`, of this shape, by an initializer."""
    with variable_scope(None, f"{primary.op.name}/{name}"):
        return get_variable("", shape, dtype, initializer, trainable=False)


def create_zeros_slot(primary: Any, name: str, dtype: Optional[Any] = None) -> Any:
    """A variable named after `primary` and `name`, in its shape, that begins as zeros."""
    dtype = primary.dtype.base_dtype if dtype is None else dtype
    shape = primary.get_shape()
    if is_static(shape._dims):
        return create_slot_with_initializer(primary, Zeros(), shape, dtype, name)
    return create_slot(primary, zeros_like(primary.initialized_value(), dtype), name)
