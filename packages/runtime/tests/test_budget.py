"""Building within a budget: what the pass is asked for, what is made of its answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from toy_backend import (
    TOY,
    add,
    build_by_hand,
    donating,
    fail,
    given,
    graph_of,
    mul,
    notes,
    product,
    raising,
)

from byparts_graph_ir import Graph, GraphError, Node, OptimizationBarrier, Value
from byparts_graph_ir.parts.hub import PartError, Parts
from byparts_runtime import Executor, Program, Store, Variable
from byparts_runtime.building import discover
from byparts_runtime.memory.plan import Separate, separate

ONE = np.ones(16, np.float32)
BYTES = 64  # of one value


class Pass:
    """Computes the first node again for its last reader, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.graphs: list[Graph] = []

    def __call__(self, graph: Graph, budget_bytes: int | None = None, **options: Any) -> Graph:
        self.asked.append({"budget_bytes": budget_bytes, **options})
        self.graphs.append(graph)
        first, *middle, last = graph.nodes
        again = Node(first.op, first.inputs, first.where)
        swap = dict(zip(first.outputs, again.outputs, strict=True))
        late = Node(last.op, tuple(swap.get(v, v) for v in last.inputs), last.where)
        swap |= dict(zip(last.outputs, late.outputs, strict=True))
        outputs = tuple(swap.get(v, v) for v in graph.outputs)
        return Graph(graph.inputs, (first, *middle, again, late), outputs)


def arenas(*sizes: int) -> Callable[..., Separate]:
    """A planner whose arenas are of these sizes, one after the other (they have room to spare)."""
    rest = list(sizes)

    def plan(graph: Graph, *, external: Any, alignment: int, **more: Any) -> Separate:
        return Separate(
            donating(graph, external=external, alignment=alignment, **more).locations, rest.pop(0)
        )

    return plan


def step(*, planner: Any, **options: Any) -> tuple[Program, Variable]:
    """a = x * x; fetches (a + a) + a; w' = w + a."""
    x, w = given("x", 16), given("w", 16)
    weight = Store().create("w", ONE)
    a = mul(x, x)
    graph = graph_of([x, w], add(add(a, a), a), add(w, a))
    options = {"variables": (weight,), "updates": (weight,), **options}
    return build_by_hand(graph, planner=planner, **options), weight


def stage(program: Program) -> str:
    (found,) = (s for s in program.stages if s.name == "rematerialize")
    return found.note


def test_the_pass_makes_the_program_that_runs() -> None:
    """It sees all but the update, and what lives outside; the update reads what it made."""
    again = Pass()
    program, weight = step(planner=arenas(1000, 900), budget_bytes=900, rematerialize=again)

    assert [n.op.name for n in again.graphs[0].nodes] == ["mul", "add", "add"]
    (asked,) = again.asked
    assert (asked["budget_bytes"], asked["external"], asked["barriers"]) == (900, {1}, False)
    assert [s.node.op.name for s in program.steps] == ["mul", "add", "mul", "add", "add"]
    assert (program(ONE * 2)[0].sum(), weight.read().sum()) == (16 * 12, 16 * 5)
    assert stage(program) == "arena 1,000 -> 900 bytes, 25.0% more work"
    assert "rematerialize: 5 nodes" in program.explain()


def test_extra_work_is_told_in_the_costs_given() -> None:
    options: dict[str, Any] = {"max_extra_cost": 0.5, "costs": lambda n: 1.0 + 3 * (n.op is add)}
    again = Pass()
    program, _ = step(planner=arenas(1000, 900), rematerialize=again, **options)

    assert stage(program) == "arena 1,000 -> 900 bytes, 7.7% more work"
    assert (again.asked[0]["max_extra_cost"], again.asked[0]["cost"]) == tuple(options.values())


def test_within_the_budget_nothing_is_done() -> None:
    again = Pass()
    program, _ = step(planner=arenas(1000), budget_bytes=1000, rematerialize=again)

    assert not again.asked
    assert stage(program) == "not needed: the arena is 1,000 of 1,000 bytes"


def test_nor_where_nothing_is_gained() -> None:
    program, _ = step(planner=arenas(1000, 1000), max_extra_cost=0.1, rematerialize=Pass())

    assert (len(program.steps), stage(program)) == (4, "nothing to gain")


def test_what_a_plan_takes_more_the_pass_is_given_less() -> None:
    """The budget is for the arena: 60 bytes over, then 10, then it fits."""
    again = Pass()
    program, _ = step(planner=arenas(999, 560, 510, 500), budget_bytes=500, rematerialize=again)

    assert [asked["budget_bytes"] for asked in again.asked] == [500, 440, 430]
    assert program.plan.arena_bytes == 500


def test_a_budget_that_no_plan_meets_is_an_error() -> None:
    planner = arenas(*[999] * 9)
    with pytest.raises(GraphError, match="at most 500 bytes and 999 are the fewest found in 6"):
        step(planner=planner, budget_bytes=500, rematerialize=Pass())


def test_the_error_of_the_pass_says_what_it_was_for() -> None:
    def refuse(graph: Graph, **options: Any) -> Graph:
        raise GraphError("at least 700 bytes are alive at step 3")

    with pytest.raises(GraphError, match="at least 700 bytes") as error:
        step(planner=arenas(999), budget_bytes=500, rematerialize=refuse)
    said = "for an arena of at most 500 bytes; without computing anything again it is 999; nothing"
    assert said in notes(error.value)


