"""Accesses of global memory by statements: how much, and over which loops neighbours lie.

Threads of a warp are fast where they touch neighbouring elements at once, and so is a thread that
reads four neighbours as one vector.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from byparts_gpu_ir.launches import is_static, size_bytes
from byparts_gpu_ir.mapping.independence import rounds, stores_with_paths
from byparts_tensor_ir.access import flat_index
from byparts_tensor_ir.expression import BYTES, Expr
from byparts_tensor_ir.index import terms
from byparts_tensor_ir.statement import Buffer, Statement, Store
from byparts_tensor_ir.substitute import expressions, loads, variables


class Access(NamedTuple):
    """An element that a store reads or writes."""

    buffer: Buffer
    at: tuple[Expr, ...]

    def stride(self, var: Expr) -> int | None:
        """Elements from one round of a loop to the next; `None` if that changes."""
        coefficients, _ = terms(flat_index(self.buffer, self.at))
        if any(var in variables(a) for a in coefficients if a is not var):
            return None
        return coefficients.get(var, 0)


def accesses(s: Store) -> Iterator[Access]:
    """All elements that one round of a store touches, each once."""
    for load in dict.fromkeys(x for e in expressions(s) for x in loads(e)):
        yield Access(load.attr, load.args)
    for t in s.targets:
        yield Access(t, s.index)


def neighbours(var: Expr, statements: Iterable[Statement]) -> int:
    """Bytes in global memory that lie side by side in the rounds of a loop, less those that do not.

    What is one element in all rounds does not count.
    """
    total = 0
    for s, path in stores_with_paths(statements):
        for a in accesses(s):
            stride = a.stride(var) if a.buffer.scope == "global" else 0
            if stride != 0:
                sign = 1 if stride in (1, -1) else -1
                total += sign * BYTES[a.buffer.dtype] * rounds(path)
    return total


def bytes_of(statements: Sequence[Statement]) -> int:
    """Bytes between global memory and processors, if each element passes once."""
    touched: dict[Buffer, int] = {}
    for s, path in stores_with_paths(statements):
        for a in accesses(s):
            if a.buffer.scope == "global":
                number = rounds([x for x in path if a.stride(x.var) != 0])
                touched[a.buffer] = touched.get(a.buffer, 0) + number * BYTES[a.buffer.dtype]
    return sum(min(n, size_bytes(b)) if is_static(b) else n for b, n in touched.items())
