"""`tf.norm`: norms of vectors and of matrices."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.arguments import numbers, renamed
from byparts_frontend_tf.api.math.reduce import reduce_max, reduce_sum
from byparts_frontend_tf.api.math.unary import absolute, sqrt, square
from byparts_frontend_tf.api.reshape import expand_dims, squeeze
from byparts_frontend_tf.api.transpose import transpose
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol


@symbol("norm", "linalg.norm")
def norm(
    tensor: TensorLike,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: Optional[bool] = None,
    name: Optional[str] = None,
    keep_dims: Optional[bool] = None,
) -> Tensor:
    """The length of vectors along an axis, or of all elements.

    Raises:
        ValueError: `ord` is none of euclidean, 1, 2, inf, a positive number; of matrices (two axes)
            none of euclidean, fro, 1, 2, inf.
    """
    kept = bool(renamed(keepdims, keep_dims, "keepdims", "keep_dims"))
    x = convert_to_tensor(tensor)
    axes = None if axis is None else numbers(axis, "norm: the axes")
    of_matrices = axes is not None and isinstance(axis, (list, tuple)) and len(axes) == 2
    _check_norm(ord, axes, of_matrices)
    with name_scope(name, "norm", [x]):
        if of_matrices and ord in (1, 2, np.inf):
            return _norm_of_matrices(x, ord, axes, kept)
        if ord in ("fro", "euclidean", 2):
            return sqrt(reduce_sum(square(x), axes, kept))
        if ord == 1:
            return reduce_sum(absolute(x), axes, kept)
        if ord == np.inf:
            return reduce_max(absolute(x), axes, kept)
        total: Any = reduce_sum(absolute(x) ** float(ord), axes, kept)
        return total ** (1.0 / ord)  # type: ignore[no-any-return]  # a tensor


def _check_norm(ord: Any, axes: Any, of_matrices: bool) -> None:
    if of_matrices:
        if ord not in ("euclidean", "fro", 1, 2, np.inf):
            raise ValueError(f"'ord' must be a supported matrix norm, got {ord}")
    elif axes is not None and len(axes) != 1:
        raise ValueError(f"'axis' must be None, an integer, or a tuple of 2: {axes}")
    elif ord != "euclidean" and (isinstance(ord, str) or ord <= 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")


def _norm_of_matrices(x: Tensor, ord: Any, axes: Any, kept: bool) -> Tensor:
    """The largest sum of a column (1) or row (inf) of absolute numbers, or singular value (2)."""
    first, last = axes
    if ord == 2:
        rank = len(x.dims or ())
        pair = [a % rank for a in axes]
        order = [*[a for a in range(rank) if a not in pair], *pair]
        from byparts_frontend_tf.api.linalg.eigh import svd  # few norms need it

        values = svd(transpose(x, order), compute_uv=False)
        most: Tensor = reduce_max(values, [-1])
        for a in sorted(pair) if kept else ():
            most = expand_dims(most, a)
        return most
    sums = reduce_sum(absolute(x), [first if ord == 1 else last], True)
    most = reduce_max(sums, [last if ord == 1 else first], True)
    return most if kept else squeeze(most, list(axes))
