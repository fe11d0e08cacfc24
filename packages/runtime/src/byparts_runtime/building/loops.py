"""Compiles loops: a body for each round, and what it needs computed before the first one.

    workspace     [arena of one body at a time | values of one round | values for all rounds]
    persistent    [blocks of the kernels of the first body | of the second | ...]

The states of a loop live in the outputs of its node.  A new state is offered the bytes of the old
one ("donate"); what the planner declines is copied at the end of the round.  Invariants are read
where they are.  What depends on them alone is computed once, in the first round, where that takes
no more memory (but for a kilobyte) than to compute it in each round.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Optional

from byparts_graph_ir import Graph, Kernel, Loop, Op, ReversedLoop, TensorType, Types
from byparts_graph_ir.model.frozen import replace
from byparts_runtime.building.body import ALIGNMENT, Body, LoopBody
from byparts_runtime.building.invariants import invariant_values, smallest, split
from byparts_runtime.memory.plan import padded
from byparts_runtime.run.bodies import BOOL
from byparts_runtime.run.loops import CompiledLoop, CompiledReversedLoop, row_type

if TYPE_CHECKING:
    from byparts_runtime.building.bodies import Bodies
    from byparts_runtime.building.kernels import NodeKernel

# Rows of this size and more are not copied (times the number of steps that are bound to them).
# Measured with NumPy, a round of x + row: for 1 MiB 70 us with a copy, 39 us without, for 256 KiB
# 14.0 and 11.2 us, for 128 KiB 8.1 and 8.2 us: a small row is still in the cache when the kernel
# reads the copy.  To bind a step to a row takes 10 us, once.
_ROW_BYTES = 1 << 18
_SMALL_BYTES = 1024  # that a loop may take more, so that small values are computed once
_MOST_TRIES = 3  # to compute values once in no more memory; each compiles the body


def loop_kernel(
    bodies: Bodies, op: Op, types: Types, loop: Loop, constants: Collection[int]
) -> tuple[Kernel, tuple[Body, ...]]:
    """The kernel of an op that runs a loop, and the bodies; as `Bodies.compiled`."""
    s, q = loop.states, loop.states + loop.sequences
    compiler = _LoopBodies(bodies, [i for i in constants if i >= q])
    wanted = (*types[:s], *map(row_type, op.infer(*types)[s:]))
    cond = compiler.cond(op, loop)
    able = bodies.parts.space.name == "host" and loop.rounds != 0  # or there is no row 0
    results = [j for j in range(s, len(wanted)) if able and _is_large(wanted[j], 1)]
    body = compiler.body(f"body of {op.name}", loop.body, q, wanted, s, results)
    body = replace(body, moving=_moving(body.each, range(s, q)) if able else ())
    compiled = (body,) if cond is None else (body, cond)
    starts, workspace_bytes = _layout(compiled, [t for _, t in body.slots(s, q)])
    whole = CompiledLoop(loop, body, cond, types, starts, bodies.parts)
    inplace = tuple([(i, i) for i in range(s)])
    kept_bytes = sum(b.persistent_bytes for b in compiled)
    return Kernel(whole.bind, workspace_bytes, kept_bytes, inplace), _all(compiled)


def reversed_loop_kernel(
    bodies: Bodies, op: Op, types: Types, control: ReversedLoop, constants: Collection[int]
) -> tuple[Kernel, tuple[Body, ...]]:
    """The kernel of an op that runs a loop and then its reverse, and the bodies."""
    loop, carried, kept = control.loop, len(control.back.outputs), len(control.kept)
    s, first = loop.states, loop.states + carried
    compiler = _LoopBodies(bodies, [i - carried for i in constants if i >= first])
    cond = compiler.cond(op, loop)
    assert cond is not None, "its number of rounds depends on data"
    body = compiler.body(f"body of {op.name}", loop.body, s, types[:s], s)
    compiler.fixed = [i - s + carried + kept for i in compiler.fixed]
    name, results = f"back of {op.name}", types[s:first]
    back = compiler.body(name, control.back, carried + kept, results, carried)
    compiled = (body, cond, back)
    states_and_kept = (*types[:s], *[types[i] for i in control.kept])
    starts, workspace_bytes = _layout(compiled, states_and_kept)
    limit = bodies.options.max_stack_bytes
    known = control, compiled, types, starts
    whole = CompiledReversedLoop(*known, op.name, limit, bodies.parts)
    inplace = tuple([(s + i, i) for i in range(carried)])
    kept_bytes = sum(b.persistent_bytes for b in compiled)
    return Kernel(whole.bind, workspace_bytes, kept_bytes, inplace), _all(compiled)


class _LoopBodies:
    """Compiles the bodies of one loop.

    Attributes:
        fixed: positions of inputs of the next body that are the same at each run of the program.
        arena_bytes: the largest arena of a body so far.
    """

    def __init__(self, bodies: Bodies, fixed: Sequence[int]) -> None:
        self.bodies, self.fixed, self.arena_bytes = bodies, fixed, 0

    def cond(self, op: Op, loop: Loop) -> Optional[LoopBody]:
        """The condition, where there is one."""
        if loop.cond is None:
            return None
        return self.body(f"cond of {op.name}", loop.cond, loop.states, (BOOL,), 0)

    def body(
        self,
        name: str,
        graph: Graph,
        first: int,
        wanted: Sequence[TensorType],
        states: int,
        results: Sequence[int] = (),
    ) -> LoopBody:
        """A body; values of its invariants are taken out if that needs no more memory.

        Args:
            name: in messages.
            graph: of static types.
            first: position of its first invariant.
            wanted: the types that its outputs must have.
            states: how many of its outputs are new states.
            results: outputs that are offered bytes outside the arena.
        """
        compiled, fixed = self.bodies.body, self.fixed
        fixed_once = [i - first for i in fixed]
        facts: dict[str, Any] = {"states": states, "results": results}
        best = LoopBody(states, compiled(name, graph, wanted, fixed, **facts))
        most_bytes = best.needed_bytes(self.arena_bytes) + _SMALL_BYTES
        values = invariant_values(graph, first)
        for _ in range(_MOST_TRIES):
            if not values:
                break
            once_graph, each_graph = split(graph, first, values)
            types = [v.type for v in values]
            once = compiled(
                f"once before {name}", once_graph, types, fixed_once, results=range(len(types))
            )
            each = compiled(name, each_graph, wanted, fixed, **facts)
            tried = LoopBody(states, each, once)
            over = tried.needed_bytes(self.arena_bytes) - most_bytes
            if over <= 0:
                best = tried
                break
            values = smallest(values, sum(t.size_bytes for t in types) - over)
        self.arena_bytes = max(self.arena_bytes, best.arena_bytes)
        return best


def _all(bodies: Sequence[LoopBody]) -> tuple[Body, ...]:
    """The bodies in the order in which they are bound: of each what runs once, then the rounds."""
    pairs = [(body.once, body.each) for body in bodies]
    return tuple([body for pair in pairs for body in pair if body is not None])


def _moving(body: Body, slices: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """The slices and the results of a body that its kernels are bound to where they are."""
    loaded, results = body.loaded, body.offered
    graph, at = loaded.graph, loaded.plan.locations
    touched: dict[int, list[NodeKernel]] = {i: [] for i in (*slices, *results)}
    for node in graph.nodes:
        for root in {at[graph.ids[v]].root for v in (*node.inputs, *node.outputs)}:
            if root is not None and root in touched:
                touched[root].append(loaded.kernels(node))
    read = {place.root for place in body.places} - set(results)  # and copied: they stay
    plain = {b.name for b in loaded.parts.backends}
    return tuple(
        (i, graph.inputs[i].type.size_bytes)
        for i, node_kernels in touched.items()
        if i not in read
        and _is_large(graph.inputs[i].type, len(node_kernels))
        and all(c.backend.name in plain and not c.kernel.persistent_bytes for c in node_kernels)
    )


def _is_large(row: TensorType, steps: int) -> bool:
    """Whether to bind so many steps to each row costs less than to copy the row."""
    return row.size_bytes >= _ROW_BYTES * max(1, steps) and row.size_bytes % ALIGNMENT == 0


def _layout(bodies: Sequence[LoopBody], types: Iterable[TensorType]) -> tuple[tuple[int, ...], int]:
    """Offsets of values in a workspace behind the arena of the bodies; and its size.

    The values are those of `types`, then the spare ones of each body.
    """
    sizes = [t.size_bytes for t in (*types, *[t for body in bodies for t in body.spare])]
    starts = [0]
    for size in (max(body.arena_bytes for body in bodies), *sizes):
        starts.append(starts[-1] + padded(size, ALIGNMENT))
    return tuple(starts[1:-1]), starts[-1]
