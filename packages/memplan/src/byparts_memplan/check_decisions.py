"""Do a plan's decisions say all that was shared, and nothing else?

Who lies in bytes of another got there by decisions that were taken, one for each value but the
first: a tree in each buffer, and in each donated input.  Every chance that an op or a kernel offers
is decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from byparts_graph_ir import Graph
from byparts_memplan.buffer import PlanError
from byparts_memplan.lifetimes import Decision
from byparts_memplan.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.kernel_facts import Pairs

Home = tuple[str, int]  # ("buffer" or "input", which)
Chance = tuple[str, int, int, int]  # kind, step, source, target


def check_decisions(
    graph: Graph, plan: Plan, buffers: Mapping[int, int], inplace: Sequence[Pairs]
) -> None:
    """Raise PlanError unless decisions and places agree; `buffers` are by value id.

    `inplace` are the pairs (input, output) of each step that may be the same bytes.

    O(values + decisions).
    """
    homes = {
        v: ("buffer", buffers.get(v, -1)) if at.root is None else ("input", at.root)
        for v, at in enumerate(plan.locations)
    }
    for d in plan.decisions:
        if not 0 <= min(d.source, d.target) <= max(d.source, d.target) < len(graph.values):
            raise PlanError(f"{_name(d)}: there is no %{d.source} or no %{d.target}")
    _check_taken(plan, homes)
    _check_chances(graph, plan, homes, dict(_offered(graph, inplace)))
    _check_donated(graph, plan)


def _check_taken(plan: Plan, homes: Mapping[int, Home]) -> None:
    """Check that decisions join all values that lie in the same bytes, each of them once."""
    joined: dict[int, int] = {}  # value -> another that it was joined to
    seen: set[tuple[int, int]] = set()  # a step may read the bytes through several inputs

    def first(v: int) -> int:
        while v in joined:
            joined[v] = joined.get(joined[v], joined[v])  # half as far next time
            v = joined[v]
        return v

    for d in plan.decisions:
        if not d.taken:
            continue
        if homes[d.source] != homes[d.target]:
            raise PlanError(f"{_name(d)}: %{d.target} does not lie in bytes of %{d.source}")
        ends = {first(d.source), first(d.target)}
        if len(ends) == 1 and (d.step, d.target) not in seen:
            raise PlanError(f"{_name(d)}: %{d.target} lies in bytes of %{d.source} already")
        seen.add((d.step, d.target))
        if len(ends) == 2:
            joined[max(ends)] = min(ends)
    owner: dict[Home, int] = {}
    for v, home in homes.items():
        if first(v) != first(owner.setdefault(home, v)):
            raise PlanError(f"%{v} lies in bytes of others, and no decision says so")


def _check_chances(
    graph: Graph, plan: Plan, homes: Mapping[int, Home], offered: Mapping[Chance, int]
) -> None:
    """Check that each decision is on a chance that is offered, and each chance is decided."""
    decided: set[Chance] = set()
    for d in plan.decisions:
        chance = d.kind, d.step, d.source, d.target
        if chance in decided:
            raise PlanError(f"{_name(d)} is decided twice for %{d.target} in bytes of %{d.source}")
        if chance not in offered and d.kind != "donation":
            raise PlanError(f"{_name(d)}: no op lets %{d.target} lie in bytes of %{d.source}")
        here, there = plan.locations[d.target].offset, plan.locations[d.source].offset
        if d.taken and here != there + offered.get(chance, 0):
            raise PlanError(f"{_name(d)}: %{d.target} lies at {here}, and %{d.source} at {there}")
        decided.add(chance)
    for chance in offered:
        kind, step, x, y = chance
        donated = homes[x][0] == "input" and homes[x] == homes[y]  # both are in those bytes
        empty = kind == "in place" and not graph.values[y].type.size_bytes
        if chance not in decided and not donated and not empty:
            raise PlanError(f"{kind} at step {step}: nothing is decided on %{y} in bytes of %{x}")


def _offered(graph: Graph, inplace: Sequence[Pairs]) -> Iterator[tuple[Chance, int]]:
    """The chances that ops and kernels offer, with the first byte of the target in the source."""
    ids = graph.ids
    for step, node in enumerate(graph.nodes):
        for p, o, offset in node.op.views(*[v.type for v in node.inputs]):
            yield ("view", step, ids[node.inputs[p]], ids[node.outputs[o]]), offset
        for p, o in inplace[step]:
            if p < len(node.inputs) and o < len(node.outputs):
                yield ("in place", step, ids[node.inputs[p]], ids[node.outputs[o]]), 0


def _check_donated(graph: Graph, plan: Plan) -> None:
    """Check that the donations taken are those of the plan, and the others could be asked for."""
    outputs = [graph.ids[v] for v in graph.outputs]
    steps = {graph.ids[v]: step for step, n in enumerate(graph.nodes) for v in n.outputs}
    decided = [d for d in plan.decisions if d.kind == "donation"]
    for d in decided:
        if d.source not in plan.external or d.target not in outputs:
            raise PlanError(f"{_name(d)}: %{d.target} is no output, or %{d.source} not external")
        if d.step != steps.get(d.target, 0):
            raise PlanError(f"{_name(d)}: %{d.target} is made at step {steps.get(d.target, 0)}")
    taken = sorted([(d.source, d.target) for d in decided if d.taken])
    if taken != [(k, outputs[j]) for k, j in plan.donated]:
        raise PlanError(f"donated are {plan.donated}, and decided on (input, value) {taken}")


def _name(d: Decision) -> str:
    return f"{d.kind} at step {d.step}"
