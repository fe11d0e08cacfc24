"""Attributes of a `NodeDef`: messages as Python values, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np

from byparts_tf_files.dtypes import DType, as_dtype, string
from byparts_tf_files.messages.graph import AttrValue
from byparts_tf_files.shape import TensorShape, as_dims, shape_proto
from byparts_tf_files.tensors import array_of, make_tensor_proto


def value_of(message: AttrValue) -> Any:
    """Value of a message: a number, bytes, a dtype, dims (`None`: no rank), an array or a list."""
    field = message.WhichOneof("value")
    if field is None:
        return None
    given = getattr(message, field)
    if field == "list":
        return _listed(given)
    return given if field == "func" else _READ.get(field, _same)(given)


def attribute_of(message: AttrValue) -> Any:
    """Value as `Operation.get_attr` gives it: dtypes, numbers, bytes; tensors, shapes: messages."""
    field = message.WhichOneof("value")
    if field in ("tensor", "shape"):
        return getattr(message, field)
    return value_of(message)


def _same(given: Any) -> Any:
    return given


_READ: dict[str, Callable[[Any], Any]] = {
    "type": as_dtype,
    "shape": lambda given: as_dims(TensorShape(given)),
    "tensor": array_of,
}


def _listed(given: Any) -> list[Any]:
    for field in ("s", "i", "f", "b", "type", "shape", "tensor"):
        values = getattr(given, field)
        if len(values):
            return [_READ.get(field, _same)(v) for v in values]
    return []


def attr_value(value: Any) -> Optional[AttrValue]:
    """The message of an attribute; `None` if messages have none such."""
    if isinstance(value, (np.ndarray, np.generic)):
        kind = as_dtype(value.dtype)
        return AttrValue(tensor=make_tensor_proto(value, string if kind is string else None))
    if isinstance(value, TensorShape):
        return AttrValue(shape=value.as_proto())
    one = _scalar(value)
    if one is not None:
        return AttrValue(**{one[0]: one[1]})
    if not isinstance(value, (list, tuple)):
        return None
    many = [_scalar(v) for v in value]
    kinds = {v[0] for v in many if v is not None}
    if None in many or len(kinds) > 1:
        return None
    made = AttrValue(list=AttrValue.ListValue())
    for name in kinds:
        getattr(made.list, name).extend([v[1] for v in many if v is not None])
    return made


def _scalar(value: Any) -> Optional[tuple[str, Any]]:
    """The field of a value that is no list, and what it has."""
    if isinstance(value, DType):
        return "type", value.as_datatype_enum
    if isinstance(value, bool):
        return "b", value
    if isinstance(value, int):
        return ("i", value) if -(1 << 63) <= value < 1 << 63 else None
    if isinstance(value, float):
        return "f", value
    if isinstance(value, (str, bytes)):
        return "s", value.encode() if isinstance(value, str) else value
    return None


def shape_value(dims: Any) -> AttrValue:
    """The message of a shape, `None` if its rank is not known."""
    return AttrValue(shape=shape_proto(dims))
