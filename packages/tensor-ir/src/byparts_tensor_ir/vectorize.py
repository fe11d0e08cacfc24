"""Vectorized loops become vectors: a pass from function to function, for all printers alike.

A loop of few rounds becomes some vectors, the last of which may have fewer lanes.  Any other
becomes whole vectors, then one with the lanes that are left.  A reduction over the lanes keeps
vectors of partial results, several where there are many rounds, and combines them after the loop:
first vectors, then halves of a vector.  So every emitter adds in the same order, and their results
are equal to the bit.  What has no vector form stays a serial loop.

The result is a program, printed and interpreted, as in Halide and in TVM (`vectorize_loop.cc`).
O(statements), beside the substitutions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from byparts_tensor_ir.access import (
    Element,
    EmitError,
    element_of,
    flat_index,
    is_inside,
    step_of,
)
from byparts_tensor_ir.expression import INDEX, VALUE_BYTES, Expr, const, make, variable
from byparts_tensor_ir.intrinsic import Intrinsic
from byparts_tensor_ir.lane_forms import Varying
from byparts_tensor_ir.mathematics import expanded
from byparts_tensor_ir.statement import For, Func, If, Statement, Store, stores, walk
from byparts_tensor_ir.substitute import (
    containing,
    in_statements,
    renewed,
    subexpressions,
    variables,
)
from byparts_tensor_ir.tensor import identity_values
from byparts_tensor_ir.vector import (
    Assign,
    Lanes,
    Rest,
    Strip,
    Strips,
    Unrolled,
    Vector,
    VectorLoop,
    half,
    index_register,
    lane_mask,
    register,
)

_NO_LANE = variable("lane", 64)  # of registers alone
MOST_UNROLLED_VECTORS = 8  # a constant vectorized loop of more vectors stays a loop
_ACCUMULATORS = 4  # vectors of partial results: an addition takes 4 cycles
Body = tuple[Statement, ...]
Registers = tuple[Expr, ...]  # one for each value of a reducer
Check = Callable[[Sequence[Statement], Lanes], None]  # raises EmitError: no vector form


def vectorized(
    func: Func, vector_bytes: int, check: Check = lambda body, lanes: None, texts: bool = False
) -> Func:
    """The function with explicit vectors, and without loops that are to be unrolled.

    Args:
        func: any function whose reductions begin with stores of their identities.
        vector_bytes: of a vector register.
        check: raises EmitError where statements have no vectors in the printer's language.
        texts: whether intrinsics become their text, and not the loops that they stand for.
    """
    return func.with_body(_Vectors(vector_bytes, check, texts).statements(func.body))


class _Vectors:
    def __init__(self, vector_bytes: int, check: Check, texts: bool) -> None:
        self.vector_bytes, self.check, self.texts = vector_bytes, check, texts

    def statements(self, body: Sequence[Statement]) -> Body:
        """Statements outside of vectors."""
        return tuple([self.statement(s) for s in body])

    def statement(self, s: Statement) -> Statement:
        if isinstance(s, If):
            return If(s.condition, self.statements(s.body))
        if not isinstance(s, For) or self.is_text(s):
            return s
        if s.kind == "vectorize":
            try:
                return self.vector_loop(s)
            except EmitError:
                s = For(s.var, s.body, "serial")
        if s.kind == "unroll" and s.extent.op == "const":
            return Unrolled(s, tuple([self.statements(one) for one in _rounds(s)]))
        return replace(s, body=self.statements(s.body))

    def is_text(self, s: For) -> bool:
        """Whether a loop is printed as the text of an intrinsic."""
        return self.texts and isinstance(s.kind, Intrinsic)

    def vector_loop(self, s: For) -> VectorLoop:
        """The loop as vectors.

        Raises:
            EmitError: it has no vector form.
        """
        if any(isinstance(x, For) and self.is_text(x) for x in walk(s.body)):
            raise EmitError(f"an intrinsic below a vectorized loop: {s.name}")
        lanes, extent = lanes_of(s.body, self.vector_bytes), s.extent
        reductions = _lane_reductions(s)
        var = renewed(s.var, name=f"{s.name}_lane")
        body = _without_unrolled(in_statements(s.body, {s.var: var}))
        if extent.op == "const" and extent.attr <= lanes * MOST_UNROLLED_VECTORS and not reductions:
            inside = _few_vectors(s, var, body, lanes)
        else:
            inside = _strips(s, var, body, lanes, reductions)
        bodies = {id(v.body): v for v in walk(inside) if isinstance(v, Vector)}
        for v in list(bodies.values()):
            self.check(v.body, v.lanes)
        return VectorLoop(s, tuple(_uniform(s)), inside)


def _rounds(s: For) -> list[Body]:
    """The body in each round of a loop of constant extent."""
    low = s.var.attr.low
    return [in_statements(s.body, {s.var: const(low + i)}) for i in range(s.extent.attr)]


def _without_unrolled(body: Sequence[Statement]) -> Body:
    """Statements of a vector, whose loops stay loops."""
    out: list[Statement] = []
    for s in body:
        if isinstance(s, For) and s.kind == "unroll" and s.extent.op == "const":
            out.append(Unrolled(s, tuple([_without_unrolled(one) for one in _rounds(s)])))
        elif isinstance(s, (For, If)):
            out.append(replace(s, body=_without_unrolled(s.body)))
        else:
            out.append(s)
    return tuple(out)


def _few_vectors(s: For, var: Expr, body: Body, lanes: int) -> Body:
    """A vector after the other; the last may have fewer lanes."""
    low, end = s.var.attr.low, s.var.attr.low + s.extent.attr
    out = []
    for first in range(low, end, lanes):
        count = const(end - first) if end - first < lanes else None
        out.append(Vector(Lanes(var, const(first), lanes, count), body))
    return tuple(out)


def _strips(s: For, var: Expr, body: Body, lanes: int, reductions: dict[Element, Store]) -> Body:
    """Whole vectors, several at a time where something is added up, then the rest."""
    extent = s.extent
    number = extent.attr if extent.op == "const" else None
    many = _accumulators(extent, lanes) if reductions else 1
    partial = [
        {e: _partial_results(r, lanes, k) for e, r in reductions.items()} for k in range(many)
    ]
    bodies = [_added_up(body, into, None) for into in partial]
    begin = [
        _of_all_lanes(Assign(partial[k][e], identity_values(r.reducer, r.targets)), lanes)
        for e, r in reductions.items()
        if r.reducer is not None
        for k in range(many)
    ]
    parts: list[Statement] = []
    for step in dict.fromkeys((many, 1)):
        if many > step and number is not None and number % (lanes * many) < lanes:
            continue  # no whole vector is left
        vectors = [Vector(Lanes(var, s.var + k * lanes, lanes), bodies[k]) for k in range(step)]
        parts.append(Strip(s.var, lanes * step, tuple(vectors)))
    if number is None or number % lanes:
        left = index_register("n")
        some = _added_up(body, partial[0], left)
        parts.append(Rest(s.var, left, (Vector(Lanes(var, s.var, lanes, left), some),)))
    end = [
        x
        for e, r in reductions.items()
        for x in _combined(r, [partial[k][e] for k in range(many)], lanes)
    ]
    return (*begin, Strips(s, tuple(parts)), *end)


def _accumulators(extent: Expr, lanes: int) -> int:
    """Vectors of partial results of a reduction over lanes."""
    return 1 if extent.op == "const" and extent.attr < 4 * lanes else _ACCUMULATORS


def _partial_results(r: Store, lanes: int, number: int) -> Registers:
    """New registers for a vector of partial results."""
    assert r.reducer is not None
    identities = identity_values(r.reducer, r.targets)
    return tuple([register("acc", x.dtype, lanes, number, changes=True) for x in identities])


def _added_up(body: Body, into: dict[Element, Registers], left: Expr | None) -> Body:
    """The body with its reductions over lanes going into registers; lanes that are off add none."""
    if not into:
        return body
    out: list[Statement] = []
    for s in body:
        if isinstance(s, Unrolled):
            out.append(replace(s, rounds=tuple([_added_up(x, into, left) for x in s.rounds])))
        elif isinstance(s, (For, If)):
            out.append(replace(s, body=_added_up(s.body, into, left)))
        elif isinstance(s, Store) and element_of(s) in into:
            assert s.reducer is not None
            targets, values = into[element_of(s)], s.values
            if left is not None:
                pairs = zip(values, identity_values(s.reducer, s.targets), strict=True)
                on = lane_mask(left)
                values = tuple([make("select", (on, v, i), v.dtype) for v, i in pairs])
            out.append(Assign(targets, s.reducer.combine(targets, values)))
        else:
            out.append(s)
    return tuple(out)


def _combined(r: Store, parts: Sequence[Registers], lanes: int) -> Iterator[Statement]:
    """Combine vectors of partial results, then their lanes, then what the target holds."""
    assert r.reducer is not None
    first = parts[0]
    for other in parts[1:]:
        yield _of_all_lanes(Assign(first, r.reducer.combine(first, other)), lanes)
    while lanes > 1:  # halves, so that all lanes are combined in log2(lanes) steps
        lanes //= 2
        low, high = (tuple([register("h", x.dtype, lanes, k) for x in first]) for k in range(2))
        for which, names in enumerate((low, high)):
            yield _of_all_lanes(Assign(names, tuple([half(x, which) for x in first])), lanes)
        yield _of_all_lanes(Assign(low, r.reducer.combine(low, high)), lanes)
        first = low
    yield Store(r.block, r.targets, r.index, first, r.reducer)


def _of_all_lanes(s: Assign, lanes: int) -> Statement:
    """The assignment in each lane of a vector."""
    return Vector(Lanes(_NO_LANE, const(0), lanes), (s,)) if lanes > 1 else s


# -- what has a vector form -----------------------------------------------------------------------


def lanes_of(body: Sequence[Statement], vector_bytes: int) -> int:
    """Number of lanes: as many as the widest element has in a register."""
    widest = 1
    for s in stores(body):
        widest = max([widest, *[VALUE_BYTES[t.dtype] for t in s.targets]])
        for v in s.values:
            for e in subexpressions(v):
                if e.dtype != INDEX or e.op == "load":
                    widest = max(widest, VALUE_BYTES[e.dtype])
            if v.dtype == INDEX:
                widest = 8
    return vector_bytes // widest


def _lane_reductions(loop: For) -> dict[Element, Store]:
    """The elements that all lanes of a vectorized loop add to, and the first store to each.

    Raises:
        EmitError: the loop has no vector form.
    """
    lanes, varying = Lanes(loop.var, loop.var, 1), Varying()
    inner = {s.var for s in walk(loop.body) if isinstance(s, For)}
    reductions: dict[Element, Store] = {}
    for s in walk(loop.body):
        if isinstance(s, If) and varying.varies(s.condition, lanes):
            raise EmitError(f"a condition on the lanes of a vector: {s.condition}")
        if isinstance(s, For) and varying.varies(s.extent, lanes):
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
            raise EmitError(f"all lanes of {loop.name} store to one element of {s.targets[0].name}")
    return reductions


def _uniform(loop: For) -> Iterator[Expr]:
    """The values that are the same in all lanes and rounds, operands first."""
    stored = {t for s in stores(loop.body) for t in s.targets}
    inner = {x.var for x in walk(loop.body) if isinstance(x, For)} | {loop.var}
    for s in loop.body:
        for v in s.values if isinstance(s, Store) else ():
            changing = containing(
                [expanded(v)],
                lambda x: x in inner or (x.op == "load" and (x.attr in stored or not is_inside(x))),
            )
            for x in subexpressions(expanded(v)):
                known = x.op in ("const", "var") or x.dtype == INDEX
                if not known and x not in changing:
                    yield x
