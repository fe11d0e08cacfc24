"""Repeated elements and grids of coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.families import mismatch
from byparts_frontend_tf.api.shaping import broadcast_to, reshape, size
from byparts_frontend_tf.api.stacking import stack
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import int32
from byparts_tf_files.shape import Dims


@symbol("repeat")
def repeat(
    input: TensorLike, repeats: TensorLike, axis: Optional[int] = None, name: Optional[str] = None
) -> Tensor:
    """Each element along an axis so many times; without an axis of the flat tensor."""
    with name_scope(name, "Repeat"):
        x = convert_to_tensor(input)
        if axis is None:
            x, axis = reshape(x, [-1]), 0
        return _REPEAT(x, convert_to_tensor(repeats, int32), axis=axis)


def _repeat(x: Value, repeats: Any, axis: int) -> Value:
    indices = np.repeat(np.arange(x.type.dims[axis]), np.asarray(repeats).reshape(-1))
    return ops.gather(x, ops.constant(indices), axis)


def _repeated_shape(inputs: Sequence[Tensor], axis: int) -> Dims:
    dims, counts = inputs[0].dims, static_value(inputs[1])
    if dims is None:
        return None
    at = axis % len(dims)
    count = dims[at]
    if counts is not None and (counts.size > 1 or count is not None):
        count = int(np.broadcast_to(counts, count or counts.size).sum())
    else:
        count = None
    return (*dims[:at], count, *dims[at + 1 :])


_REPEAT = Kind("Repeat", _repeat, values=(1,), shape=_repeated_shape)


@symbol("meshgrid")
def meshgrid(*args: TensorLike, **kwargs: Any) -> list[Tensor]:
    """Coordinate grids of vectors; `indexing` "xy" or "ij"."""
    indexing, name = kwargs.pop("indexing", "xy"), kwargs.pop("name", "meshgrid")
    if kwargs or indexing not in ("xy", "ij"):
        raise (TypeError if kwargs else ValueError)(f"meshgrid: {kwargs or indexing!r}")
    vectors = [reshape(a, [-1]) for a in args]
    count = len(vectors)
    order = [1, 0, *range(2, count)] if indexing == "xy" and count > 1 else list(range(count))
    for v in vectors[1:]:
        if v.dtype.base_dtype is not vectors[0].dtype.base_dtype:
            raise mismatch("Mul", vectors[0].dtype, v.dtype)
    sizes = [size(v) for v in vectors]
    shape = stack([sizes[i] for i in order])
    grids = []
    for i, v in enumerate(vectors):
        column = reshape(v, [-1 if order[a] == i else 1 for a in range(count)])
        grids.append(broadcast_to(column, shape, name=name))
    return grids
