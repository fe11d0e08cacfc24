"""Numbers in order: range, linspace."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_number, static_value
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import as_dtype
from byparts_tf_files.shape import Dims

_WIDER = ("int32", "int64", "float32", "float64")


def _range(start: Any, limit: Any, delta: Any) -> Value:
    return ops.constant(np.arange(start, limit, delta).astype(start.dtype))


def _range_shape(inputs: Sequence[Tensor]) -> Dims:
    known: list[Any] = [static_value(t) for t in inputs]
    if any(v is None for v in known):
        return (None,)
    if known[2] == 0:
        raise ValueError("Requires delta != 0")
    return (builtins.max(0, int(np.ceil((known[1] - known[0]) / known[2]))),)


RANGE = Kind("Range", _range, values=(0, 1, 2), shape=_range_shape, gradient=False)


@symbol("range")
def range(
    start: TensorLike,
    limit: Any = None,
    delta: TensorLike = 1,
    dtype: Any = None,
    name: str = "range",
) -> Tensor:
    """Numbers from `start` up to, without, `limit`, in steps of `delta`.

    Raises:
        ValueError: the step is 0, or it goes the wrong way.
    """
    if limit is None:
        start, limit = 0, start
    numbers = [v if isinstance(v, Tensor) else convert_to_tensor(v) for v in (start, limit, delta)]
    if dtype is None:
        names = [t.dtype.base_dtype.name for t in numbers]
        assert all(n in _WIDER for n in names), f"range: of {', '.join(names)}"
        dtype = builtins.max(names, key=_WIDER.index)
    return RANGE(*[cast(t, as_dtype(dtype)) for t in numbers], name=name)


def _linspace(start: Any, stop: Any, num: Any) -> Value:
    step = (stop - start) / builtins.max(int(num) - 1, 1)
    made = start + step * np.arange(int(num), dtype=start.dtype)
    return ops.constant(made.astype(start.dtype))


LINSPACE = Kind(
    "LinSpace",
    _linspace,
    values=(0, 1, 2),
    shape=lambda inputs: (static_number(inputs[2]),),
    gradient=False,
)


@symbol("linspace", "lin_space", "linalg.linspace")
def linspace(
    start: TensorLike, stop: TensorLike, num: TensorLike, name: Optional[str] = None
) -> Tensor:
    """`num` numbers from `start` to `stop`, both among them, evenly apart."""
    first = convert_to_tensor(start)
    last = convert_to_tensor(stop, first.dtype.base_dtype)
    return LINSPACE(first, last, convert_to_tensor(num), name=name)
