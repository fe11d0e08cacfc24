"""Products and parts of matrices and vectors, made of standard ops: any dtype that these take."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

import byparts_opset as ops
from byparts_graph_ir import ArgumentError, ShapeError, Value, dtype_name
from byparts_linalg.matrices import rank_of, transposed
from byparts_linalg.solve import inv
from byparts_opset.broadcast import meet_dims, normal_axis


def matmul(a: Value, b: Value) -> Value:
    """a b: [..., m, k] and [..., k, n] give [..., m, n]; a vector is a row of a, a column of b."""
    left = ops.expand_dims(a, 0) if rank_of("matmul", a) == 1 else a
    right = ops.expand_dims(b, -1) if rank_of("matmul", b) == 1 else b
    gone = [axis for axis, x, y in ((-2, left, a), (-1, right, b)) if x is not y]
    y = ops.matmul(left, right)
    return ops.squeeze(y, gone) if gone else y


def matrix_transpose(a: Value) -> Value:
    """The transposes of matrices: [..., m, n] -> [..., n, m]."""
    _check_matrices("matrix_transpose", a)
    return transposed(a)


def matrix_power(a: Value, n: int) -> Value:
    """a a ... a, n times; the identity for 0, and powers of the inverse below.  [..., m, m].

    Products: at most two for each bit of n.
    """
    rows, size = _check_matrices("matrix_power", a)
    meet_dims("matrix_power", rows, size, f"takes square matrices, and a is {a.type}")
    if n == 0:
        if not isinstance(size, int):
            raise ShapeError(f"matrix_power: the size of a, {a.type}, is not known")
        always = ops.logical_or(ops.equal(a, a), ops.not_equal(a, a))  # of a, so an array if it is
        return ops.cast(always, a.type.dtype) * ops.eye(size, dtype=a.type.dtype)
    square = inv(a) if n < 0 else a
    power = None
    left = abs(n)
    while left:
        if left % 2:
            power = square if power is None else ops.matmul(power, square)
        left //= 2
        square = ops.matmul(square, square) if left else square
    assert power is not None, "n is not 0"
    return power


def vecdot(x: Value, y: Value, *, axis: int = -1) -> Value:
    """The sums of x y along an axis; the others broadcast."""
    _check_last("vecdot", axis, x, y)
    return ops.sum(x * y, axis)


def outer(x: Value, y: Value) -> Value:
    """x[i] y[j]: [m] and [n] give [m, n]."""
    if rank_of("outer", x) != 1 or rank_of("outer", y) != 1:
        raise ShapeError(f"outer: takes two vectors, got {x.type} and {y.type}")
    return ops.expand_dims(x, 1) * ops.expand_dims(y, 0)


def cross(x: Value, y: Value, *, axis: int = -1) -> Value:
    """The cross products of vectors of 3 elements along an axis; the others broadcast."""
    _check_last("cross", axis, x, y)
    for v in (x, y):
        if (v.type.shape or ())[axis] != 3:
            raise ShapeError(f"cross: takes 3 elements along axis {axis}, got {v.type}")
    a, b = (ops.unstack(v, axis) for v in (x, y))
    parts = [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]
    return ops.stack(parts, axis)


def tensordot(x: Value, y: Value, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Value:
    """The sum of products over pairs of axes; those left of x, then those left of y.

    Args:
        x: any shape.
        y: any shape.
        axes: the axes of x and those of y, in pairs; or how many last ones of x and first of y.
    """
    ranks = rank_of("tensordot", x), rank_of("tensordot", y)
    if isinstance(axes, int):
        if not 0 <= axes <= min(ranks):
            raise ArgumentError(f"tensordot: axes is {axes}; x is {x.type} and y is {y.type}")
        axes = (range(ranks[0] - axes, ranks[0]), range(axes))
    of_x, of_y = (
        [normal_axis("tensordot", a, r) for a in g] for g, r in zip(axes, ranks, strict=True)
    )
    if len(of_x) != len(of_y):
        raise ArgumentError(f"tensordot: {len(of_x)} axes of x and {len(of_y)} of y; give pairs")
    left, right = list(ascii_letters[: ranks[0]]), list(ascii_letters[ranks[0] : sum(ranks)])
    for i, j in zip(of_x, of_y, strict=True):
        right[j] = left[i]
    kept = [c for c in left if c not in right] + [c for c in right if c not in left]
    return ops.einsum(f"{''.join(left)},{''.join(right)}->{''.join(kept)}", x, y)


def diagonal(a: Value, *, offset: int = 0) -> Value:
    """The elements [i, i + offset] of matrices [..., m, n].

    Raises:
        ShapeError: a has fewer than two axes, or m or n is not known.
    """
    rows, columns = _check_matrices("diagonal", a)
    if not isinstance(rows, int) or not isinstance(columns, int):
        raise ShapeError(f"diagonal: the size of a, {a.type}, is not known")
    count = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    start = offset if offset >= 0 else -offset * columns
    lead = [-1 if d is None else d for d in (a.type.shape or ())[:-2]]
    flat = ops.reshape(a, (*lead, rows * columns))
    return ops.getitem(flat, (..., slice(start, start + count * (columns + 1), columns + 1)))


def trace(a: Value, *, offset: int = 0, dtype: object = None) -> Value:
    """The sums of the elements [i, i + offset] of matrices [..., m, n]: [...], added in `dtype`."""
    elements = diagonal(a, offset=offset)
    return ops.sum(elements if dtype is None else ops.cast(elements, dtype_name(dtype)), -1)


def _check_matrices(name: str, a: Value) -> tuple[int | str | None, int | str | None]:
    shape = a.type.shape
    if shape is None or len(shape) < 2:
        raise ShapeError(f"{name}: takes matrices [..., m, n], got {a.type}")
    return shape[-2], shape[-1]


def _check_last(name: str, axis: int, x: Value, y: Value) -> None:
    """Check that an axis is counted from the end: the first axes may broadcast."""
    least = min(rank_of(name, x), rank_of(name, y))
    if not -least <= axis < 0:
        raise ShapeError(
            f"{name}: axis is {axis}; count it from the end, -{least} to -1: "
            f"x is {x.type} and y is {y.type}"
        )