def test_the_error_of_the_pass_says_which_budget_could_be_met() -> None:
    """An arena takes more than what is alive at its peak; the new value of w is part of it."""

    def refuse(graph: Graph, **options: Any) -> Graph:
        error = GraphError("the smallest peak is 700")
        error.graph = Pass()(graph)  # type: ignore[attr-defined]  # as a BudgetError has it
        raise error

    with pytest.raises(GraphError, match="the smallest peak is 700") as error:
        step(planner=arenas(999, 777), budget_bytes=500, rematerialize=refuse)
    assert (
        "the smallest arena found has 777 bytes: budget_bytes=777; what is kept to the end, "
        in (notes(error.value))
    )


def test_a_failing_run_leaves_the_variables_alone() -> None:
    """Within a budget as without."""
    x, w = given("x", 16), given("w", 16)
    weight = Store().create("w", ONE)
    graph = graph_of([x, w], add(w, fail(mul(x, x))))
    options: dict[str, Any] = {"variables": (weight,), "updates": (weight,)}
    options |= {"planner": arenas(1000, 900), "budget_bytes": 900, "rematerialize": Pass()}
    program = build_by_hand(graph, **options)
    raising.append(MemoryError("none left"))
    try:
        with pytest.raises(MemoryError, match="none left"):
            program(ONE)
    finally:
        raising.clear()

    assert weight.read().tolist() == ONE.tolist()


def test_a_commit_by_copies_does_too() -> None:
    again = Pass()
    planner = arenas(1000, 900)
    program, weight = step(planner=planner, budget_bytes=900, rematerialize=again, commit="copy")
    program(ONE * 2)

    assert len(again.graphs[0].nodes) == 4
    assert (program(ONE * 2)[0].sum(), weight.read().sum()) == (16 * 12, 16 * 9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget_bytes": 9, "max_extra_cost": 0.1}, "max_extra_cost=0.1: give one of them"),
        ({"budget_bytes": -1}, "budget_bytes=-1, max_extra_cost=None: bytes are an int"),
        ({"max_extra_cost": -0.5}, "max_extra_cost=-0.5: bytes .* both at least 0"),
        ({"budget_bytes": "1MB"}, "budget_bytes='1MB', max_extra_cost=None: bytes are an int"),
        ({"budget_bytes": 1.5}, "budget_bytes=1.5"),
        ({"max_extra_cost": float("nan")}, "max_extra_cost=nan"),
        ({"budget_bytes": 9, "rematerialize": None}, "need a pass"),
        ({"budget_bytes": 9, "rematerialize": 3}, "3 is no pass"),
        ({"order": 3}, "3 is no pass"),
        ({"legalize": 3}, "3 is no pass"),
        ({"arena": 3}, "arena=3: give an Arena"),
        (
            {"budget_bytes": 9, "planner": None},
            r"no two values share a byte; pip install \S+memplan, or",
        ),
        ({"budget_bytes": 9, "planner": separate}, "no two values share a byte"),
    ],
)
def test_limits_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        step(**{"planner": donating, "rematerialize": Pass(), **options})


def test_without_the_pass_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discover, "_hub", lambda: Parts("no.such.group"))
    with pytest.raises(
        PartError, match=r"no pass 'rematerialize'; .* byparts-recompute: pip install "
    ):
        step(planner=donating, budget_bytes=9)


def test_an_executor_keeps_a_program_for_each_budget() -> None:
    x = given("x", 16)
    graph, again = graph_of([x], add(add(mul(x, x), x), mul(x, x))), Pass()
    ways: dict[str, Any] = {"backends": (TOY,), "passes": (), "legalize": None, "order": None}
    ways |= {"planner": arenas(999, 999, 900), "rematerialize": again}
    executor = Executor(budget_bytes=2000, **ways)
    types = (x.type,)
    counts = [len(executor.program(graph, types).steps)]
    counts.append(len(executor.program(graph, types, budget_bytes=900).steps))
    counts.append(len(executor.program(graph, types, budget_bytes=900).steps))

    assert (counts, executor.statistics.hits) == ([4, 5, 5], 1)
    assert executor(graph, ONE, budget_bytes=900)[0].sum() == 16 * 3


def barrier(x: Value, after: Value) -> Value:
    return Node(OptimizationBarrier(), (x, after)).outputs[0]


def test_barriers_of_the_graph_are_gone_when_it_runs() -> None:
    """No kernel is needed, no planner that knows views: both products run, one after the sum."""
    x = given("x", 16)
    total = add(mul(x, x), x)
    program = build_by_hand(graph_of([x], add(total, mul(barrier(x, total), x))))

    assert [s.node.op.name for s in program.steps] == ["mul", "add", "mul", "add"]
    assert [s.name for s in program.stages] == ["specialize", "barriers", "hoist"]
    assert program(ONE * 2)[0].tolist() == [10.0] * 16


def test_legalize_is_not_asked_for_them() -> None:
    """They must hold until nothing comes that might join what they keep apart."""
    kept: list[bool] = []

    def legalize(graph: Graph, supports: Callable[[Node], bool]) -> Graph:
        kept.extend(supports(n) for n in graph.nodes)
        return graph

    x = given("x", 16)
    build_by_hand(graph_of([x], barrier(x, product(x, 2.0))), legalize=legalize)
    assert kept == [True, True, True]
