"""From `IndexedSlices` to the tensor that they are rows of."""

from __future__ import annotations

from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.graph.composites import IndexedSlices
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_dims
from byparts_graph_ir import Value


def densify(slices: IndexedSlices, name: Optional[str] = None) -> Tensor:
    """The tensor that `IndexedSlices` are rows of.

    Raises:
        ValueError: its shape is not known.
    """
    if slices.dense_shape is None:
        raise ValueError(
            f"Tensor conversion requested for IndexedSlices without dense_shape: {slices}"
        )
    return SUM_ROWS(slices.values, slices.indices, slices.dense_shape, name=name or "Densify")


def _sum_rows(values: Value, indices: Value, shape: Any) -> Value:
    like = ops.fill(0, values.type.dtype, [int(d) for d in shape])
    return ops.scatter_add(indices, values, like)


SUM_ROWS = Kind("SumRows", _sum_rows, values=(2,), shape=lambda inputs: static_dims(inputs[2]))
