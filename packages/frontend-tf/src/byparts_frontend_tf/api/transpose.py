"""`tf.transpose`: axes in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.range import range as range_
from byparts_frontend_tf.api.shape import rank
from byparts_frontend_tf.graph.convert import (
    TensorLike,
    convert_to_tensor,
    shape_tensor,
)
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.shape import Dims, shown


def _transposed(inputs: Sequence[Tensor]) -> Dims:
    dims = inputs[0].dims
    order = static_value(inputs[1])
    if order is None:
        return None if dims is None else (None,) * len(dims)
    if dims is None:
        return (None,) * int(order.size)
    if len(dims) != order.size or sorted(order.tolist()) != list(range(order.size)):
        raise ValueError(f"Dimension must be {len(dims)} but is {order.size} for 'transpose'")
    return tuple([dims[i] for i in order.tolist()])


TRANSPOSE = Kind(
    "Transpose",
    lambda x, order: ops.transpose(x, [int(i) for i in order]),
    host=np.transpose,
    values=(1,),
    shape=_transposed,
)


@symbol("transpose")
def transpose(
    a: TensorLike, perm: Any = None, name: str = "transpose", conjugate: bool = False
) -> Tensor:
    """The tensor with its axes in another order, by default the opposite one.

    Raises:
        ValueError: it is no order of its axes.
    """
    x = convert_to_tensor(a)
    if perm is None:
        if x.dims is None:
            perm = rank(x) - 1 - range_(0, rank(x), 1)
        else:
            perm = list(range(len(x.dims)))[::-1]
    return TRANSPOSE(x, shape_tensor(perm, "perm"), name=name)


@symbol("matrix_transpose", "linalg.transpose", "linalg.matrix_transpose")
def matrix_transpose(
    a: TensorLike, name: str = "matrix_transpose", conjugate: bool = False
) -> Tensor:
    """The tensor with its last two axes exchanged.

    Raises:
        ValueError: it has fewer, or how many is not known.
    """
    x = convert_to_tensor(a)
    if x.dims is None:
        n = rank(x)
        return transpose(x, concat([range_(0, n - 2), [n - 1, n - 2]], 0), name)
    if len(x.dims) < 2:
        raise ValueError(
            f"Argument 'a' should be a (batch) matrix, with rank >= 2: {shown(x.dims)}"
        )
    axes = len(x.dims)
    return transpose(x, [*range(axes - 2), axes - 1, axes - 2], name)
