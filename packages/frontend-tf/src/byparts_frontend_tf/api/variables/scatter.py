"""Writes to rows of variables: scatter_add, scatter_update and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.gather import flat_index
from byparts_frontend_tf.api.variables.updates import Update, reference
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_graph_ir import Value

_SMALL = 1 << 20  # pairs of indices that are compared, at most


def totals(indices: Value, updates: Value, like: Value) -> Value:
    """For each index the sum of the updates at all that equal it: [n, ...].

    By comparing each with each where that is less than a tensor like `like`.
    """
    n = indices.type.size
    if n * n <= max(_SMALL, like.type.dims[0]):
        same = ops.equal(ops.expand_dims(indices, 1), ops.expand_dims(indices, 0))
        flat = ops.reshape(updates, [n, updates.type.size // max(n, 1)])
        return ops.reshape(ops.matmul(ops.cast(same, updates.type.dtype), flat), updates.type.dims)
    return ops.gather(ops.scatter_add(indices, updates, like), indices)


def on_rows(
    change: Callable[..., Any], old: tuple[Value, ...], indices: Value, updates: Value
) -> tuple[Value, ...]:
    """Tensors of which the rows at `indices` are new: `change` of the old ones and the updates."""
    flat = ops.reshape(indices, [-1])
    rows = ops.reshape(updates, [flat.type.size, *old[0].type.dims[1:]])
    summed = totals(flat, rows, old[0])
    new = change(*[ops.gather(x, flat) for x in old], summed)
    news = (new,) if isinstance(new, Value) else new
    return tuple([ops.scatter(x, flat, y) for x, y in zip(old, news, strict=True)])


def _spread(old: Value, indices: Value, updates: Value) -> Value:
    """Updates repeated to one row for each index."""
    dims = [*indices.type.dims, *old.type.dims[1:]]
    return updates if list(updates.type.dims) == dims else ops.broadcast_to(updates, dims)


def _adding(sign: int) -> Callable[..., Value]:
    def meaning(old: Value, indices: Value, updates: Value) -> Value:
        change = ops.scatter_add(indices, _spread(old, indices, updates), old)
        return old + change if sign > 0 else old - change

    return meaning


def _changing(change: Callable[[Value, Value], Value]) -> Callable[..., Value]:
    """Meaning of a scatter of one index after the other, each on what the one before left."""

    def meaning(old: Value, indices: Value, updates: Value) -> Value:
        flat = ops.reshape(indices, [-1])
        rows = ops.reshape(_spread(old, indices, updates), [flat.type.size, *old.type.dims[1:]])
        for i in range(flat.type.size):
            at = ops.getitem(flat, slice(i, i + 1))
            new = change(ops.gather(old, at), ops.getitem(rows, slice(i, i + 1)))
            old = ops.scatter(old, at, new)
        return old

    return meaning


def _replaced(old: Value, indices: Value, updates: Value) -> Value:
    flat = ops.reshape(indices, [-1])
    rows = ops.reshape(_spread(old, indices, updates), [flat.type.size, *old.type.dims[1:]])
    return ops.scatter(old, flat, rows)


def _flat_places(old: Value, indices: Value) -> tuple[Value, Value, int]:
    """`old` with the axes that indices [..., k] name as one; the places there; elements of each."""
    k = indices.type.dims[-1]
    dims = old.type.dims
    rest = int(np.prod(dims[k:]))
    flat = ops.reshape(old, [int(np.prod(dims[:k])), rest])
    places = ops.reshape(flat_index(indices, dims, "scatter_nd"), [-1])
    return flat, places, rest


def _nd(change: Callable[[Value, Value, Value], Value]) -> Callable[..., Value]:
    def meaning(old: Value, indices: Value, updates: Value) -> Value:
        flat, places, rest = _flat_places(old, indices)
        new = change(flat, places, ops.reshape(updates, [places.type.size, rest]))
        return ops.reshape(new, old.type.dims)

    return meaning


def _function(type: str, meaning: Callable[..., Any]) -> Callable[..., Any]:
    kind = Update(type, meaning)

    def apply(
        ref: Any,
        indices: TensorLike,
        updates: TensorLike,
        use_locking: Optional[bool] = None,
        name: Optional[str] = None,
    ) -> Any:
        memory = reference(ref)
        at = convert_to_tensor(indices, name="indices")
        new = convert_to_tensor(updates, memory.dtype.base_dtype, "updates")
        return kind(memory, at, new, name=name)

    apply.__name__ = apply.__qualname__ = type
    apply.__doc__ = f"TensorFlow's `{type}`: rows of a variable; a tensor of its new value."
    return apply


scatter_add = _function("ScatterAdd", _adding(1))
scatter_sub = _function("ScatterSub", _adding(-1))
scatter_update = _function("ScatterUpdate", _replaced)
scatter_mul = _function("ScatterMul", _changing(lambda old, new: old * new))
scatter_div = _function("ScatterDiv", _changing(lambda old, new: old / new))
scatter_min = _function("ScatterMin", _changing(ops.minimum))
scatter_max = _function("ScatterMax", _changing(ops.maximum))
scatter_nd_update = _function("ScatterNdUpdate", _nd(ops.scatter))
scatter_nd_add = _function(
    "ScatterNdAdd", _nd(lambda old, at, new: old + ops.scatter_add(at, new, old))
)
scatter_nd_sub = _function(
    "ScatterNdSub", _nd(lambda old, at, new: old - ops.scatter_add(at, new, old))
)

_NAMES = ("add", "sub", "update", "mul", "div", "min", "max", "nd_update", "nd_add", "nd_sub")
SYMBOLS = {f"scatter_{n}": f"scatter_{n}" for n in _NAMES}
