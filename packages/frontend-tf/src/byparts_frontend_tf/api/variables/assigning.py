"""Assignments to slices of variables: `v[1:3].assign(x)`, `tf.assign(v[i], x)`.

What is written are the places that the slice of all places has: of rows, where it is a slice of
rows, else of elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.variables.updates import Update
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_graph_ir import Value


def _with_slice(old: Value, value: Value, places: Value, rows: bool) -> Value:
    dims = old.type.dims
    table = old if rows else ops.reshape(old, [-1])
    at = ops.reshape(places, [-1])
    each = table.type.dims[1:]
    spread = ops.broadcast_to(value, (*places.type.dims, *each))
    news = ops.reshape(spread, (*at.type.dims, *each))
    return ops.reshape(ops.scatter(table, at, news), dims)


_ASSIGN = Update("StridedSliceAssign", _with_slice)


def make_assignable(
    made: Tensor, variable: Any, key: Any, places_of: Callable[[Any], Tensor]
) -> None:
    """Let `made`, a slice of `variable`, be assigned to.

    Args:
        made: the slice.
        variable: of which it is.
        key: the items of the slice.
        places_of: from an array to the same slice of it.
    """

    def assign(value: TensorLike, name: Optional[str] = None) -> Any:
        x = convert_to_tensor(value, variable.dtype.base_dtype)
        memory = variable._ref()
        dims = memory.shape.as_list()
        rows = len(key) == 1 and key[0] is not None and key[0] is not Ellipsis
        with name_scope(f"{made.op.name}/places/"):
            shape = dims[:1] if rows else dims
            all_places = np.arange(math.prod(shape), dtype=np.int32).reshape(shape)
            places = places_of(all_places)
        return _ASSIGN(memory, x, places, name=name, rows=rows)

    made.assign = assign
