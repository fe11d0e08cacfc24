"""`tf.cumsum` and `tf.cumprod`: sums and products of all elements up to each."""

from __future__ import annotations

from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import number
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import axis_of, like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value


def _running(type: str, meaning: Any) -> Kind:
    return Kind(type, meaning, shape=like_first)


def _products(x: Value, axis: int, exclusive: bool, reverse: bool) -> Value:
    """Running products, one slice after the other."""
    count = x.type.dims[axis]
    slices = [ops.expand_dims(s, axis) for s in ops.unstack(x, axis)]
    order = slices[::-1] if reverse else slices
    made: list[Value] = []
    product = ops.ones_like(order[0]) if order else x
    for part in order:
        before, product = product, product * part
        made.append(before if exclusive else product)
    return ops.concat(made[::-1] if reverse else made, axis) if count else x


CUMSUM = _running(
    "Cumsum",
    lambda x, axis, exclusive, reverse: ops.cumsum(
        x, axis_of(axis, len(x.type.dims)), exclusive, reverse
    ),
)


CUMPROD = _running(
    "Cumprod",
    lambda x, axis, exclusive, reverse: _products(
        x, axis_of(axis, len(x.type.dims)), exclusive, reverse
    ),
)


@symbol("cumsum", "math.cumsum")
def cumsum(
    x: TensorLike,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """Sums of what comes before along an axis, with the element itself unless `exclusive`."""
    at = number(axis, "cumsum: the axis")
    return CUMSUM(convert_to_tensor(x), name=name, axis=at, exclusive=exclusive, reverse=reverse)


@symbol("cumprod", "math.cumprod")
def cumprod(
    x: TensorLike,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """Products of what comes before along an axis, with the element itself unless `exclusive`."""
    at = number(axis, "cumprod: the axis")
    return CUMPROD(convert_to_tensor(x), name=name, axis=at, exclusive=exclusive, reverse=reverse)
