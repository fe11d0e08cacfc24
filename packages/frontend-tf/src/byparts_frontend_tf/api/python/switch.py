"""`switch` and `merge` of TensorFlow's inside: a tensor that goes one of two ways.

All ways are computed, and `merge` chooses.  A tensor that depends on a way that is not taken has no
value in TensorFlow; here it has one, that nothing chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

from byparts_frontend_tf.api.cond import cond
from byparts_frontend_tf.api.constant import constant
from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.api.math.binary import logical_and
from byparts_frontend_tf.api.math.unary import logical_not
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import bool_, int32


class Merge(NamedTuple):
    """A tensor, and which of the inputs it is."""

    output: Tensor
    value_index: Tensor


@symbol("python.ops.control_flow_ops.switch", "python.ops.control_flow_ops.ref_switch")
def switch(
    data: TensorLike, pred: TensorLike, dtype: Any = None, name: Optional[str] = None
) -> tuple[Tensor, Tensor]:
    """The tensor for where `pred` does not hold, and for where it does."""
    with name_scope(name, "Switch"):
        x, holds = convert_to_tensor(data, dtype, "data"), convert_to_tensor(pred, bool_, "pred")
        ways: tuple[Tensor, Tensor] = (identity(x), identity(x))
        for way, condition in zip(ways, (logical_not(holds), holds), strict=True):
            way.op.taken_if = condition
        return ways


@symbol("python.ops.control_flow_ops.merge")
def merge(inputs: Sequence[TensorLike], name: Optional[str] = None) -> Merge:
    """The first of the tensors that does not depend on a way that is not taken.

    Raises:
        ValueError: there is none.
    """
    with name_scope(name, "Merge"):
        tensors = [convert_to_tensor(t) for t in inputs]
        if not tensors:
            raise ValueError("merge: there are no inputs")
        chosen, index = tensors[-1], constant(len(tensors) - 1, int32)
        for i in reversed(range(len(tensors) - 1)):
            chosen, index = _either(tensors[i], constant(i, int32), chosen, index)
        return Merge(chosen, index)


def _either(x: Tensor, i: Tensor, y: Tensor, j: Tensor) -> tuple[Tensor, Tensor]:
    """(x, i) where all ways that x depends on are taken, else (y, j)."""
    taken: Optional[Tensor] = None
    for condition in _conditions(x):
        taken = condition if taken is None else logical_and(taken, condition)
    if taken is None:
        return x, i
    made: tuple[Tensor, Tensor] = cond(taken, lambda: (identity(x), i), lambda: (identity(y), j))
    return made


def _conditions(tensor: Tensor) -> list[Tensor]:
    """Conditions of all switches that a tensor depends on."""
    found: dict[Tensor, None] = {}
    seen, waiting = {tensor.op}, [tensor.op]
    while waiting:
        op = waiting.pop()
        if op.taken_if is not None:
            found[op.taken_if] = None
        new = [t.op for t in op.inputs if t.op not in seen]
        seen.update(new)
        waiting += new
    return list(found)
