"""Indices in CUDA C: of 32 bits where bounds prove that no part of them needs more."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from byparts_gpu_ir.emit.cuda_tables import literal
from byparts_tensor_ir.emit.values import INDEX_OPS, Values
from byparts_tensor_ir.expression import Expr
from byparts_tensor_ir.index import lower_bound, not_negative, upper_bound

_MOST = 1 << 31


class CudaIndices:
    """Texts of indices.

    Attributes:
        values: what has the names of variables, and the values that are cast to indices.
    """

    def __init__(self, values: Values) -> None:
        self.values, self.fitting = values, dict[Expr, bool]()

    def text(self, e: Expr) -> str:
        """C for an index: an int where `fits`, else a long long."""
        if e.op == "const":
            return str(e.attr) if self.fits(e) else literal(e)
        if e.op == "var" or e.op not in INDEX_OPS:
            return self.values.plain_index(e)
        whole = self.fits(e)
        part = self.text if whole else self.long
        if e.op in ("linear", "mul"):
            if whole or _most(e) < 1 << 63:
                return f"({self.sum_or_product(e, part)})"
            text = self.sum_or_product(e, lambda a: f"(unsigned long long){part(a)}")
            return f"((long long)({text}))"  # overflows without harm
        a, b = map(part, e.args)
        if e.op in ("min", "max"):
            return f"{e.op}({a}, {b})"
        if not_negative(e.args[0]) and not_negative(e.args[1]):
            return f"({a} {'/' if e.op == 'floordiv' else '%'} {b})"
        name = "floordiv" if e.op == "floordiv" else "floormod"
        return f"{name}<{'int' if whole else 'long long'}>({a}, {b})"

    def sum_or_product(self, e: Expr, part: Callable[[Expr], str]) -> str:
        if e.op == "mul":
            return " * ".join(map(part, e.args))
        coefficients, constant = e.attr
        pairs = zip(e.args, coefficients, strict=True)
        products = [(c < 0, _product(part(a), abs(c))) for a, c in pairs]
        if constant:
            products.append((constant < 0, _magnitude_text(constant)))
        products.sort(key=lambda term: term[0])  # what is added first
        first, *others = products
        signs = "".join([f" {'-' if minus else '+'} {text}" for minus, text in others])
        return f"{'-' if first[0] else ''}{first[1]}{signs}"

    def long(self, e: Expr) -> str:
        """C for an index, as a long long."""
        if e.op == "const":
            return literal(e)
        text = self.text(e)
        return f"(long long){text}" if self.fits(e) else text

    def fits(self, e: Expr) -> bool:
        """Whether the C of an index is an int: no part of it can be 2^31 or more."""
        known = self.fitting.get(e)
        if known is None:
            known = self.fitting[e] = self._fits(e)
        return known

    def _fits(self, e: Expr) -> bool:
        if e.op == "const":
            return abs(int(e.attr)) < _MOST
        if e.op == "var":
            return _magnitude(e) < _MOST
        if e.op not in INDEX_OPS or not all(map(self.fits, e.args)):
            return False
        return e.op not in ("linear", "mul") or _most(e) < _MOST


def _most(e: Expr) -> int:
    """A number that no part of a sum or product is further from zero than."""
    if e.op == "mul":
        return prod(max(1, _magnitude(a)) for a in e.args)
    pairs = zip(e.args, e.attr[0], strict=True)
    return int(abs(e.attr[1]) + sum(abs(c) * _magnitude(a) for a, c in pairs))


def _magnitude(e: Expr) -> int:
    """A number that e is never further from zero than; 2^63 where none is known."""
    low, high = lower_bound(e), upper_bound(e)
    return 1 << 63 if low is None or high is None else max(abs(low), abs(high))


def _product(text: str, factor: int) -> str:
    return text if factor == 1 else f"{text} * {_magnitude_text(factor)}"


def _magnitude_text(number: int) -> str:
    """C for the number without its sign, of as many bits as it needs."""
    size = abs(number)
    return f"{size}{'' if size < _MOST else 'LL' if size < 1 << 63 else 'ull'}"
