"""`tf.dynamic_partition` and `tf.dynamic_stitch`: rows dealt out and put together again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.gather import gather
from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.api.math.reduce import reduce_max
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.graph.convert import TensorLike, convert_all, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_number
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import int32
from byparts_tf_files.shape import Dims, merged


def _dealt(partitions: Any, count: int) -> tuple[Any, ...]:
    flat = partitions.reshape(-1)
    if flat.size and not 0 <= flat.min() <= flat.max() < count:
        raise ValueError(f"partitions = {flat.tolist()} is not in [0, {count})")
    return tuple([np.flatnonzero(flat == i) for i in range(count)])


DEALT = Kind(
    "DynamicPartition",
    host=_dealt,
    shape=lambda inputs, count: [(None,)] * count,
    dtype=lambda inputs, count: [int32] * count,
    gradient=False,
)


@symbol("dynamic_partition")
def dynamic_partition(
    data: TensorLike, partitions: TensorLike, num_partitions: int, name: Optional[str] = None
) -> list[Tensor]:
    """The rows of `data` with partition 0, those with 1, and so on.

    Raises at run time:
        InvalidArgumentError: a number is not below `num_partitions`.
    """
    with name_scope(name, "DynamicPartition"):
        x = identity(convert_to_tensor(data))  # so its gradient is dense
        parts = convert_to_tensor(partitions, int32)
        if parts.dims is not None and x.dims is not None:
            merged(x.dims[: len(parts.dims)], parts.dims)
            if len(parts.dims) != 1:
                x = reshape(x, concat([[-1], shape_of(x)[len(parts.dims) :]], 0))
        places = DEALT.operation([parts], count=int(num_partitions)).outputs
        return [gather(x, at) for at in places]


def _stitched(size: Any, *given: Value) -> Value:
    half = len(given) // 2
    at = ops.concat([ops.reshape(i, [-1]) for i in given[:half]], 0)
    pairs = zip(given[:half], given[half:], strict=True)
    rows = [ops.reshape(x, [i.type.size, *x.type.dims[len(i.type.dims) :]]) for i, x in pairs]
    data = ops.concat(rows, 0)
    return ops.scatter(ops.fill(0, data.type.dtype, [int(size), *data.type.dims[1:]]), at, data)


def _stitched_shape(inputs: Sequence[Tensor]) -> Dims:
    half = (len(inputs) - 1) // 2
    rest: Dims = None
    for i, x in zip(inputs[1 : half + 1], inputs[half + 1 :], strict=True):
        if i.dims is not None and x.dims is not None:
            rest = merged(rest, x.dims[len(i.dims) :])
    return None if rest is None else (static_number(inputs[0]), *rest)


STITCH = Kind(
    "DynamicStitch",
    _stitched,
    values=(0,),
    shape=_stitched_shape,
    dtype=lambda inputs: inputs[-1].dtype.base_dtype,
)


@symbol("dynamic_stitch", "parallel_dynamic_stitch")
def dynamic_stitch(indices: Any, data: Any, name: Optional[str] = None) -> Tensor:
    """Merge the rows of `data` into one tensor, each at its index; the last of several wins."""
    with name_scope(name, "DynamicStitch") as scope:
        at = [convert_to_tensor(i, int32) for i in indices]
        rows = convert_all(data)
        none = convert_to_tensor(np.array([-1], np.int32))
        size = reduce_max(concat([none, *[reshape(i, [-1]) for i in at]], 0), 0) + 1
        return STITCH(size, *at, *rows, name=scope)
