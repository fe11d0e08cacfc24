"""The last stages before there is memory, and about nothing else: order, rematerialize, plan.

    lowered -> order -> plan                       where that is within the budget, or there is none
            -> order -> rematerialize -> order -> plan

A budget counts the bytes of the arena, so it is the plan that decides, not what the pass finds to
be alive at a time: alignment, placement and late gradients may take more.  The pass is then asked
for as much less, and again.  Updates stay the last nodes (`in_place.py`), no pass sees them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any, Optional

from byparts_graph_ir import Graph, GraphError, Node, Stage, Value, add_note
from byparts_graph_ir.lazy_dataclass import dataclass, replace
from byparts_graph_ir.pipeline import returned_graph
from byparts_runtime.costs import Cost, flops
from byparts_runtime.design import Design, with_seconds
from byparts_runtime.discover import (
    Order,
    Rematerialize,
    RematerializeArgument,
    find_rematerialize,
)
from byparts_runtime.plan import Plan, Planner, separate

_MOST_TRIES = 6  # to meet a budget; most do at the first, or at the second


@dataclass(frozen=True)
class Budget:
    """How many bytes the arena may take, or how much more work the program may be; not both.

    Attributes:
        cost: of running a node; the extra work is counted in it.
        rematerialize: the pass.
    """

    budget_bytes: Optional[int]
    max_extra_cost: Optional[float]
    cost: Cost
    rematerialize: Rematerialize


def budget_of(
    budget_bytes: Optional[int],
    max_extra_cost: Optional[float],
    costs: Optional[Cost],
    rematerialize: RematerializeArgument,
    planner: Planner,
) -> Optional[Budget]:
    """What `build` was asked for; `None` if nothing.

    Raises:
        GraphError: both limits are given, or one that is no size, or there is no planner.
        PartError: there is no pass to do it.
    """
    if budget_bytes is None and max_extra_cost is None:
        return None
    limits = f"budget_bytes={budget_bytes!r}, max_extra_cost={max_extra_cost!r}"
    if budget_bytes is not None and max_extra_cost is not None:
        raise GraphError(f"{limits}: one of them; the other is what comes out")
    if not (_is_size(budget_bytes, "__index__") and _is_size(max_extra_cost, "__float__")):
        raise GraphError(f"{limits}: bytes are an integer, work is a fraction; both at least 0")
    if planner is separate:
        from byparts_graph_ir.install import install_command  # only for a message

        how = f"{install_command('byparts-memplan')}, or planner=..."
        raise GraphError(f"{limits}: without a planner no two values share a byte; {how}")
    found = find_rematerialize(rematerialize)
    return Budget(budget_bytes, max_extra_cost, costs or flops, found)


def _is_size(given: Any, method: str) -> bool:
    """Whether it is a number of that kind, of 0 or more, or not given."""
    single = not getattr(given, "shape", ())  # an array of several is no number
    return given is None or (hasattr(given, method) and single and bool(given >= 0))


@dataclass(frozen=True)
class Arranged:
    """A design in its final order, its plan, and how it came about."""

    design: Design
    plan: Plan
    stages: tuple[Stage, ...] = ()


def arrange(
    design: Design, updates: int, order: Optional[Order], budget: Optional[Budget], exchange: bool
) -> Arranged:
    """Order and plan a design, within a budget if there is one.

    Args:
        design: its graph is the lowered one.
        updates: how many nodes at its end stay there.
        order: the pass, if there is one.
        budget: what is asked for, if anything.
        exchange: whether the commit is one, so that the planner is offered second memories.

    Raises:
        GraphError: the budget cannot be met; of the pass, or of the tries to meet it.
    """
    work = _Arranging(design, updates, order, exchange)
    plain = work.planned(design.graph, ())
    return plain if budget is None else work.within(budget, plain)


class _Arranging:
    def __init__(
        self, design: Design, updates: int, order: Optional[Order], exchange: bool
    ) -> None:
        self.design, self.updates, self.order, self.exchange = design, updates, order, exchange
        self.external = frozenset(range(design.feeds, len(design.graph.inputs)))

    def planned(self, graph: Graph, stages: tuple[Stage, ...]) -> Arranged:
        """The graph ordered, with its plan."""
        if self.order is not None:
            start = perf_counter()
            graph = self._body_changed(graph, partial(self.order, external=self.external))
            stages = (*stages, Stage("order", graph, perf_counter() - start))
        made = replace(self.design, graph=graph)
        made = with_seconds(made) if self.exchange else made
        return Arranged(made, made.plan(external_feeds=False), stages)

    def within(self, budget: Budget, plain: Arranged) -> Arranged:
        """Of the plain program, what the budget asks for: itself if that will do."""
        most, before = budget.budget_bytes, plain.plan.arena_bytes
        if most is None:
            found = self._recomputed(budget, plain, {"max_extra_cost": budget.max_extra_cost})
            return found if found.plan.arena_bytes < before else _kept(plain, "nothing to gain")
        if before <= most:
            return _kept(plain, f"not needed: the arena is {before:,} of {most:,} bytes")
        target = most
        for _ in range(_MOST_TRIES):
            found = self._recomputed(budget, plain, {"budget_bytes": target})
            over = found.plan.arena_bytes - most
            if over <= 0:
                return found
            target = max(0, target - over)
        raise GraphError(
            f"the arena is to have at most {most:,} bytes and {found.plan.arena_bytes:,} are the "
            f"fewest found in {_MOST_TRIES} tries, {before:,} without computing anything again"
        )

    def _recomputed(self, budget: Budget, plain: Arranged, limit: dict[str, Any]) -> Arranged:
        start, old = perf_counter(), plain.design.graph
        limit = {**limit, "external": self.external, "cost": budget.cost, "barriers": False}
        inputs = self.design.graph.inputs  # without second memories
        graph = Graph(inputs, old.nodes, old.outputs)
        try:
            graph = self._body_changed(graph, partial(budget.rematerialize, **limit))
        except Exception as error:
            add_note(error, _purpose(budget, limit, plain))
            best = getattr(error, "graph", None)  # of a pass that says how far it came
            if isinstance(best, Graph):
                add_note(error, self._reached(graph, best))
            raise
        stage = Stage("rematerialize", graph, perf_counter() - start)
        found = self.planned(graph, (*plain.stages, stage))
        before, after = plain.plan.arena_bytes, found.plan.arena_bytes
        more = _extra(budget.cost, old, graph)
        noted = replace(stage, note=f"arena {before:,} -> {after:,} bytes, {more:.1%} more work")
        return replace(found, stages=tuple(noted if s is stage else s for s in found.stages))

    def _reached(self, graph: Graph, best: Graph) -> str:
        """What may be asked for: the arena of the best that the pass has found."""
        arena = self.planned(self._body_changed(graph, lambda _: best), ()).plan.arena_bytes
        ends = {v: v.type.size_bytes for v in best.outputs if v.node is not None}
        return (
            f"the smallest arena found has {arena:,} bytes: budget_bytes={arena}; what is kept to "
            f"the end, results and new values of variables, takes {sum(ends.values()):,} of them"
        )

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
    change = getattr(change, "func", change)  # of a `partial`
    return str(getattr(change, "__name__", type(change).__name__))


def _again(old: Node, env: dict[Value, Value]) -> Node:
    """The node on the values that its inputs are now."""
    inputs = tuple([env[v] for v in old.inputs])
    node = old if inputs == old.inputs else Node(old.op, inputs, old.where)
    env.update(zip(old.outputs, node.outputs, strict=True))
    return node


def _kept(plain: Arranged, note: str) -> Arranged:
    stage = Stage("rematerialize", plain.design.graph, 0.0, note)
    return replace(plain, stages=(*plain.stages, stage))


def _extra(cost: Cost, before: Graph, after: Graph) -> float:
    """How much more work, as a fraction."""
    old, new = (sum(map(cost, graph.nodes)) for graph in (before, after))
    return new / old - 1 if old else 0.0


def _purpose(budget: Budget, limit: dict[str, Any], plain: Arranged) -> str:
    """What the pass was called for."""
    most, target = budget.budget_bytes, limit.get("budget_bytes")
    if most is None or target is None:
        return f"for max_extra_cost={budget.max_extra_cost}; nothing has changed"
    asked = "" if target == most else f", so that at most {target:,} may be alive at a time"
    plan = f"without computing anything again it is {plain.plan.arena_bytes:,}"
    return f"for an arena of at most {most:,} bytes{asked}; {plan}; nothing has changed"
