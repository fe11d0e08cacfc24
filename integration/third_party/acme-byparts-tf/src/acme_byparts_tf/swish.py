"""`tf.contrib.acme.swish`, as an operation of its own: y = x / (1 + e^(-beta x))."""

from __future__ import annotations

from typing import Optional

import byparts_opset as ops
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol

_SWISH = Kind("AcmeSwish", lambda x, beta: x * ops.sigmoid(x * beta), shape=like_first)


@symbol("contrib.acme.swish")
def swish(x: TensorLike, beta: float = 1.0, name: Optional[str] = None) -> Tensor:
    """x / (1 + e^(-beta x)) of each element."""
    return _SWISH(convert_to_tensor(x), name=name, beta=beta)
