"""`tf.cumsum` and `tf.cumprod`: sums and products of all elements up to each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import number
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import axis_of, like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value


def _running(type: str, function: Callable[..., Value]) -> Kind:
    def meaning(x: Value, axis: int, exclusive: bool, reverse: bool) -> Value:
        return function(x, axis_of(axis, len(x.type.dims)), exclusive, reverse)

    return Kind(type, meaning, shape=like_first)


CUMSUM = _running("Cumsum", ops.cumsum)
CUMPROD = _running("Cumprod", ops.cumprod)


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
