"""`count_up_to`: a counter in a variable that says when it is at its end."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.variables.updates import reference
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.errors import OutOfRangeError


def _count(lowering: Any, op: Operation) -> Value:
    variable, limit = op.inputs[0].variable, op.attributes["limit"]
    old: Value = lowering.variables.latest(variable)

    def check(count: Any) -> None:
        if int(np.asarray(count)) >= limit:
            raise OutOfRangeError(None, op, f"Reached limit of {limit}")

    lowering.afterwards(op, check, [old])
    lowering.variables.write(op, variable, ops.minimum(old + 1, ops.fill(limit, old.type.dtype)))
    return ops.identity(old)


COUNT_UP_TO = Kind(
    "CountUpTo",
    special=_count,
    shape=like_first,
    dtype=lambda inputs, limit: inputs[0].dtype.base_dtype,
    gradient=False,
)


@symbol("count_up_to")
def count_up_to(ref: Any, limit: int, name: Optional[str] = None) -> Tensor:
    """The value of a variable, which is then one more.

    Raises at run time:
        OutOfRangeError: it was `limit`, and stays so.
    """
    return COUNT_UP_TO(reference(ref), name=name, limit=int(limit))
