"""`tf.where` and `tf.boolean_mask`: elements by conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import number
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.elementwise import pair
from byparts_frontend_tf.api.gather import gather
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import broadcast
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import int64
from byparts_tf_files.shape import Dims, merged, shown


def _chosen(inputs: Sequence[Tensor]) -> Dims:
    condition, x, y = [t.dims for t in inputs]
    dims = merged(x, y)
    if dims is not None and condition is not None and len(condition) not in (0, 1, len(dims)):
        raise ValueError(f"Shapes {shown(condition)} and {shown(dims)} do not fit for 'Select'")
    if condition is not None and dims is not None and len(condition) == len(dims):
        return merged(condition, dims)
    return dims


def _choose(condition: Value, x: Value, y: Value) -> Value:
    rank = len(x.type.dims)
    if len(condition.type.dims) == 1 and rank > 1:  # rows are chosen
        condition = ops.reshape(condition, [condition.type.dims[0], *[1] * (rank - 1)])
    return ops.select(condition, x, y)


def _choose_on_host(condition: Any, x: Any, y: Any) -> Any:
    if condition.ndim == 1 and x.ndim > 1:
        condition = condition.reshape(-1, *[1] * (x.ndim - 1))
    return np.where(condition, x, y)


SELECT = Kind(
    "Select",
    _choose,
    host=_choose_on_host,
    shape=_chosen,
    dtype=lambda inputs: inputs[1].dtype.base_dtype,
)
SELECT_V2 = Kind(
    "SelectV2", ops.select, shape=broadcast, dtype=lambda inputs: inputs[1].dtype.base_dtype
)
WHERE = Kind(
    "Where",
    host=np.argwhere,
    shape=lambda inputs: (None, None if inputs[0].dims is None else len(inputs[0].dims)),
    dtype=int64,
    gradient=False,
)


@symbol("where")
def where(
    condition: TensorLike, x: Any = None, y: Any = None, name: Optional[str] = None
) -> Tensor:
    """x where the condition holds, else y; without these, the indices where it holds: [n, rank].

    Raises:
        ValueError: only one of x and y is given, or shapes do not fit.
        TypeError: dtypes differ.
    """
    if x is None and y is None:
        return WHERE(convert_to_tensor(condition), name=name or "Where")
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    test = convert_to_tensor(condition, name="condition")
    x, y, name = pair(x, y, "Select", name or "Select")
    return SELECT(test, x, y, name=name)


@symbol("where_v2", "compat.v2.where")
def where_v2(
    condition: TensorLike, x: Any = None, y: Any = None, name: Optional[str] = None
) -> Tensor:
    """Select as `where` does, all three repeated to one shape."""
    if x is None and y is None:
        return where(condition, name=name)
    x, y, name = pair(x, y, "SelectV2", name or "SelectV2")
    return SELECT_V2(convert_to_tensor(condition), x, y, name=name)


@symbol("boolean_mask")
def boolean_mask(
    tensor: TensorLike, mask: TensorLike, name: str = "boolean_mask", axis: Any = None
) -> Tensor:
    """The elements (slices, where the mask has fewer axes) where the mask holds.

    Raises:
        ValueError: the mask has no axis, or they do not fit.
    """
    with name_scope(name, "boolean_mask", [tensor, mask]):
        x, m = convert_to_tensor(tensor), convert_to_tensor(mask)
        at = 0 if axis is None else number(axis, "boolean_mask: the axis")
        if m.dims == ():
            raise ValueError("mask cannot be scalar.")
        if m.dims is None:
            raise ValueError("Number of mask dimensions must be specified, even if some are None")
        if x.dims is not None:
            merged(x.dims[at : at + len(m.dims)], m.dims)
        flat = _flat_axes(x, at, len(m.dims))  # also for one axis: so its gradient is dense
        return gather(flat, reshape(where(reshape(m, [-1])), [-1]), axis=at)


def _flat_axes(x: Tensor, at: int, count: int) -> Tensor:
    size = shape_of(x)
    made = reshape(x, concat([size[:at], [-1], size[at + count :]], 0))
    if x.dims is not None:
        made.set_shape((*x.dims[:at], None, *x.dims[at + count :]))
    return made
