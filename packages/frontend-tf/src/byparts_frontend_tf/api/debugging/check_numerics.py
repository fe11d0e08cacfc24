"""`tf.Assert`, `tf.debugging.check_numerics`: effects that stop a run.

What is printed and checked is a result of the program: it happens when the program has run.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.debugging.shown import shown
from byparts_frontend_tf.api.identity import group
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.errors import InvalidArgumentError


def _assert(lowering: Any, op: Operation) -> None:
    summarize = op.attributes["summarize"]

    def check(holds: Any, *data: Any) -> None:
        if not np.all(holds):
            text = " ".join([f"[{shown(d, summarize)}]" for d in data])
            raise InvalidArgumentError(None, op, f"assertion failed: {text}")

    lowering.afterwards(op, check, op.inputs)


ASSERT = Kind("Assert", special=_assert, shape=lambda inputs, summarize: [], dtype=())


@symbol("Assert", "debugging.Assert")
def Assert(  # noqa: N802  # TensorFlow's name
    condition: TensorLike,
    data: Any,
    summarize: Optional[int] = None,
    name: Optional[str] = None,
) -> Operation:
    """An operation that fails, with `data`, unless the condition holds.

    Raises at run time:
        InvalidArgumentError: it does not.
    """
    inputs = [convert_to_tensor(condition), *[convert_to_tensor(d) for d in data]]
    return ASSERT.operation(inputs, name, summarize=3 if summarize is None else summarize)


def _check_numerics(lowering: Any, op: Operation) -> Value:
    x, message = lowering.value(op.inputs[0], op), op.attributes["message"]

    def check(finite: Any, has_nan: Any) -> None:
        if not finite:
            what = "NaN" if has_nan else "Inf"
            raise InvalidArgumentError(None, op, f"{message} : Tensor had {what} values")

    lowering.afterwards(op, check, [ops.all(ops.is_finite(x)), ops.any(ops.is_nan(x))])
    return ops.identity(x)


CHECK_NUMERICS = Kind("CheckNumerics", special=_check_numerics, shape=like_first)


@symbol("check_numerics", "debugging.check_numerics")
def check_numerics(tensor: TensorLike, message: str, name: Optional[str] = None) -> Tensor:
    """The tensor.

    Raises at run time:
        InvalidArgumentError: an element is not finite.
    """
    return CHECK_NUMERICS(convert_to_tensor(tensor), name=name, message=message)


@symbol("verify_tensor_all_finite")
def verify_tensor_all_finite(
    t: TensorLike = None, msg: Optional[str] = None, name: Optional[str] = None, **given: Any
) -> Tensor:
    """The tensor, checked as by `check_numerics`."""
    x, message = given.get("x", t), given.get("message", msg)
    return check_numerics(x, message or "", name)


@symbol("add_check_numerics_ops")
def add_check_numerics_ops() -> Operation:
    """An operation that checks all tensors of floating point made so far."""
    ops_ = [op for op in get_default_graph().get_operations() if op.body is None]
    floats = [t for op in ops_ for t in op.outputs if t.dtype.is_floating and t.variable is None]
    return group(*[check_numerics(t, t.name) for t in floats])
