"""`tf.sort`, `tf.argsort`, `tf.searchsorted`."""

from __future__ import annotations

from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import number
from byparts_frontend_tf.graph.convert import TensorLike, convert_all, convert_to_tensor
from byparts_frontend_tf.graph.infer import axis_of
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import DType, as_dtype, int32


def _along(inputs: Any, axis: int, down: bool) -> Any:
    if inputs[0].dims is not None:
        axis_of(axis, len(inputs[0].dims))
    return inputs[0].dims


SORT = Kind("Sort", lambda x, order, axis, down: ops.take_along_axis(x, order, axis), shape=_along)
ARGSORT = Kind(
    "ArgSort",
    lambda x, axis, down: ops.cast(ops.argsort(x, axis, down), "i32"),
    shape=_along,
    dtype=int32,
    gradient=False,
)


def _down(direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"{direction} should be one of ASCENDING, DESCENDING")
    return direction == "DESCENDING"


@symbol("sort", "contrib.framework.sort")
def sort(
    values: TensorLike, axis: Any = -1, direction: str = "ASCENDING", name: Optional[str] = None
) -> Tensor:
    """The elements in order along an axis.

    Raises:
        ValueError: another direction, or no such axis.
    """
    at = number(axis, "sort: the axis")
    x, down = convert_to_tensor(values), _down(direction)
    return SORT(x, ARGSORT(x, axis=at, down=down), name=name or "sort", axis=at, down=down)


@symbol("argsort", "contrib.framework.argsort")
def argsort(
    values: TensorLike,
    axis: Any = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """Indices that sort values along an axis; equal elements keep their order."""
    at = number(axis, "argsort: the axis")
    x = convert_to_tensor(values)
    return ARGSORT(x, name=name or "argsort", axis=at, down=_down(direction))


def _searched(row: Value, x: Value, right: bool, dtype: DType) -> Value:
    return ops.cast(ops.searchsorted(row, x, "right" if right else "left"), dtype.own)


SEARCH = Kind(
    "SearchSorted",
    _searched,
    shape=lambda inputs, **_: inputs[1].dims,
    dtype=lambda inputs, right, dtype: dtype,
    gradient=False,
)


@symbol("searchsorted")
def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: Any = int32,
    name: Optional[str] = None,
) -> Tensor:
    """Index at which each value goes into the ordered row: before equal ones ("left") or after.

    Raises:
        ValueError: another side.
    """
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'right' or 'left'. Saw: {side}.")
    row, x = convert_all([sorted_sequence, values])
    return SEARCH(row, x, name=name, right=side == "right", dtype=as_dtype(out_type))
