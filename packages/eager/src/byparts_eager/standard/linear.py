"""Products of matrices and vectors, and the parts `linalg` and `fft` of the standard."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters
from typing import Any, Union

import byparts_opset as ops
from byparts_eager.array import asarray
from byparts_eager.standard.one_dtype import of_one_dtype
from byparts_graph_ir import ShapeError


def matmul(x1: Any, x2: Any, /) -> Any:
    """The products of the matrices of the last two axes; one of one axis is a row, or a column.

    Raises:
        ShapeError: one has no axes, or they do not fit.
    """
    x, y = of_one_dtype(x1, x2)
    if x.type.rank == 0 or y.type.rank == 0:
        raise ShapeError(f"matmul: {x.type} and {y.type}: a 0-d array is no matrix; use x * y")
    if x.type.rank > 1 and y.type.rank > 1:
        return ops.matmul(x, y)
    rows = ops.expand_dims(x, 0) if x.type.rank == 1 else x
    columns = ops.expand_dims(y, 1) if y.type.rank == 1 else y
    product = ops.matmul(rows, columns)
    away = (*((-2,) if x.type.rank == 1 else ()), *((-1,) if y.type.rank == 1 else ()))
    return ops.squeeze(product, away)


def matrix_transpose(x: Any, /) -> Any:
    """`x` with its last two axes exchanged.

    Raises:
        ShapeError: it has fewer.
    """
    x = asarray(x)
    n = x.type.rank
    if n < 2:
        raise ShapeError(f"matrix_transpose: {x.type} is no matrix: it has {n} axes")
    return ops.transpose(x, (*range(n - 2), n - 1, n - 2))


def tensordot(
    x1: Any, x2: Any, /, *, axes: Union[int, tuple[Sequence[int], Sequence[int]]] = 2
) -> Any:
    """The sums of products along axes of both: so many last and first ones, or the pairs named.

    Raises:
        ShapeError: the axes are not of equal sizes.
    """
    x, y = of_one_dtype(x1, x2)
    m, n = x.type.rank, y.type.rank
    pairs = (range(m - axes, m), range(axes)) if isinstance(axes, int) else axes
    left, right = list(ascii_letters[:m]), list(ascii_letters[m : m + n])
    for i, j in zip(*pairs, strict=True):
        if x.shape[i] != y.shape[j]:
            raise ShapeError(
                f"tensordot: axis {i} of {x.type} and axis {j} of {y.type}: sizes differ"
            )
        right[j] = left[i]
    free = [c for c in (*left, *right) if (c in left) != (c in right)]
    return ops.einsum(f"{''.join(left)},{''.join(right)}->{''.join(free)}", x, y)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The sums of products along one axis, counted from the end; the others are broadcast.

    Raises:
        ShapeError: they are of different sizes along it.
    """
    x, y = of_one_dtype(x1, x2)
    if not (axis < 0 and -axis <= min(x.type.rank, y.type.rank)) or x.shape[axis] != y.shape[axis]:
        raise ShapeError(
            f"vecdot: {x.type} and {y.type} along axis {axis}, which counts from -1 down and is "
            "of one size in both"
        )
    return ops.sum(ops.mul(x, y), axis)
