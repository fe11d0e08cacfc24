"""Inverses and solutions of linear systems.

Gradients: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation", 2008, section 2.2; of the pseudo-inverse: Golub and Pereyra, "The differentiation
of pseudo-inverses and nonlinear least squares problems whose variables separate", 1973.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import ArgumentError, Node, Sample, ShapeError, TensorType, Types, Value
from byparts_linalg.matrices import (
    Arrays,
    OfMatrices,
    all_finite,
    matrices,
    product,
    squares,
    transposed,
)
from byparts_linalg.triangle import Triangle
from byparts_opset.broadcast import broadcast_shape, meet_dims, same_dtype
from byparts_opset.dtypes import Array


class Inv(OfMatrices):
    """y = the inverse of a: a y = 1."""

    cost = 2.0

    def infer(self, a: TensorType) -> Types:
        lead, n = squares(self.name, a)
        return (TensorType(a.dtype, (*lead, n, n)),)

    def compute(self, a: Array, *_: Array) -> Arrays:
        return (np.linalg.inv(a),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (y,) = node.outputs
        return (-product(product(y, dy, transpose_a=True), y, transpose_b=True),)


class Solve(OfMatrices):
    """x with a x = b: a [..., n, n], b [..., n, k].  Leading axes broadcast.

    `triangle` "lower" or "upper": only that triangle of a is read.  `transpose`: aᵀ x = b.
    """

    triangle: str = ""
    transpose: bool = False

    def __post_init__(self) -> None:
        if self.triangle not in ("", "lower", "upper"):
            raise ArgumentError(
                f"solve: triangle is {self.triangle!r}; it is 'lower', 'upper', or '' for all of a"
            )

    def infer(self, a: TensorType, b: TensorType) -> Types:
        lead, n = squares(self.name, a)
        lead_b, rows, k = matrices(self.name, b)
        same_dtype(self.name, a, b)
        rows = meet_dims(self.name, n, rows, f"rows differ: a is {a} and b is {b}")
        leads = (TensorType(a.dtype, lead), TensorType(a.dtype, lead_b))
        return (TensorType(a.dtype, (*(broadcast_shape(self.name, *leads) or ()), rows, k)),)

    def compute(self, a: Array, *more: Array) -> Arrays:
        (b,) = more
        if self.triangle:  # NumPy knows no triangles; the pivots of one are its diagonal
            a = np.tril(a) if self.triangle == "lower" else np.triu(a)
        return (np.linalg.solve(np.swapaxes(a, -1, -2) if self.transpose else a, b),)

    def gradient(self, node: Node, dx: Value) -> tuple[Value | None, ...]:
        a, b = node.inputs
        (x,) = node.outputs
        db = Solve(self.triangle, not self.transpose)(a, dx)
        left, right = (x, db) if self.transpose else (db, x)
        da = -product(left, right, transpose_b=True)
        if self.triangle:
            da = Triangle(self.triangle == "upper")(da)
        return (ops.sum_like(da, a), ops.sum_like(db, b))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for triangle in ("", "lower", "upper"):
            for transpose in (False, True):
                yield _sample(cls(triangle, transpose), (3, 3), (3, 2))
        for a, b in (((2, 1, 4, 4), (3, 4, 1)), ((4, 4), (2, 4, 2)), ((0, 0), (0, 2))):
            yield _sample(cls(), a, b)
        yield _sample(cls("lower"), (2, 3, 3), (3, 0))


class Pinv(OfMatrices):
    """y = the pseudo-inverse of a [..., m, n]: [..., n, m], by its singular values.

    Those up to `rtol` times the largest count as 0.
    """

    rtol: float = 1e-15

    bad = "has nan or inf"
    cost = 20.0
    shapes = ((3, 3), (2, 4, 2), (3, 5), (0, 3), (2, 0, 0))

    def infer(self, a: TensorType) -> Types:
        lead, m, n = matrices(self.name, a)
        return (TensorType(a.dtype, (*lead, n, m)),)

    def compute(self, a: Array, *_: Array) -> Arrays:
        all_finite(a)
        return (np.linalg.pinv(a, self.rtol),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (a,), (y,) = node.inputs, node.outputs
        back = transposed(dy)  # [..., m, n]
        beside_columns = back - product(a, product(y, back))
        beside_rows = back - product(product(back, y), a)
        within = product(product(y, dy, transpose_a=True), y, transpose_b=True)
        da = product(beside_columns, product(y, y, transpose_b=True)) - within
        return (da + product(product(y, y, transpose_a=True), beside_rows),)


def inv(a: Value) -> Value:
    """The inverses of square matrices [..., n, n].

    Raises at run time:
        MatrixError: one is singular.
    """
    return Inv()(a)


def solve(a: Value, b: Value) -> Value:
    """x with a x = b: a [..., n, n]; b [n], or [..., n, k].

    Raises at run time:
        MatrixError: a matrix is singular.
    """
    if b.type.rank == 1:
        return ops.squeeze(Solve()(a, ops.expand_dims(b, -1)), -1)
    return Solve()(a, b)


def pinv(a: Value, *, rtol: float | None = None) -> Value:
    """The pseudo-inverses of matrices [..., m, n]: [..., n, m].

    Args:
        a: matrices.
        rtol: singular values up to this many times the largest count as 0; by default max(m, n)
            times the distance of 1 to the next number.
    """
    return Pinv(default_rtol("pinv", a) if rtol is None else float(rtol))(a)


def default_rtol(name: str, a: Value) -> float:
    """The relative size below which a singular value counts as 0: max(m, n) eps."""
    _, rows, columns = matrices(name, a.type)
    if not isinstance(rows, int) or not isinstance(columns, int):
        raise ShapeError(
            f"{name}: rtol depends on the shape, which is not known: {a.type}; give rtol"
        )
    eps: Any = np.finfo(np.float32 if a.type.dtype == "f32" else np.float64).eps
    return max(rows, columns) * float(eps)


def _sample(op: Solve, a: tuple[int, ...], b: tuple[int, ...]) -> Sample:
    return Sample(op, (TensorType("f32", a), TensorType("f32", b)))
