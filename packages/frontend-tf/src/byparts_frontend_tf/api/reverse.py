"""`tf.reverse` and `tf.reverse_sequence`: elements from the last to the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import numbers
from byparts_frontend_tf.graph.convert import (
    TensorLike,
    convert_to_tensor,
)
from byparts_frontend_tf.graph.infer import axis_of
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.shape import Dims, merged


def _reversed(x: Value, lengths: Value, time: int, batch: int) -> Value:
    """x with axes (batch, time) first, as rows that are gathered from where they come from."""
    rank = len(x.type.dims)
    first = [batch, time, *[a for a in range(rank) if a not in (batch, time)]]
    moved = ops.transpose(x, first)
    rows, steps, *rest = moved.type.dims
    at = ops.constant(np.arange(steps, dtype=np.int64)[None, :])
    end = ops.reshape(ops.cast(lengths, "i64"), [rows, 1])
    inside = ops.less(ops.broadcast_to(at, [rows, steps]), ops.broadcast_to(end, [rows, steps]))
    last = ops.in_range(ops.select(ops.equal(end, 0), 0, end - 1), steps, "reverse_sequence", time)
    source = ops.select(inside, last - at, ops.broadcast_to(at, [rows, steps]))
    flat = ops.constant(np.arange(rows, dtype=np.int64)[:, None] * steps) + source
    gathered = ops.gather(
        ops.reshape(moved, [rows * steps, *rest]), ops.reshape(flat, [rows * steps])
    )
    back = [first.index(a) for a in range(rank)]
    return ops.transpose(ops.reshape(gathered, [rows, steps, *rest]), back)


def _shape(inputs: Sequence[Tensor], *, time: int, batch: int) -> Dims:
    dims, lengths = inputs[0].dims, inputs[1].dims
    if dims is None or lengths is None:
        return dims
    (rows,) = merged(lengths, (dims[batch],)) or (None,)
    return (*dims[:batch], rows, *dims[batch + 1 :])


_KIND = Kind("ReverseSequence", _reversed, shape=_shape)


@symbol("reverse_sequence")
def reverse_sequence(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_axis: Optional[int] = None,
    batch_axis: Optional[int] = None,
    name: Optional[str] = None,
    seq_dim: Optional[int] = None,
    batch_dim: Optional[int] = None,
) -> Tensor:
    """The first seq_lengths[b] elements along seq_axis of row b turned around.

    Raises:
        ValueError: there is no seq_axis.
    """
    time = seq_dim if seq_axis is None else seq_axis
    batch: Any = batch_dim if batch_axis is None else batch_axis
    if time is None:
        raise ValueError("reverse_sequence: seq_axis is required")
    x, lengths = convert_to_tensor(input), convert_to_tensor(seq_lengths)
    return _KIND(x, lengths, name=name, time=time, batch=batch or 0)


def _reversed_shape(inputs: Sequence[Tensor], *, axes: tuple[int, ...]) -> Dims:
    dims = inputs[0].dims
    if dims is not None:
        for a in axes:
            axis_of(a, len(dims))
    return dims


REVERSE = Kind(
    "ReverseV2",
    lambda x, axes: ops.reverse(x, axes) if axes else ops.identity(x),
    host=lambda x, axes: np.flip(x, axes),
    shape=_reversed_shape,
)


@symbol("reverse", "reverse_v2", "manip.reverse")
def reverse(tensor: TensorLike, axis: Any, name: Optional[str] = None) -> Tensor:
    """The elements along each of the axes in the opposite order."""
    if isinstance(axis, (int, np.integer)):
        raise ValueError("Shape must be rank 1 but is rank 0 for 'ReverseV2' (op: 'ReverseV2')")
    axes = numbers(axis, "reverse: the axes")
    return REVERSE(convert_to_tensor(tensor), name=name, axes=axes)
