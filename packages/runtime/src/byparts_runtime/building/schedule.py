"""Step 3 of `build`: the order in which the nodes run, and which of them run twice.

    compiled -> updates last -> order                       without a budget, or within it
                             -> order -> rematerialize -> order

A budget is about the arena of the plan, which may be larger than what the pass counts as alive at
a time: alignment, placement and late gradients take more.  If it is, the pass is called again with
a budget that is smaller by the difference.  Updates stay the last nodes (`updates.py`), unseen by
the passes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any, Optional

from byparts_graph_ir import Graph, GraphError, Node, Stage, Value, add_note
from byparts_graph_ir.model.frozen import Frozen, replace
from byparts_runtime.building.compile import Compiled, past_barrier
from byparts_runtime.building.discover import Parts
from byparts_runtime.building.lower import kept
from byparts_runtime.building.options import BuildOptions
from byparts_runtime.building.planning import planned
from byparts_runtime.building.updates import Donations, updates_last
from byparts_runtime.inspect.costs import Cost, flops
from byparts_runtime.memory.plan import Plan

_MAX_TRIES = 6  # to meet a budget; most graphs need one or two


class Schedule(Frozen):
    """The result of step 3: a compiled graph with its nodes in the order in which they run.

    Attributes:
        graph: the nodes in order, some of them twice where there is a budget.
        updates: how many nodes at its end write variables, or are computed just before those.
        donate: position of a variable among the inputs -> that of the new value among the outputs
            that may be written over it.
        stages: how the graph came about.
        plan: where there is a budget: the plan that meets it.
    """

    compiled: Compiled
    graph: Graph
    updates: int
    donate: Donations
    stages: tuple[Stage, ...]
    plan: Optional[Plan] = None

    @property
    def arena_bytes(self) -> int:
        """The size of the arena of the plan."""
        assert self.plan is not None, "a budget is about a plan"
        return self.plan.arena_bytes

    def __str__(self) -> str:
        updates = f", the last {self.updates} write variables" if self.updates else ""
        return f"scheduled  {len(self.graph.nodes)} nodes{updates}"


def schedule(compiled: Compiled, parts: Parts, options: BuildOptions) -> Schedule:
    """Put the nodes of a compiled graph in order, within a budget if there is one.

    Raises:
        GraphError: the budget cannot be met.
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
        known = schedule.graph, schedule.donate, schedule.compiled
        outside = schedule.compiled.signature.outside
        plan = planned(*known, self.parts, self.options, outside, schedule.updates)
        return replace(schedule, plan=plan)

    def within(self, schedule: Schedule) -> Schedule:
        """A schedule within the limit: the given one, if that is within it."""
        options, plain = self.options, self.planned(schedule)
        most, before = options.budget_bytes, plain.arena_bytes
        if most is None:
            smaller = self._recomputed(plain, {"max_extra_cost": options.max_extra_cost})
            return smaller if smaller.arena_bytes < before else _kept(plain, "nothing to gain")
        if before <= most:
            return _kept(plain, f"not needed: the arena is {before:,} of {most:,} bytes")
        target = most
        for _ in range(_MAX_TRIES):
            smaller = self._recomputed(plain, {"budget_bytes": target})
            over = smaller.arena_bytes - most
            if over <= 0:
                return smaller
            target = max(0, target - over)
        raise GraphError(
            f"the arena is to have at most {most:,} bytes and {smaller.arena_bytes:,} are the "
            f"fewest found in {_MAX_TRIES} tries, {before:,} without computing anything again"
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
        smaller = replace(plain, graph=graph, stages=(*plain.stages, stage))
        smaller = self.planned(self.ordered(smaller))
        more = _extra(self.cost, plain.graph, graph)
        bytes_ = f"arena {plain.arena_bytes:,} -> {smaller.arena_bytes:,} bytes"
        noted = replace(stage, note=f"{bytes_}, {more:.1%} more work")
        return replace(smaller, stages=tuple(noted if s is stage else s for s in smaller.stages))

    def _reached(self, plain: Schedule, best: Graph) -> str:
        """A note with the budget that can be met: the arena of `best`, the pass's best graph."""
        best = best.rewrite(past_barrier)
        graph = self._before_updates(plain.graph, lambda _: best)
        arena = self.planned(self.ordered(replace(plain, graph=graph))).arena_bytes
        ends = {v: v.type.size_bytes for v in best.outputs if v.node is not None}
        return (
            f"the smallest arena found has {arena:,} bytes: budget_bytes={arena}; what is kept to "
            f"the end, results and new values of variables, takes {sum(ends.values()):,} of them"
        )

    def _purpose(self, limit: dict[str, Any], plain: Schedule) -> str:
        """A note that says which limit the pass was to meet."""
        most, target = self.options.budget_bytes, limit.get("budget_bytes")
        if most is None or target is None:
            return f"for max_extra_cost={self.options.max_extra_cost}; nothing has changed"
        asked = "" if target == most else f", so that at most {target:,} may be alive at a time"
        plan = f"without computing anything again it is {plain.arena_bytes:,}"
        return f"for an arena of at most {most:,} bytes{asked}; {plan}; nothing has changed"

    def _changed(self, schedule: Schedule, change: Callable[..., Graph]) -> Graph:
        """The graph of a schedule after a pass, which is told what is outside the arena."""
        compiled = schedule.compiled
        known = {"external": compiled.signature.outside, "kernels": compiled.kernels}
        return self._before_updates(schedule.graph, partial(change, **known))

    def _before_updates(self, graph: Graph, change: Callable[[Graph], Graph]) -> Graph:
        """The graph after a pass over all nodes but the updates at its end."""
        first = len(graph.nodes) - self.updates
        nodes, updates = graph.nodes[:first], graph.nodes[first:]
        late = {v for n in updates for v in n.outputs}
        read = (*graph.outputs, *(v for n in updates for v in n.inputs))
        needed = tuple(dict.fromkeys(v for v in read if v not in late))
        before = Graph(graph.inputs, nodes, needed)
        changed = kept(_name(change), change, before)
        if changed.inputs != graph.inputs:
            raise GraphError(f"pass {_name(change)}: made other inputs; keep those of the graph")
        env = dict(zip(needed, changed.outputs, strict=True))
        nodes = (*changed.nodes, *(_again(node, env) for node in updates))
        return Graph(graph.inputs, nodes, tuple(env[v] for v in graph.outputs))


def _name(change: Any) -> str:
    while isinstance(change, partial):
        change = change.func
    return str(getattr(change, "__name__", type(change).__name__))


def _again(old: Node, env: dict[Value, Value]) -> Node:
    """The node on the new values of its inputs; notes those of its outputs in `env`."""
    inputs = tuple([env[v] for v in old.inputs])
    node = old if inputs == old.inputs else Node(old.op, inputs, old.where)
    env.update(zip(old.outputs, node.outputs, strict=True))
    return node


def _kept(plain: Schedule, note: str) -> Schedule:
    return replace(plain, stages=(*plain.stages, Stage("rematerialize", plain.graph, 0.0, note)))


def _extra(cost: Cost, before: Graph, after: Graph) -> float:
    """The additional work, as a fraction of the work before."""
    old, new = (sum(map(cost, graph.nodes)) for graph in (before, after))
    return new / old - 1 if old else 0.0
