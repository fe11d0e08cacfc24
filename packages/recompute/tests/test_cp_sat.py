"""The solver: the optimum over all sequences, never worse than the rest, and honest about it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import combinations
from math import inf
from pathlib import Path
from random import Random

import pytest
from hypothesis import given as over, settings
from hypothesis.strategies import sampled_from
from planned_ops import Add, Cast, Copy, Like, Neg, Twins, given
from random_graphs import graphs_with_external
from random_kernels import random_kernels

from byparts_graph_ir import Graph, Value, verify
from byparts_memplan import PlanError, check_plan, peak_bytes, plan
from byparts_memplan.steps import Steps
from byparts_recompute import BudgetError, Recomputation, recomputation, rematerialize, strategies

BYTES = 4 * 64
State = tuple[frozenset[int], frozenset[int]]  # steps that have run, storages that are kept


@pytest.fixture
def solver() -> None:
    pytest.importorskip("ortools.sat.python.cp_model", reason="OR-tools: byparts-recompute[exact]")


def least_cost(steps: Steps, budget: int) -> float:
    """Of any sequence within the budget, in any order, however often a step runs: Dijkstra."""
    size, n = steps.size, len(steps.nodes)
    start = frozenset[int](), frozenset(steps.feeds)
    ends = [sum(size[v] for v in these) for these in (steps.feeds, steps.kept)]
    best: dict[State, float] = {start: 0.0}
    todo: list[tuple[float, list[int], list[int], State]] = [(0.0, [], [], start)]
    while todo and max(ends) <= budget:
        cost, _, _, state = heappop(todo)
        done, kept = state
        if len(done) == n and all(v in kept for v in steps.kept if size[v]):
            return cost
        if cost > best[state]:
            continue
        for more, after in moves(steps, state, budget):
            if cost + more < best.get(after, inf):
                best[after] = cost + more
                heappush(todo, (cost + more, sorted(after[0]), sorted(after[1]), after))
    return inf


def moves(steps: Steps, state: State, budget: int) -> Iterator[tuple[float, State]]:
    """Run a step and let go some of what it touches, or let go anything; and what that costs."""
    done, kept = state
    if done:
        yield from ((0.0, (done, kept - {v})) for v in kept)
    for s in range(len(steps.nodes)):
        reads = {v for v in steps.reads[s] if v in steps.feeds or v in steps.writer}
        early = s in done or steps_before(steps, s) <= done
        if not early or not reads <= kept or (s in done and not steps.again[s]):
            continue
        held = kept | frozenset(steps.writes[s])
        touched = sorted(reads | set(steps.writes[s]))
        for count in range(len(touched) + 1):
            for gone in map(frozenset, combinations(touched, count)):
                alive = sum(steps.size[v] for v in held)
                if alive - written_over(steps, s, gone & reads) <= budget:
                    yield steps.cost[s], (done | {s}, held - gone)


def steps_before(steps: Steps, s: int) -> frozenset[int]:
    """What a step takes comes before it, also what it does not read; and so do effects."""
    values, writer = steps.values, steps.writer
    taken = [values.root[v] for v in values.reads[steps.steps[s]]]
    effects = [t for t in range(s) if steps.nodes[t].op.effect and steps.nodes[s].op.effect]
    return frozenset([writer[v] for v in taken if v in writer] + effects)


def written_over(steps: Steps, s: int, gone: frozenset[int]) -> int:
    """Bytes of outputs that are written over inputs in `gone`."""
    taken: list[int] = []
    found = 0
    for w, candidates in steps.over[s]:
        free = [v for v in candidates if v in gone and v not in taken]
        taken += free[:1]
        found += steps.size[w] * bool(free)
    return found


def tiny(seed: int, count: int = 6) -> tuple[Graph, dict[str, float]]:
    """Copies, sums, two outputs, ignored inputs, other sizes; a cost for each op."""
    random, x = Random(seed), given(64)
    values: list[Value] = [x]
    for _ in range(count - 2):
        v = random.choice(values)
        w = random.choice([u for u in values if u.type == v.type])
        made = [Copy()(v), Neg()(v), Add()(v, w), Cast(random.choice(["f16", "f64"]))(v)]
        made += [*Twins().outputs_of(v, w), Like()(v, w)] if random.random() < 0.4 else []
        values.append(random.choice(made))
    early = random.choice(values[1:])
    late = random.choice([u for u in values if u.type == early.type])
    graph = Graph.of([x], [Add()(Copy()(late), early), random.choice(values)])
    return graph, {op: float(random.choice([0, 1, 2, 5])) for op in ("copy", "neg", "add", "twins")}


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("seed", range(30))
def test_tiny_graphs_get_the_optimum_of_all_sequences(seed: int) -> None:
    """Or the reason why there is none, proved."""
    (graph, costs), outside = tiny(seed), {0} if seed % 3 else set()
    kernels = random_kernels(seed, 8) if seed % 2 else None
    steps = Steps(
        graph, external=outside, cost=lambda node: costs.get(node.op.name, 1.5), kernels=kernels
    )
    budget = int((steps.peak_bytes() - 1) * Random(seed).choice([0.7, 0.8, 1.0]))
    expected = least_cost(steps, budget)
    if expected == inf:
        with pytest.raises(BudgetError, match="none can have less than") as caught:
            rematerialize(
                graph, budget, external=outside, strategy="exact", effort=0.5, kernels=kernels
            )
        assert caught.value.recomputation.floor_bytes > budget
        return
    made = recomputation(
        graph, budget, external=outside, strategy="exact", effort=0.5, kernels=kernels,
        cost=lambda node: costs.get(node.op.name, 1.5),
    )  # fmt: skip

    assert steps.total_cost(made.sequence) == pytest.approx(expected)
    assert made.optimal


def hourglass(depth: int) -> Graph:
    """A chain of copies, read again in reverse."""
    kept: list[Value] = [given(64)]
    for _ in range(depth):
        kept.append(Copy()(kept[-1]))
    y = Copy()(kept[-1])
    for v in reversed(kept[1:]):
        y = Add()(Copy()(y), v)
    return Graph.of([kept[0]], [y])


def there_and_back(seed: int, count: int) -> Graph:
    """What was computed on the way there is read on the way back."""
    random, x = Random(seed), given(64)
    values: list[Value] = [x]
    for _ in range(count):
        v = random.choice(values[-4:])
        w = random.choice([u for u in values if u.type == v.type])
        made = [Copy()(v), Neg()(v), Add()(v, w), Cast(random.choice(["f16", "f64", "f32"]))(v)]
        values.append(random.choice(made))
    y = Copy()(values[-1])
    for v in reversed(values[1:]):
        y = Add()(Cast(v.type.dtype)(Copy()(y)), v)
    return Graph.of([x], [y])


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize(("seed", "count"), [(0, 4), (1, 6), (2, 9), (3, 12), (4, 18)])
@pytest.mark.parametrize("part", [0.6, 0.85])
def test_it_is_never_worse_than_any_other(seed: int, count: int, part: float) -> None:
    graph = there_and_back(seed, count)
    budget = int(part * peak_bytes(graph, {0}))
    made = asked(graph, budget, "exact")
    after = verify(made.graph())

    check_plan(after, plan(after, external={0}))
    for strategy in {*strategies()} - {"exact"}:
        other = asked(graph, budget, strategy)
        if other.peak_bytes <= budget:
            assert made.peak_bytes <= budget
            assert made.extra_cost <= other.extra_cost


def asked(graph: Graph, budget: int, strategy: str) -> Recomputation:
    try:
        return recomputation(graph, budget, external={0}, strategy=strategy, effort=0.2)
    except BudgetError as error:
        return error.recomputation


@pytest.mark.usefixtures("solver")
def test_the_order_is_chosen_too() -> None:
    """Nothing need be computed again where the other branch goes first."""
    x = given(64)
    wide = Cast("f64")(x)
    narrow = Cast("f16")(Copy()(x))
    late = Cast("f16")(Copy()(wide))
    graph = Graph.of([x], [Add()(narrow, late)], order=[wide, narrow, late])
    budget = peak_bytes(graph, {0}) - 1
    made = recomputation(graph, budget, external={0}, strategy="exact")

    assert made.extra_cost == 0 and made.peak_bytes <= budget


@pytest.mark.usefixtures("solver")
def test_the_fewest_bytes_for_a_limit_of_cost_and_then_the_cheapest() -> None:
    graph = hourglass(4)
    made = recomputation(graph, max_extra_cost=0.3, external={0}, strategy="exact")
    again = recomputation(graph, made.peak_bytes, external={0}, strategy="exact")

    assert made.peak_bytes == 3 * BYTES
    assert made.extra_cost == again.extra_cost <= 0.3
    assert "no schedule that costs no more has a smaller peak" in made.proved


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("limit", [1e30, inf])
def test_any_cost_may_be_allowed(limit: float) -> None:
    made = recomputation(hourglass(3), max_extra_cost=limit, external={0}, strategy="exact")

    assert made.peak_bytes == 3 * BYTES


@pytest.mark.usefixtures("solver")
def test_a_budget_that_none_can_meet_says_that_it_is_proved() -> None:
    """Two values are what a step touches; three are needed, which only the solver knows."""
    with pytest.raises(BudgetError, match="none can have less than 768; proved: no schedule fits"):
        rematerialize(hourglass(2), 3 * BYTES - 1, external={0}, strategy="exact")


@pytest.mark.usefixtures("solver")
def test_the_same_arguments_give_the_same_answer() -> None:
    graph = there_and_back(5, 10)
    first, second = (asked(graph, int(0.7 * peak_bytes(graph, {0})), "exact") for _ in range(2))

    assert first.sequence == second.sequence


@pytest.mark.usefixtures("solver")
@settings(max_examples=10)
@over(graphs_with_external(), sampled_from([0.3, 0.9]))
def test_what_is_promised_is_kept(case: tuple[Graph, frozenset[int]], part: float) -> None:
    """Of any graph: effects once and in order, views, ignored inputs, several outputs."""
    graph, external = case
    made = recomputation(
        graph, max_extra_cost=part, external=external, strategy="exact", effort=0.1
    )
    after = verify(made.graph())

    assert [n.op for n in after.nodes if n.op.effect] == [n.op for n in graph.nodes if n.op.effect]
    assert made.extra_cost <= part + 1e-9
    assert made.floor_bytes <= made.peak_bytes
    assert peak_bytes(after, external) <= made.peak_bytes
    check_plan(after, plan(after, external=external, alignment=1))


def test_without_the_solver_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ortools.sat.python.cp_model", None)

    with pytest.raises(PlanError, match=r"OR-tools.*pip install ortools"):
        rematerialize(hourglass(3), 3 * BYTES, external={0}, strategy="exact")


def test_ctrl_c_is_still_an_exception_afterwards(solver: None) -> None:
    """The solver's own handler would end the process at the next one; hence in one of its own."""
    program = (
        "from signal import SIGINT, raise_signal\n"
        "from planned_ops import Add, Copy, given\n"
        "from byparts_graph_ir import Graph\n"
        "from byparts_recompute import rematerialize\n"
        "a = Copy()(given(64)); b = Copy()(a)\n"
        "graph = Graph.of([a.node.inputs[0]], [Add()(Add()(Copy()(Copy()(b)), a), b)])\n"
        "rematerialize(graph, max_extra_cost=1.0, strategy='exact')\n"
        "try:\n    raise_signal(SIGINT)\n"
        "except KeyboardInterrupt:\n    print('caught')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2] / "memplan" / "tests",  # where planned_ops is
    )

    assert (done.stdout, done.returncode) == ("caught\n", 0), done.stderr
