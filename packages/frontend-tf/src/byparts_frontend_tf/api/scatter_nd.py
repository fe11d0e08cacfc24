"""`tf.scatter_nd`, `tf.tensor_scatter_update` and the like: elements written at places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.gather import flat_index
from byparts_frontend_tf.api.math.binary import multiply
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_dims
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import int32


def _scatter_nd(indices: Value, updates: Value, shape: Any) -> Value:
    dims = [int(d) for d in np.asarray(shape).reshape(-1)]
    depth = indices.type.dims[-1]
    count, rest = int(np.prod(dims[:depth])), dims[depth:]
    at = ops.reshape(flat_index(indices, dims, "scatter_nd"), [-1])
    rows = ops.reshape(updates, [at.type.size, *rest])
    like = ops.fill(0, updates.type.dtype, [count, *rest])
    return ops.reshape(ops.scatter_add(at, rows, like), dims)


SCATTER_ND = Kind(
    "ScatterNd",
    _scatter_nd,
    values=(2,),
    shape=lambda inputs: static_dims(inputs[2]),
    dtype=lambda inputs: inputs[1].dtype.base_dtype,
)


@symbol("scatter_nd", "manip.scatter_nd")
def scatter_nd(
    indices: TensorLike, updates: TensorLike, shape: TensorLike, name: Optional[str] = None
) -> Tensor:
    """Zeros of a shape, plus each update at its place; updates at one place add up."""
    given = (
        convert_to_tensor(indices),
        convert_to_tensor(updates),
        convert_to_tensor(shape, int32),
    )
    return SCATTER_ND(*given, name=name)


def _scattered(how: str) -> Callable[..., Tensor]:
    def apply(
        tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: Optional[str] = None
    ) -> Tensor:
        with name_scope(name, f"TensorScatter{how}"):
            x, at = convert_to_tensor(tensor), convert_to_tensor(indices)
            rows = convert_to_tensor(updates, x.dtype.base_dtype)
            change = scatter_nd(at, rows, shape_of(x))
            if how == "Add":
                made: Tensor = x + change
            elif how == "Sub":
                made = x - change
            else:
                hit = scatter_nd(at, rows * 0 + 1, shape_of(x))
                made = multiply(x, _one_minus(hit)) + change
            return made

    apply.__doc__ = f"TensorFlow's `tensor_scatter_{how.lower()}`: at places [..., depth]."
    apply.__module__ = __name__
    return apply


def _one_minus(hit: Tensor) -> Tensor:
    left: Tensor = 1 - hit
    return left


tensor_scatter_add, tensor_scatter_sub = _scattered("Add"), _scattered("Sub")
tensor_scatter_update = _scattered("Update")

SYMBOLS = {
    f"tensor_scatter_{nd}{how}": f"tensor_scatter_{how}"
    for how in ("add", "sub", "update")
    for nd in ("", "nd_")
}
