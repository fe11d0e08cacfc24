"""Products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

import byparts_opset as ops
from byparts_frontend_torch.aten.axes import rank_of
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.rules import rules
from byparts_graph_ir import Value


@rules.on("aten.mm.default", "aten.bmm.default", "aten.mv.default", "aten.dot.default")
@rules.on("aten.matmul.default")
def matmul(a: Value, b: Value) -> Value:
    """A vector is a row on the left and a column on the right, and its axis goes again."""
    left, right = rank_of(a) == 1, rank_of(b) == 1
    y = ops.matmul(ops.expand_dims(a, 0) if left else a, ops.expand_dims(b, 1) if right else b)
    y = ops.squeeze(y, -1) if right else y
    return ops.squeeze(y, rank_of(y) - (1 if right else 2)) if left else y


@rules.on("aten.addmm.default", "aten.baddbmm.default")
def addmm(c: Value, a: Value, b: Value, beta: float = 1, alpha: float = 1) -> Value:
    product = ops.matmul(a, b)
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product
    return ops.add(product, c if beta == 1 else c * beta)


@rules.on("aten.addmv.default")
def addmv(c: Value, a: Value, x: Value, beta: float = 1, alpha: float = 1) -> Value:
    product: Value = matmul(a, x) * alpha
    return product if beta == 0 else product + c * beta


@rules.on("aten.addbmm.default")
def addbmm(c: Value, a: Value, b: Value, beta: float = 1, alpha: float = 1) -> Value:
    product = ops.sum(ops.matmul(a, b), 0) * alpha
    return product if beta == 0 else product + c * beta


@rules.on("aten.linear.default")
def linear(x: Value, weight: Value, bias: Value | None = None) -> Value:
    """weight: [out, in]."""
    rows = ops.expand_dims(x, 0) if rank_of(x) == 1 else x
    if rank_of(weight) == 1:
        raise UnsupportedOp(f"a weight of {weight.type}")
    y = ops.matmul(rows, weight, transpose_b=True)
    y = ops.squeeze(y, 0) if rank_of(x) == 1 else y
    return y if bias is None else y + bias


@rules.on("aten.bilinear.default")
def bilinear(x: Value, y: Value, weight: Value, bias: Value | None = None) -> Value:
    """weight: [out, n, m]; x: [..., n]; y: [..., m]."""
    product: Value = einsum("...i,oij,...j->...o", [x, weight, y])
    return product if bias is None else product + bias


@rules.on("aten.einsum.default")
def einsum(equation: str, tensors: Sequence[Value], path: object = None) -> Value:
    terms, out = _written_out(equation.replace(" ", ""), [rank_of(t) for t in tensors])
    sizes: dict[str, object] = {}
    for term, t in zip(terms, tensors, strict=True):
        if len(set(term)) != len(term):
            raise UnsupportedOp(f"{term!r} of {equation!r} has a letter twice")
        for letter, d in zip(term, t.type.shape or (), strict=True):
            if sizes.setdefault(letter, d) != d:
                raise UnsupportedOp(f"{letter!r} of {equation!r} is {sizes[letter]} and {d}")
    return ops.einsum(f"{','.join(terms)}->{out}", *tensors)


def _written_out(equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The terms and the result, with letters for "..." and a result where none is written."""
    given, arrow, out = equation.partition("->")
    terms = given.split(",")
    free = [c for c in ascii_letters if c not in equation]
    spans = [rank - len(t.replace("...", "")) for t, rank in zip(terms, ranks, strict=True)]
    longest = max((s for s, t in zip(spans, terms, strict=True) if "..." in t), default=0)
    dots = "".join(free[:longest])
    terms = [t.replace("...", dots[longest - s :]) for t, s in zip(terms, spans, strict=True)]
    if not arrow:
        letters = given.replace(",", "").replace(".", "")
        once = sorted(c for c in set(letters) if letters.count(c) == 1)
        out = ("..." if longest else "") + "".join(once)
    return terms, out.replace("...", dots)
