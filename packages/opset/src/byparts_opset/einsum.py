"""Sums of products by naming axes: "bij,bjk->bik".

A letter names an axis; axes of one letter go together, and letters that the result lacks are summed
over.  Einsum is closed under differentiation: the gradient of an operand is the einsum of dy with
the other operands.  It decomposes, two operands at a time in their cheapest order, into a product
of matrices per pair: letters fall into batch (in both, kept), inner (in both, summed), left, right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import starmap
from math import prod
from typing import TypeVar

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Dimension, Node, Op, Sample, ShapeError, TensorType, Types, Value
from byparts_opset.broadcast import meet_dims
from byparts_opset.contraction import Contraction
from byparts_opset.dtypes import Array, narrow, total_dtype, type_of, wide
from byparts_opset.matmul import number_dtype
from byparts_opset.reshape import as_target

_EQUATION = re.compile(r"[A-Za-z]*(,[A-Za-z]*)*->[A-Za-z]*")
T = TypeVar("T")
Term = tuple[str, Value]  # the letters of the axes of a value


class Einsum(Op):
    """y[out] = sum over the letters not in `out` of the product of the operands.

    Source: NumPy's einsum (https://numpy.org/doc/stable/reference/generated/numpy.einsum.html),
    without "...", and without a letter twice in one operand.
    """

    equation: str

    pattern = "contraction"

    def __post_init__(self) -> None:
        if not _EQUATION.fullmatch(self.equation):
            raise ShapeError(
                f"einsum: {self.equation!r} is no equation of letters as 'ij,jk->ik'; "
                "for '...' write out the axes it stands for"
            )
        terms, out = self.parts
        for term in (*terms, out):
            if len(set(term)) != len(term):
                raise ShapeError(
                    f"einsum: {term!r} in {self.equation!r} has a letter twice; "
                    "for a diagonal, einsum('ij,ij->i', x, eye(n))"
                )
        if not set(out) <= set("".join(terms)):
            raise ShapeError(f"einsum: {self.equation!r} has a letter in the result only")

    @property
    def parts(self) -> tuple[tuple[str, ...], str]:
        """The letters of each operand, and of the result."""
        given, out = self.equation.split("->")
        return tuple(given.split(",")), out

    def infer(self, *types: TensorType) -> Types:
        if not types:
            raise ShapeError(f"einsum: {self.equation!r} of no operands; give one for each term")
        dtype, sizes = number_dtype(self.name, *types), self._sizes(types)
        return (TensorType(dtype, tuple(sizes[letter] for letter in self.parts[1])),)

    infer_unranked = infer

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        terms, out = self.parts
        sizes = self._sizes(inputs)
        if outputs[0].shape is not None:
            for letter, d in zip(out, outputs[0].shape, strict=True):
                what = f"the result is {outputs[0]}, and {letter} in {self.equation!r} differs"
                sizes[letter] = meet_dims(self.name, sizes[letter], d, what)
        pairs = zip(inputs, terms, strict=True)
        return tuple(TensorType(x.dtype, tuple(sizes[i] for i in term)) for x, term in pairs)

    def evaluate(self, *arrays: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            dtype = total_dtype(wide(arrays[0]).dtype)
            given = [wide(a).astype(dtype) for a in arrays]
            order = Contraction(*self.parts, self._sizes(tuple(map(type_of, arrays)))).order()
            path = ["einsum_path", *order] if len(order) > 1 else False
            y = np.einsum(self.equation, *given, optimize=path)
        return (narrow(np.array(y, order="C"), arrays[0].dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        terms, out = self.parts
        result = []
        for k, (letters, x) in enumerate(zip(terms, node.inputs, strict=True)):
            other_terms, others = _without(terms, k), _without(node.inputs, k)
            seen = set(out).union(*other_terms)
            kept = "".join(i for i in letters if i in seen)
            dx = Einsum(f"{','.join((out, *other_terms))}->{kept}")(dy, *others)
            alone = tuple(axis for axis, i in enumerate(letters) if i not in seen)
            result.append(ops.broadcast_like(ops.expand_dims(dx, alone), x) if alone else dx)
        return tuple(result)

    def decompose(self, *inputs: Value) -> tuple[Value, ...] | None:
        terms, out = self.parts
        sizes = self._sizes(tuple(x.type for x in inputs))
        rest = list(zip(terms, inputs, strict=True))
        for i, j in Contraction(terms, out, sizes).order():
            b, a = rest.pop(j), rest.pop(i)
            joined = _joined(a, b, set(out).union(*(letters for letters, _ in rest)), sizes)
            if joined is None:
                return None
            rest.append(joined)
        return (_ordered(_summed(rest[0], set(out)), out),)

    def flops(self, *types: TensorType) -> int:
        contraction = Contraction(*self.parts, self._sizes(types))
        joins = contraction.joins()
        return 2 * sum(starmap(contraction.products, joins)) if joins else types[0].size

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for equation, *shapes in (
            ("ij,jk->ik", (2, 3), (3, 4)),
            ("bqd,bkd->bqk", (2, 3, 4), (2, 5, 4)),
            ("abc,cbd->da", (2, 3, 4), (4, 3, 5)),
            ("ij,j->i", (2, 3), (3,)),
            ("i,j->ji", (2,), (3,)),
            ("ij,ij->", (2, 3), (2, 3)),
            ("ijk->ki", (2, 3, 4)),
            ("ai,bi,ci->abc", (2, 3), (2, 3), (4, 3)),
            (",ij->ij", (), (2, 3)),
            ("abi,i->ba", (2, 3, 4), (4,)),
            ("abij,abij->ba", (1, 2, 2, 3), (1, 2, 2, 3)),
            ("ij,jk->ik", (2, 0), (0, 3)),
        ):
            yield Sample(cls(equation), tuple(TensorType("f32", shape) for shape in shapes))

    def _sizes(self, types: Types) -> dict[str, Dimension]:
        """The dimension of each letter, as far as known."""
        terms, _ = self.parts
        if len(types) != len(terms):
            raise ShapeError(
                f"einsum: {self.equation!r} takes {len(terms)} operands, got {len(types)}"
            )
        sizes: dict[str, Dimension] = dict.fromkeys("".join(terms))
        listed = ", ".join(map(str, types))
        for letters, x in zip(terms, types, strict=True):
            shape = (None,) * len(letters) if x.shape is None else x.shape
            if len(shape) != len(letters):
                raise ShapeError(f"einsum: {letters!r} names {len(letters)} axes, and x is {x}")
            for letter, d in zip(letters, shape, strict=True):
                what = f"dimensions of {letter} differ in {self.equation!r} of {listed}"
                sizes[letter] = meet_dims(self.name, sizes[letter], d, what)
        return sizes


def einsum(equation: str, *operands: Value) -> Value:
    """Sum of products; without "->" the letters that occur once are kept, in alphabetical order."""
    equation = equation.replace(" ", "")
    if "->" not in equation:
        letters = equation.replace(",", "")
        equation += "->" + "".join(i for i in sorted(set(letters)) if letters.count(i) == 1)
    return Einsum(equation)(*operands)


def _joined(a: Term, b: Term, after: set[str], sizes: dict[str, Dimension]) -> Term | None:
    """Multiply two operands and sum over letters not in `after`; `None` if a size is not known."""
    a, b = _summed(a, after | set(b[0])), _summed(b, after | set(a[0]))
    both = [i for i in a[0] if i in b[0]]
    batch, inner = _letters(both, after), "".join(i for i in both if i not in after)
    left = "".join(i for i in a[0] if i not in both)
    right = "".join(i for i in b[0] if i not in both)
    if not inner:
        return _outer(a, b, batch, left, right)
    transposed_a, transposed_b = a[0] == batch + inner + left, b[0] == batch + right + inner
    matrix_a = _matrices(a, batch, (inner, left) if transposed_a else (left, inner), sizes)
    matrix_b = _matrices(b, batch, (right, inner) if transposed_b else (inner, right), sizes)
    if matrix_a is None or matrix_b is None:
        return None
    letters, y = batch + left + right, ops.MatMul(transposed_a, transposed_b)(matrix_a, matrix_b)
    split = y if len(left) == len(right) == 1 else _shaped(y, [sizes[i] for i in letters])
    return None if split is None else (letters, split)


def _outer(a: Term, b: Term, batch: str, left: str, right: str) -> Term:
    """Multiply every element of a by every element of b with the same batch index."""
    x, y = _ordered(a, batch + left), _ordered(b, batch + right)
    n, m = len(batch), len(left)
    x = ops.expand_dims(x, range(n + m, n + m + len(right))) if right else x
    y = ops.expand_dims(y, range(n, n + m)) if left else y
    return (batch + left + right, ops.mul(x, y))


def _matrices(
    term: Term, batch: str, sides: tuple[str, str], sizes: dict[str, Dimension]
) -> Value | None:
    """The operand as [batch..., rows, columns]."""
    x = _ordered(term, batch + sides[0] + sides[1])
    if len(sides[0]) == len(sides[1]) == 1:
        return x
    return _shaped(x, [*(sizes[i] for i in batch), *(_product(side, sizes) for side in sides)])


def _shaped(x: Value, shape: list[Dimension]) -> Value | None:
    target = as_target(tuple(shape))
    return None if target is None else ops.reshape(x, target)


def _product(letters: str, sizes: dict[str, Dimension]) -> Dimension:
    dims = [sizes[i] for i in letters]
    if len(dims) == 1:
        return dims[0]
    known = [d for d in dims if isinstance(d, int)]
    return prod(known) if len(known) == len(dims) else None


def _summed(term: Term, needed: set[str]) -> Term:
    """Sum over the letters that are not in `needed`."""
    letters, x = term
    axes = tuple(axis for axis, i in enumerate(letters) if i not in needed)
    return (_letters(letters, needed), ops.Sum(axes, False)(x)) if axes else term


def _ordered(term: Term, order: str) -> Value:
    letters, x = term
    return x if letters == order else ops.Transpose(tuple(letters.index(i) for i in order))(x)


def _letters(letters: list[str] | str, among: set[str]) -> str:
    return "".join(i for i in letters if i in among)


def _without(items: tuple[T, ...], k: int) -> tuple[T, ...]:
    return (*items[:k], *items[k + 1 :])
