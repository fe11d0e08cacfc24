"""Inverses, solutions and factors of small matrices as products and sums, for bodies of loops.

The host computes them elsewhere, by LAPACK.  A body of graph-ir knows only ops of values: here each
column is a few of them, so a matrix has at most `_MOST` columns.  What is not there (the inverse of
a singular matrix) is infinite or NaN, and no error.
"""

from __future__ import annotations

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Value

_MOST = 16  # columns


def _row(a: Value, i: int) -> Value:
    return ops.getitem(a, (Ellipsis, slice(i, i + 1), slice(None)))


def _column(a: Value, i: int) -> Value:
    return ops.getitem(a, (Ellipsis, slice(None), slice(i, i + 1)))


def _at(a: Value, i: int) -> Value:
    return _column(_row(a, i), i)


def _numbers(n: int) -> Value:
    return ops.constant(np.arange(n).reshape(n, 1))


def _checked(a: Value) -> int:
    n = a.type.dims[-1]
    if n > _MOST:
        raise NotImplementedError(f"matrices of {n} columns are for the host")
    return n


def _identity(a: Value) -> Value:
    n = a.type.dims[-1]
    eye = ops.constant(np.eye(n, dtype=np.float32 if a.type.dtype == "f32" else np.float64))
    return a * 0 + eye


def eliminated(a: Value, b: Value) -> tuple[Value, Value]:
    """x with a x = b, and the determinant of a: [..., n, n], [..., n, m].

    By Gauss and Jordan, with the largest element of each column as its pivot.
    """
    n, numbers = _checked(a), _numbers(a.type.dims[-1])
    determinant = None
    both = ops.concat([a, b], -1)
    for k in range(n):
        size = ops.abs(_column(both, k))
        usable = ops.select(numbers >= k, size, size * 0 - 1)
        best = ops.expand_dims(ops.argmax(usable, -2), -2)  # [..., 1, 1]
        mine, theirs = ops.equal(numbers, k), ops.equal(numbers, ops.cast(best, "i64"))
        zero = both * 0
        chosen = ops.sum(ops.select(theirs, both, zero), [-2], keepdims=True)
        turned = ops.select(mine, chosen, ops.select(theirs, _row(both, k), both))
        pivot = _at(turned, k)
        sign = ops.select(ops.equal(best, k), ops.ones_like(pivot), -ops.ones_like(pivot))
        determinant = sign * pivot if determinant is None else determinant * sign * pivot
        scaled = _row(turned, k) / pivot
        others = ops.select(mine, zero, turned - _column(turned, k) * scaled)
        both = ops.select(mine, scaled + zero, others)
    assert determinant is not None, "a matrix has a column"
    rest = ops.getitem(both, (Ellipsis, slice(None), slice(n, None)))
    return rest, ops.squeeze(determinant, [-2, -1])


def inverse(a: Value) -> Value:
    """The inverses."""
    return eliminated(a, _identity(a))[0]


def solution(a: Value, b: Value) -> tuple[Value, Value]:
    """x with a x = b, and the inverses."""
    m = b.type.dims[-1]
    found = eliminated(a, ops.concat([b, _identity(a)], -1))[0]
    return (
        ops.getitem(found, (Ellipsis, slice(None), slice(0, m))),
        ops.getitem(found, (Ellipsis, slice(None), slice(m, None))),
    )


def determinant(a: Value) -> tuple[Value, Value]:
    """The determinants, and the inverses."""
    found, det = eliminated(a, _identity(a))
    return det, found


def log_determinant(a: Value) -> tuple[Value, Value, Value]:
    """The signs of the determinants, the logarithms of their sizes, and the inverses."""
    det, found = determinant(a)
    return ops.sign(det), ops.log(ops.abs(det)), found


def triangular_solution(a: Value, b: Value, lower: bool) -> tuple[Value, Value]:
    """Solve a x = b as `solution` does, reading only one triangle of a."""
    n, m = _checked(a), b.type.dims[-1]
    left = ops.concat([b, _identity(a)], -1)
    rows: list[Value] = [left] * n
    numbers = _numbers(n)
    for i in range(n) if lower else reversed(range(n)):
        rows[i] = _row(left, i) / _at(a, i)
        rest = numbers > i if lower else numbers < i
        left = ops.select(rest, left - _column(a, i) * rows[i], left)
    found = ops.concat(rows, -2)
    return (
        ops.getitem(found, (Ellipsis, slice(None), slice(0, m))),
        ops.getitem(found, (Ellipsis, slice(None), slice(m, None))),
    )


def factor(a: Value) -> tuple[Value, Value]:
    """The lower triangular L with L L^T = a, and its inverses; the lower triangle of a is read."""
    n, numbers = _checked(a), _numbers(a.type.dims[-1])
    left, columns = a, []
    for k in range(n):
        column = _column(left, k) / ops.sqrt(_at(left, k))
        columns.append(ops.select(numbers >= k, column, column * 0))
        left = left - columns[-1] * ops.transpose(columns[-1], _turn(a))
    lower = ops.concat(columns, -1)
    return lower, triangular_solution(lower, _identity(a), True)[0]


def _turn(a: Value) -> list[int]:
    rank = len(a.type.dims)
    return [*range(rank - 2), rank - 1, rank - 2]
