"""Decides which statements C can vectorize: a vector of bool has no form in some places.

Values are looked at in the order in which `Values.value` computes them: what is computed one lane
after the other needs no vector form.
"""

from __future__ import annotations

from collections.abc import Sequence

from byparts_tensor_ir.emit.patterns import remainders
from byparts_tensor_ir.emit.strategy import (
    EmitError,
    Varying,
    flat_index,
    is_safe,
    step_of,
    unrounded,
)
from byparts_tensor_ir.expression import Expr
from byparts_tensor_ir.mathematics import expanded
from byparts_tensor_ir.statement import Statement, Store, walk
from byparts_tensor_ir.vector import Assign, Lanes


class CForms:
    """The check for one function; remembers which values have a form."""

    def __init__(self) -> None:
        self.varying = Varying()
        self.known: set[Expr] = set()

    def check(self, body: Sequence[Statement], lanes: Lanes) -> None:
        """Check that the statements of a vector can be printed.

        Raises:
            EmitError: they cannot; shows the expression.
        """
        for s in walk(body):
            values = unrounded(s) if isinstance(s, Store) else ()
            for v in s.values if isinstance(s, Assign) else values:
                for x in self.varying.operands_first(v, lanes):
                    self.value(x, lanes)
                self.value(v, lanes)

    def value(self, e: Expr, lanes: Lanes) -> None:
        e = expanded(e)
        if e in self.known or not self.varying.varies(e, lanes):
            return
        if e.op == "select":
            self.select(e, lanes)
        elif e.op == "load":
            self.load(e, lanes)
        elif e.op != "lane mask" and remainders(e, lanes) is None:
            for a in e.args:
                self.value(a, lanes)
        self.known.add(e)

    def select(self, e: Expr, lanes: Lanes) -> None:
        if e.dtype == "bool":
            raise EmitError(f"a select between conditions: {e}")
        condition, a, b = e.args
        if e.attr != "rare" and not (is_safe(a) and is_safe(b)):
            if self.varying.varies(condition, lanes):
                return  # computed one lane after the other
            self.value(a, lanes)
            self.value(b, lanes)
            return
        for x in (b, condition, a):
            self.value(x, lanes)

    def load(self, e: Expr, lanes: Lanes) -> None:
        if e.dtype != "bool":
            return
        try:
            step = step_of(flat_index(e.attr, e.args), lanes)
        except EmitError:
            step = -1
        if step != 1:
            raise EmitError(f"a strided load of bool: {e}")
