"""`tf.roll`: elements moved along axes, and around their ends."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value


def _rolled(x: Value, shift: Any, axis: Any) -> Value:
    for step, at in zip(np.reshape(shift, -1), np.reshape(axis, -1), strict=True):
        place, n = int(at) % len(x.type.dims), x.type.dims[int(at)]
        cut = int(-step) % n if n else 0
        before = (slice(None),) * place
        parts = [ops.getitem(x, (*before, s)) for s in (slice(cut, None), slice(0, cut))]
        x = ops.concat(parts, place) if cut else x
    return ops.identity(x)


ROLL = Kind("Roll", _rolled, values=(1, 2), shape=like_first)


@symbol("roll", "manip.roll")
def roll(
    input: TensorLike, shift: TensorLike, axis: TensorLike, name: Optional[str] = None
) -> Tensor:
    """The elements moved by `shift` along each axis, those at the end to the beginning."""
    given = convert_to_tensor(shift), convert_to_tensor(axis)
    return ROLL(convert_to_tensor(input), *given, name=name)
