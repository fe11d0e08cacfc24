"""Assignments to slices of variables: `v[1:3].assign(x)`."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.variables.updates import Update
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_graph_ir import Value


def _with_slice(old: Value, value: Value, key: Any) -> Value:
    places = np.arange(old.type.size).reshape(old.type.dims)[key]
    flat = ops.reshape(old, [-1])
    news = ops.reshape(ops.broadcast_to(value, places.shape), [-1])
    return ops.reshape(ops.scatter(flat, ops.constant(places.reshape(-1)), news), old.type.dims)


_ASSIGN = Update("StridedSliceAssign", _with_slice)


def make_assignable(made: Tensor, variable: Any, key: Any) -> None:
    """Let `made`, a slice of `variable`, be assigned to."""

    def assign(value: TensorLike, name: Optional[str] = None) -> Any:
        x = convert_to_tensor(value, variable.dtype.base_dtype)
        return _ASSIGN(variable._ref(), x, name=name, key=key)

    made.__dict__["assign"] = assign
