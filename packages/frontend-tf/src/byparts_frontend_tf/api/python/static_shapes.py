"""Static shapes, as programs ask for them: by their rank, and from values that are known."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api.broadcast_to import broadcast_static_shape  # noqa: F401  # a symbol
from byparts_frontend_tf.graph.convert import convert_to_tensor, is_tensor
from byparts_frontend_tf.graph.static import static_dims, static_value
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.shape import TensorShape

_SHAPES = "python.framework.tensor_shape."


@symbol(_SHAPES + "unknown_shape")
def unknown_shape(ndims: Optional[int] = None, rank: Optional[int] = None) -> TensorShape:
    """A shape of which at most the number of axes is known."""
    count = rank if ndims is None else ndims
    return TensorShape(None if count is None else [None] * count)


@symbol("contrib.util.constant_value")
def constant_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor, where it is known while the graph is built; what is no tensor."""
    return static_value(convert_to_tensor(tensor)) if is_tensor(tensor) else tensor


@symbol(_SHAPES + "scalar")
def scalar() -> TensorShape:
    """The shape of a number."""
    return TensorShape([])


@symbol(_SHAPES + "vector")
def vector(length: Any) -> TensorShape:
    """The shape of a vector."""
    return TensorShape([length])


@symbol(_SHAPES + "matrix")
def matrix(rows: Any, cols: Any) -> TensorShape:
    """The shape of a matrix."""
    return TensorShape([rows, cols])


@symbol("python.framework.tensor_util.constant_value_as_shape")
def constant_value_as_shape(tensor: Any) -> TensorShape:
    """Static shape that a tensor of integers says, as far as it is known."""
    return TensorShape(static_dims(tensor))


@symbol("python.framework.ops.set_shapes_for_outputs")
def set_shapes_for_outputs(op: Any) -> None:
    """Nothing: the outputs have their shapes."""


SYMBOLS = {"python.framework.common_shapes.broadcast_shape": "broadcast_static_shape"}
