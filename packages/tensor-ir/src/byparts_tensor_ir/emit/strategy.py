"""Decisions that all emitters share: what varies over lanes, where buffers are placed.

Nothing here writes code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from byparts_graph_ir import GraphError
from byparts_tensor_ir.expression import BYTES, HALVES, INDEX, Expr, const
from byparts_tensor_ir.guards import without_guards
from byparts_tensor_ir.index import not_negative, terms
from byparts_tensor_ir.lower import placed_identities
from byparts_tensor_ir.statement import (
    Buffer,
    For,
    Func,
    If,
    Statement,
    Store,
    walk,
    written,
)
from byparts_tensor_ir.substitute import (
    containing,
    expressions,
    loads,
    subexpressions,
    variables,
)
from byparts_tensor_ir.vector import Lanes

_DEEP = 100  # subexpressions; an expression of fewer is not too deep
_STACK_BYTES = 1 << 16  # larger local buffers stand in the workspace
MOST_ON_STACK_BYTES = 1 << 18  # of a local buffer in a parallel loop: each thread has its own


class EmitError(GraphError):
    """The emitter cannot write a statement; the message shows the statement."""


Element = tuple[tuple[Buffer, ...], tuple[Expr, ...]]  # targets and index of a store


class Varying:
    """Finds and remembers which expressions have another value in each lane."""

    def __init__(self) -> None:
        self.depends: dict[tuple[Expr, Expr], bool] = {}

    def varies(self, e: Expr, lanes: Lanes) -> bool:
        """Whether lanes hold different values of e."""
        key = (e, lanes.var)
        known = self.depends.get(key)
        if known is None:
            if e.op == "register":
                known = e.attr.lanes > 1
            elif e.op == "lane mask":
                known = True
            else:
                known = e is lanes.var or any(self.varies(a, lanes) for a in e.args)
            self.depends[key] = known
        return known

    def operands_first(self, e: Expr, lanes: Lanes | None) -> Iterator[Expr]:
        """The values to compute before that of a long chain, so that Python's stack suffices."""
        order = list(subexpressions(e))
        chooses = any(x.op in ("select", "and", "or") for x in order)  # else all is computed anyway
        if len(order) > _DEEP and (not chooses or is_safe(e)):
            for x in order:
                if lanes is not None:
                    self.varies(x, lanes)
                if x.op not in ("const", "var") and (x.dtype != INDEX or x.op == "load"):
                    yield x


class Strategy(Varying):
    """The decisions for one function.

    Attributes:
        func: the function, with the stores of identities and with few conditions.
        vector_bytes: of a vector register.
        offsets: local buffers that stand in the workspace -> where, in bytes.
        workspace_bytes: of the whole workspace.
    """

    def __init__(self, func: Func, vector_bytes: int) -> None:
        super().__init__()
        self.func = self.simplified(placed_identities(func))
        self.vector_bytes = vector_bytes
        self.offsets: dict[Buffer, int] = {}
        self.workspace_bytes = 0
        self._place_in_workspace()

    def simplified(self, func: Func) -> Func:
        """The function to write code for."""
        return without_guards(func)

    def _place_in_workspace(self) -> None:
        for b in self.func.locals:
            size = elements_of(b) * BYTES[b.dtype]
            if size > _STACK_BYTES or (b.scope == "global" and size > 1024):
                if any(s.kind == "parallel" for s in self.around(b)):
                    if size > MOST_ON_STACK_BYTES:
                        raise EmitError(f"{b} of {size:,} bytes is inside of a parallel loop")
                    continue
                self.offsets[b] = self.workspace_bytes
                self.workspace_bytes += -(-size // 64) * 64

    def around(self, buffer: Buffer) -> list[For]:
        """The loops around all uses of a buffer, outermost first."""

        def uses(s: Statement) -> bool:
            held = {load.attr for e in expressions(s) for load in loads(e)}
            return buffer in held or buffer in written(s)

        common: list[For] = []
        body: Sequence[Statement] = self.func.body
        while True:
            users = [s for s in body if any(uses(x) for x in walk([s]))]
            if len(users) != 1 or not isinstance(users[0], (For, If)):
                return common
            if isinstance(users[0], For):
                if users[0].kind == "vectorize":
                    return common
                common.append(users[0])
            body = users[0].body


def element_of(store: Store) -> Element:
    """The buffers and the index that a store writes: equal for copies of the store."""
    return store.targets, store.index


def unrounded(s: Store) -> tuple[Expr, ...]:
    """The values to store; halves are given as f32, because the store itself rounds them."""
    return tuple(
        [
            v.args[0] if v.op == "cast" and v.dtype in HALVES and v.args[0].dtype == "f32" else v
            for v in s.stored()
        ]
    )


def elements_of(buffer: Buffer) -> int:
    """The number of elements of a local buffer.

    Raises:
        EmitError: it depends on a size.
    """
    if any(d.op != "const" for d in buffer.shape):
        raise EmitError(f"local buffer {buffer}: its size is not a number")
    return prod([int(d.attr) for d in buffer.shape])


def is_safe(e: Expr) -> bool:
    """Whether all loads in e are inside of their buffers, whatever is chosen."""
    return all(is_inside(load) for load in loads(e))


def is_inside(load: Expr) -> bool:
    """Whether all indices of a load are proved to be inside of its buffer."""
    return all(
        not_negative(i) and not_negative(extent - 1 - i)
        for i, extent in zip(load.args, load.attr.shape, strict=True)
    )


def flat_index(buffer: Buffer, index: Sequence[Expr]) -> Expr:
    """The position of an element."""
    at = const(0)
    for i, extent in zip(index, buffer.shape, strict=True):
        at = at * extent + i
    return at


def step_of(flat: Expr, lanes: Lanes) -> int:
    """The distance in memory, in elements, between two neighbouring lanes.

    Raises:
        EmitError: it is not the same for all.
    """
    coefficients, _ = terms(flat)
    if any(lanes.var in variables(a) for a in coefficients if a is not lanes.var):
        raise EmitError(f"{flat} is not affine in {lanes.var}")
    return coefficients.get(lanes.var, 0)


def forget_loads(scopes: Sequence[dict[Expr, Any]], body: Sequence[Statement]) -> None:
    """Forget the known values that were read from buffers to which these statements store."""
    targets = {t for s in walk(body) for t in written(s)}
    for scope in scopes:
        for e in containing(scope, lambda x: x.op == "load" and x.attr in targets) & scope.keys():
            del scope[e]
