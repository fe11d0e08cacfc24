"""`tf.broadcast_to`, and the shape that two shapes are repeated to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.graph.convert import (
    TensorLike,
    convert_all,
    convert_to_tensor,
    shape_tensor,
)
from byparts_frontend_tf.graph.infer import broadcast_dims
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_dims
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.shape import Dims, TensorShape


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


BROADCAST_SHAPE = Kind(
    "BroadcastArgs",
    lambda a, b: ops.constant(np.array(np.broadcast_shapes(tuple(a), tuple(b)), a.dtype)),
    values=(0, 1),
    shape=lambda inputs: (
        None
        if any(t.dims is None or t.dims[0] is None for t in inputs)
        else max(t.dims[0] for t in inputs),
    ),
    gradient=False,
)


@symbol("broadcast_dynamic_shape")
def broadcast_dynamic_shape(shape_x: TensorLike, shape_y: TensorLike) -> Tensor:
    """The shape that two shapes are repeated into, as a tensor."""
    return BROADCAST_SHAPE(*convert_all([shape_x, shape_y]))
