"""`tf.meshgrid`, `tf.unravel_index`: coordinates of grids."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.broadcast_to import broadcast_to
from byparts_frontend_tf.api.elementwise import mismatch
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import size
from byparts_frontend_tf.api.stack import stack
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value


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


def _unraveled(indices: Value, dims: Any) -> Value:
    sizes = [int(d) for d in np.reshape(dims, -1)]
    steps = [int(np.prod(sizes[i + 1 :])) for i in range(len(sizes))]
    rank = [1] * len(indices.type.dims)
    column = ops.constant(np.array(steps).reshape(-1, *rank), indices.type.dtype)
    limits = ops.constant(np.array(sizes).reshape(-1, *rank), indices.type.dtype)
    return ops.mod(ops.floordiv(ops.expand_dims(indices, 0), column), limits)


UNRAVEL = Kind("UnravelIndex", _unraveled, values=(1,), gradient=False)


@symbol("unravel_index")
def unravel_index(indices: TensorLike, dims: TensorLike, name: Optional[str] = None) -> Tensor:
    """The places [rank, ...] of flat indices in an array of these dimensions."""
    return UNRAVEL(convert_to_tensor(indices), convert_to_tensor(dims), name=name)
