"""Determinants.  Gradients: Giles 2008, section 2.2.4 (see `solve.py`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Node, TensorType, Types, Value
from byparts_linalg.matrices import (
    Arrays,
    OfMatrices,
    all_finite,
    product,
    regular,
    squares,
    transposed,
)
from byparts_linalg.solve import Inv
from byparts_opset.dtypes import Array


class Det(OfMatrices):
    """y = the determinant of a [..., n, n]: [...]."""

    def infer(self, a: TensorType) -> Types:
        return (TensorType(a.dtype, squares(self.name, a)[0]),)

    def compute(self, a: Array, *_: Array) -> Arrays:
        return (np.asarray(np.linalg.det(a)),)

    def domain(self, a: Array, *_: Array) -> Arrays:
        return (regular(a, 0.0),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (_for_matrices(dy) * Cofactor()(node.inputs[0]),)


class Cofactor(OfMatrices):
    """y = det(a) inv(a)ᵀ, the derivative of the determinant; also where a is singular.

    With a = u diag(s) vᵀ: det(u) det(v) u diag(p) vᵀ, p[i] being the product of the other s[j].
    """

    bad = "has nan or inf"
    cost = 22.0

    def infer(self, a: TensorType) -> Types:
        lead, n = squares(self.name, a)
        return (TensorType(a.dtype, (*lead, n, n)),)

    def compute(self, a: Array, *_: Array) -> Arrays:
        if not a.size:
            return (a.copy(),)
        all_finite(a)
        u, s, vh = np.linalg.svd(a)
        n = range(s.shape[-1])
        others = np.stack([np.prod(np.delete(s, i, -1), -1) for i in n], -1)
        sign = np.round(np.linalg.det(u) * np.linalg.det(vh))
        return ((u * (sign[..., None] * others)[..., None, :]) @ vh,)

    def domain(self, a: Array, *_: Array) -> Arrays:
        return (regular(a, 0.0),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (a,), (y,) = node.inputs, node.outputs
        inverse = Inv()(a)
        back = transposed(inverse)
        from_det = _for_matrices(ops.sum(dy * back, (-2, -1))) * y
        det = _for_matrices(Det()(a))
        return (from_det - det * product(product(back, dy, transpose_b=True), back),)


class SlogDet(OfMatrices):
    """sign, log: the sign of the determinant of a [..., n, n] and the logarithm of its size: [...].

    0 and -inf of a singular matrix.
    """

    name = "slogdet"

    def infer(self, a: TensorType) -> Types:
        return (TensorType(a.dtype, squares(self.name, a)[0]),) * 2

    def compute(self, a: Array, *_: Array) -> Arrays:
        sign, log = np.linalg.slogdet(a)
        return np.asarray(sign), np.asarray(log)

    def gradient(self, node: Node, dsign: Value, dlog: Value) -> tuple[Value | None, ...]:
        return (_for_matrices(dlog) * transposed(Inv()(node.inputs[0])),)


class SlogDetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its size."""

    sign: Value
    logabsdet: Value


def det(a: Value) -> Value:
    """The determinants of square matrices [..., n, n]: [...]."""
    return Det()(a)


def slogdet(a: Value) -> SlogDetResult:
    """The signs of determinants and the logarithms of their sizes; 0 and -inf where singular."""
    return SlogDetResult(*SlogDet().outputs_of(a))


def _for_matrices(x: Value) -> Value:
    """[...] -> [..., 1, 1]."""
    return ops.expand_dims(x, (-2, -1))
