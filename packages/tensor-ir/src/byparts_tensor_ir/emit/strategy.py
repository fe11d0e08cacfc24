"""What all emitters decide alike: widths of vectors, reductions over lanes, places of buffers.

Nothing here writes code.  Two emitters that follow it add in the same order, so their results are
equal to the bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from byparts_graph_ir import GraphError
from byparts_tensor_ir.expression import BYTES, HALVES, INDEX, VALUE_BYTES, Expr, const, make
from byparts_tensor_ir.guards import without_guards
from byparts_tensor_ir.index import not_negative, terms
from byparts_tensor_ir.lower import placed_identities
from byparts_tensor_ir.mathematics import expanded
from byparts_tensor_ir.statement import (
    Buffer,
    For,
    Func,
    If,
    Statement,
    Store,
    stores,
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
from byparts_tensor_ir.tensor import identity_values

MOST_UNROLLED_VECTORS = 8  # a constant vectorized loop of more vectors stays a loop
_ACCUMULATORS = 4  # vectors of partial results: an addition takes 4 cycles
_DEEP = 100  # subexpressions; an expression of fewer is not too deep
_STACK_BYTES = 1 << 16  # larger local buffers stand in the workspace
MOST_ON_STACK_BYTES = 1 << 18  # of a local buffer in a parallel loop: each thread has its own


class EmitError(GraphError):
    """What the emitter cannot write; the message shows the statement."""


@dataclass(frozen=True)
class Lanes:
    """The lanes of a vectorized loop: its variable is `base` + 0, 1, ..., `count` - 1.

    Attributes:
        var: the loop variable.
        base: the value in lane 0.
        lanes: of a whole vector.
        count: how many lanes there are, `None` for all.
    """

    var: Expr
    base: Expr
    lanes: int
    count: Expr | None = None


Element = tuple[tuple[Buffer, ...], tuple[Expr, ...]]  # targets and index of a store


class Strategy:
    """The decisions for one function.

    Attributes:
        func: the function, with the stores of identities and with few conditions.
        vector_bytes: of a vector register.
        offsets: local buffers that stand in the workspace -> where, in bytes.
        workspace_bytes: of the whole workspace.
    """

    def __init__(self, func: Func, vector_bytes: int) -> None:
        self.func = self.simplified(placed_identities(func))
        self.vector_bytes = vector_bytes
        self.offsets: dict[Buffer, int] = {}
        self.workspace_bytes = 0
        self.depends: dict[tuple[Expr, Expr], bool] = {}
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

    # -- lanes ---------------------------------------------------------------------------------

    def varies(self, e: Expr, lanes: Lanes) -> bool:
        """Whether lanes hold different values of e."""
        key = (e, lanes.var)
        known = self.depends.get(key)
        if known is None:
            if e.op == "name":
                known = e.attr[1] > 0
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

    def lanes_of(self, body: Sequence[Statement]) -> int:
        """As many lanes as the widest element has in a register."""
        widest = 1
        for s in walk(body):
            if isinstance(s, Store):
                widest = max([widest, *[VALUE_BYTES[t.dtype] for t in s.targets]])
                for v in s.values:
                    for e in subexpressions(v):
                        if e.dtype != INDEX or e.op == "load":
                            widest = max(widest, VALUE_BYTES[e.dtype])
                    if v.dtype == INDEX:
                        widest = 8
        return self.vector_bytes // widest

    def lane_reductions(self, loop: For) -> dict[Element, Store]:
        """The elements that all lanes of a vectorized loop add to, and the first store to each.

        Raises:
            EmitError: the loop has no vector form.
        """
        lanes = Lanes(loop.var, loop.var, 1)
        inner = {s.var for s in walk(loop.body) if isinstance(s, For)}
        reductions: dict[Element, Store] = {}
        for s in walk(loop.body):
            if isinstance(s, If) and self.varies(s.condition, lanes):
                raise EmitError(f"a condition on the lanes of a vector: {s.condition}")
            if isinstance(s, For) and self.varies(s.extent, lanes):
                raise EmitError(f"lanes of {loop.name} go through {s.name} another number of times")
            if not isinstance(s, Store):
                continue
            if any(loop.var in variables(i) for i in s.index):
                steps = [step_of(flat_index(t, s.index), lanes) for t in s.targets]
            elif s.targets[0].dtype == "bool":
                raise EmitError(f"a reduction of bool over the lanes of {loop.name}")
            else:
                reductions.setdefault(element_of(s), s)
                steps = [s.reducer is not None and not any(variables(i) & inner for i in s.index)]
            if not all(steps):
                raise EmitError(
                    f"all lanes of {loop.name} store to one element of {s.targets[0].name}"
                )
        return reductions

    def uniform(self, loop: For) -> Iterator[Expr]:
        """The values that are the same in all lanes and rounds, operands first."""
        stored = {t for s in stores(loop.body) for t in s.targets}
        inner = {x.var for x in walk(loop.body) if isinstance(x, For)} | {loop.var}
        for s in loop.body:
            for v in s.values if isinstance(s, Store) else ():
                changing = containing(
                    [expanded(v)],
                    lambda x: (
                        x in inner or (x.op == "load" and (x.attr in stored or not _is_inside(x)))
                    ),
                )
                for x in subexpressions(expanded(v)):
                    known = x.op in ("const", "var", "name") or x.dtype == INDEX
                    if not known and x not in changing:
                        yield x


def element_of(store: Store) -> Element:
    """What a store stores to; the same in copies of it."""
    return store.targets, store.index


def values_of_some(s: Store, computed: Expr) -> tuple[Expr, ...]:
    """The values of a reduction in the lanes that are `computed`, and its identity in others."""
    assert s.reducer is not None
    identity = identity_values(s.reducer, s.targets)
    pairs = zip(s.values, identity, strict=True)
    return tuple([make("select", (computed, v, i), v.dtype) for v, i in pairs])


def unrounded(s: Store) -> tuple[Expr, ...]:
    """What to store; of halves before they are rounded, as a store does that."""
    return tuple(
        [
            v.args[0] if v.op == "cast" and v.dtype in HALVES and v.args[0].dtype == "f32" else v
            for v in s.stored()
        ]
    )


def accumulators_of(extent: Expr, lanes: int) -> int:
    """Vectors of partial results of a reduction over lanes."""
    return 1 if extent.op == "const" and extent.attr < 4 * lanes else _ACCUMULATORS


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
    return all(_is_inside(load) for load in loads(e))


def _is_inside(load: Expr) -> bool:
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
    """How far apart the elements of two neighbouring lanes are.

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
