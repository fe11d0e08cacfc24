"""Step 3 of `build`: the order in which the nodes run, and which of them run twice.

    compiled -> updates last -> order                       within the budget, or there is none
                             -> order -> rematerialize -> order

A budget counts the bytes of the arena, so it is the plan that decides, not what the pass finds to
be alive at a time: alignment, placement and late gradients may take more.  The pass is then asked
for as much less, and again.  Updates stay the last nodes (`updates.py`), no pass sees them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

from byparts_graph_ir import Graph, GraphError, Node, Stage, Value, add_note
from byparts_graph_ir.lazy_dataclass import replace
from byparts_graph_ir.pipeline import returned_graph
from byparts_runtime.building.compile import Compiled, past_barrier
from byparts_runtime.building.discover import Parts
from byparts_runtime.building.options import BuildOptions
from byparts_runtime.building.place import Schedule, plan_of
from byparts_runtime.building.updates import Donations, updates_last
from byparts_runtime.inspect.costs import Cost, flops

_MOST_TRIES = 6  # to meet a budget; most do at the first, or at the second


def schedule(compiled: Compiled, parts: Parts, options: BuildOptions) -> Schedule:
    """Put the nodes of a compiled graph in order, within a budget if there is one.

    Raises:
        GraphError: the budget cannot be met; of the pass, or of the tries to meet it.
    """
    graph, donate, updates = compiled.graph, Donations(), 0
    if options.commit == "auto" and compiled.signature.updates:
        graph, donate, updates = updates_last(graph, compiled.signature, compiled.kernels)
    first = Schedule(compiled, graph, updates, donate, compiled.stages)
    work = _Scheduling(parts, options, updates)
    plain = work.ordered(first)
    return work.within(plain) if options.is_limited else plain


class _Scheduling:
    def __init__(self, parts: Parts, options: BuildOptions, updates: int) -> None:
        self.parts, self.options, self.updates = parts, options, updates
        self.cost: Cost = options.costs or flops

    def ordered(self, schedule: Schedule) -> Schedule:
        """The schedule with its nodes in a better order, where there is a pass for it."""
        if self.parts.order is None:
            return schedule
        start, graph = perf_counter(), self._changed(schedule, self.parts.order)
        stage = Stage("order", graph, perf_counter() - start)
        return replace(schedule, graph=graph, stages=(*schedule.stages, stage))

    def planned(self, schedule: Schedule) -> Schedule:
        """The schedule with its plan, whose arena a budget is about."""
        return replace(schedule, plan=plan_of(schedule, self.parts, self.options))

    def within(self, schedule: Schedule) -> Schedule:
        """Of a plain schedule, what the budget asks for: itself if that will do."""
        options, plain = self.options, self.planned(schedule)
        most, before = options.budget_bytes, plain.arena_bytes
        if most is None:
            found = self._recomputed(plain, {"max_extra_cost": options.max_extra_cost})
            return found if found.arena_bytes < before else _kept(plain, "nothing to gain")
        if before <= most:
            return _kept(plain, f"not needed: the arena is {before:,} of {most:,} bytes")
        target = most
        for _ in range(_MOST_TRIES):
            found = self._recomputed(plain, {"budget_bytes": target})
            over = found.arena_bytes - most
            if over <= 0:
                return found
            target = max(0, target - over)
        raise GraphError(
            f"the arena is to have at most {most:,} bytes and {found.arena_bytes:,} are the "
            f"fewest found in {_MOST_TRIES} tries, {before:,} without computing anything again"
        )

    def _recomputed(self, plain: Schedule, limit: dict[str, Any]) -> Schedule:
        """The plain schedule with values computed again, ordered and planned."""
        start, rematerialize = perf_counter(), self.parts.rematerialize
        assert rematerialize is not None, "a limit asks for the pass"
        change = partial(rematerialize, **limit, cost=self.cost, barriers=False)
        try:
            graph = self._changed(plain, change)
        except Exception as error:
            add_note(error, self._purpose(limit, plain))
            best = getattr(error, "graph", None)  # of a pass that says how far it came
            if isinstance(best, Graph):
                add_note(error, self._reached(plain, best))
            raise
        stage = Stage("rematerialize", graph, perf_counter() - start)
        found = replace(plain, graph=graph, stages=(*plain.stages, stage))
        found = self.planned(self.ordered(found))
        more = _extra(self.cost, plain.graph, graph)
        bytes_ = f"arena {plain.arena_bytes:,} -> {found.arena_bytes:,} bytes"
        noted = replace(stage, note=f"{bytes_}, {more:.1%} more work")
        return replace(found, stages=tuple(noted if s is stage else s for s in found.stages))

    def _reached(self, plain: Schedule, best: Graph) -> str:
        """What may be asked for: the arena of the best that the pass has found."""
        best = best.rewrite(past_barrier)
        graph = self._body_changed(plain.graph, lambda _: best)
        arena = self.planned(self.ordered(replace(plain, graph=graph))).arena_bytes
        ends = {v: v.type.size_bytes for v in best.outputs if v.node is not None}
        return (
            f"the smallest arena found has {arena:,} bytes: budget_bytes={arena}; what is kept to "
            f"the end, results and new values of variables, takes {sum(ends.values()):,} of them"
        )

    def _purpose(self, limit: dict[str, Any], plain: Schedule) -> str:
        """What the pass was called for."""
        most, target = self.options.budget_bytes, limit.get("budget_bytes")
        if most is None or target is None:
            return f"for max_extra_cost={self.options.max_extra_cost}; nothing has changed"
        asked = "" if target == most else f", so that at most {target:,} may be alive at a time"
        plan = f"without computing anything again it is {plain.arena_bytes:,}"
        return f"for an arena of at most {most:,} bytes{asked}; {plan}; nothing has changed"

    def _changed(self, schedule: Schedule, change: Callable[..., Graph]) -> Graph:
        """The graph of a schedule after a pass that knows what is outside the arena."""
        compiled = schedule.compiled
        known = {"external": compiled.signature.outside, "kernels": compiled.kernels}
        return self._body_changed(schedule.graph, partial(change, **known))

    def _body_changed(self, graph: Graph, change: Callable[[Graph], Graph]) -> Graph:
        """The graph whose nodes `change` has made anew, but for the updates at its end."""
        first = len(graph.nodes) - self.updates
        body, tail = graph.nodes[:first], graph.nodes[first:]
        made = {v for n in tail for v in n.outputs}
        read = (*graph.outputs, *(v for n in tail for v in n.inputs))
        needed = tuple(dict.fromkeys(v for v in read if v not in made))
        found = returned_graph(change(Graph(graph.inputs, body, needed)), change)
        if len(found.outputs) != len(needed):
            raise GraphError(
                f"{_name(change)} returned a graph of {len(found.outputs)} outputs for one of "
                f"{len(needed)}; a pass keeps the inputs and outputs"
            )
        env = dict(zip(needed, found.outputs, strict=True))
        nodes = (*found.nodes, *(_again(node, env) for node in tail))
        return Graph(graph.inputs, nodes, tuple(env[v] for v in graph.outputs))


def _name(change: Any) -> str:
    while isinstance(change, partial):
        change = change.func
    return str(getattr(change, "__name__", type(change).__name__))


def _again(old: Node, env: dict[Value, Value]) -> Node:
    """The node on the values that its inputs are now."""
    inputs = tuple([env[v] for v in old.inputs])
    node = old if inputs == old.inputs else Node(old.op, inputs, old.where)
    env.update(zip(old.outputs, node.outputs, strict=True))
    return node


def _kept(plain: Schedule, note: str) -> Schedule:
    return replace(plain, stages=(*plain.stages, Stage("rematerialize", plain.graph, 0.0, note)))


def _extra(cost: Cost, before: Graph, after: Graph) -> float:
    """How much more work, as a fraction."""
    old, new = (sum(map(cost, graph.nodes)) for graph in (before, after))
    return new / old - 1 if old else 0.0
