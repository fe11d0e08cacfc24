"""Python's operators on tensors: names of operations as TensorFlow gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from byparts_frontend_tf.api.math import binary, unary
from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import graph_of_values


def _operator(name: str, function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """An operator that a tensor stands on one side of."""

    def apply(x: Any, y: Any) -> Any:
        if x.__class__ is Tensor and y.__class__ is Tensor:
            return function(x, y, name=name)
        if isinstance(y, SparseTensor):  # it has its own
            return NotImplemented
        graph = graph_of_values((x, y))
        with graph.as_default(), graph.name_scope(name) as scope:
            if _is_tensor(x):
                x = convert_to_tensor(x)
                y = convert_to_tensor(y, None if _is_tensor(y) else x.dtype.base_dtype, "y")
            else:
                y = convert_to_tensor(y)
                x = convert_to_tensor(x, y.dtype.base_dtype, "x")
        return function(x, y, name=scope)

    return apply


def _is_tensor(given: Any) -> bool:
    return isinstance(given, Tensor) or hasattr(given, "_as_tensor")


def _matmul(x: Tensor, y: Tensor, name: str) -> Tensor:
    from byparts_frontend_tf.api.linalg.matmul import matmul

    return matmul(x, y, name=name)


add = _operator("add", binary.add_v2)
sub = _operator("sub", binary.subtract)
mul = _operator("mul", binary.multiply)
truediv = _operator("truediv", binary.truediv)
div = _operator("div", binary.div)
floordiv = _operator("floordiv", binary.floor_div)
mod = _operator("mod", binary.floormod)
pow = _operator("pow", binary.power)
matmul = _operator("matmul", _matmul)
logical_and = _operator("and", binary.logical_and)
logical_or = _operator("or", binary.logical_or)
logical_xor = _operator("xor", binary.logical_xor)
less = _operator("Less", binary.less)
less_equal = _operator("LessEqual", binary.less_equal)
greater = _operator("Greater", binary.greater)
greater_equal = _operator("GreaterEqual", binary.greater_equal)
neg = unary.negative
absolute = unary.absolute
logical_not = unary.logical_not
