"""`tf.tile` and `tf.repeat`: tensors and elements repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.graph.convert import (
    TensorLike,
    convert_to_tensor,
    shape_tensor,
)
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_dims, static_value
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import int32
from byparts_tf_files.shape import Dims


def _tiled(inputs: Sequence[Tensor]) -> Dims:
    dims, repeats = inputs[0].dims, static_dims(inputs[1])
    if dims is None and repeats is not None:
        dims = (None,) * len(repeats)
    if dims is None or repeats is None:
        known = dims if repeats is None else repeats
        return None if known is None else (None,) * len(known)
    if len(dims) != len(repeats):
        raise ValueError(f"Shape must be rank {len(dims)} but is rank {len(repeats)} for 'Tile'")
    return tuple([_times(d, r) for d, r in zip(dims, repeats, strict=True)])


def _times(size: Optional[int], repeats: Optional[int]) -> Optional[int]:
    if 0 in (size, repeats):
        return 0
    return None if size is None or repeats is None else size * repeats


TILE = Kind(
    "Tile",
    lambda x, repeats: ops.tile(x, [int(r) for r in repeats]),
    host=np.tile,
    values=(1,),
    shape=_tiled,
)


@symbol("tile")
def tile(input: TensorLike, multiples: TensorLike, name: Optional[str] = None) -> Tensor:
    """`multiples[a]` copies along each axis a.

    Raises:
        ValueError: there is not one number for each axis.
    """
    return TILE(convert_to_tensor(input), shape_tensor(multiples, "multiples"), name=name)


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
