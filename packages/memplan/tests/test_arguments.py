"""What callers give by mistake is named; what NumPy gives is taken."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from planned_ops import Add

from byparts_graph_ir import FormatError, Graph, Input, TensorType
from byparts_memplan import (
    Buffer,
    DoesNotFit,
    PlanError,
    check,
    check_plan,
    live_bytes,
    lower_bound,
    order,
    peak_bytes,
    place,
    placement_from_json,
    placement_to_json,
    plan,
    plan_to_json,
    report,
    smallest_subset,
)
from byparts_recompute import (
    BudgetError,
    forward_evaluations,
    rematerialize,
    sqrt_schedule,
    tradeoff,
)

np = pytest.importorskip("numpy")  # whose integers are part of the question

THREE = [Buffer(4, 0, 2), Buffer(2, 1, 3), Buffer(4, 2, 4)]


@pytest.mark.parametrize("given", [None, "7", [1], True, int, np.float32(7), np.array([1, 2])])
@pytest.mark.parametrize("name", ["size_bytes", "born", "dies", "alignment"])
def test_what_is_no_integer_is_named(name: str, given: Any) -> None:
    with pytest.raises(PlanError, match=rf"Buffer\(.* needs .*integers?.*; {name} is "):
        Buffer(**{"size_bytes": 4, "born": 0, "dies": 9, name: given})


def test_a_pin_is_an_integer_or_none() -> None:
    with pytest.raises(PlanError, match=r"needs integers: bytes and steps; pinned is '7'"):
        Buffer(4, 0, 9, pinned="7")  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [None, 3, "2-4", ((1,),), ((1, 2, 3),), ((1.5, 2),)])
def test_gaps_are_pairs(given: Any) -> None:
    with pytest.raises(
        PlanError, match=r"needs gaps that are pairs of steps: \(\(2, 4\), \(7, 9\)\)"
    ):
        Buffer(4, 0, 9, gaps=given)


def test_a_space_is_a_name() -> None:
    with pytest.raises(PlanError, match=r"space=3\) needs the name of a space, such as 'sram'"):
        Buffer(4, 0, 9, space=3)  # type: ignore[arg-type]


def test_integers_of_numpy_are_integers() -> None:
    """Small ones would overflow, and JSON does not know them."""
    byte = np.array([200, 0, 9, 1], np.uint8)
    gaps: Any = [[np.int64(2), np.int64(4)]]
    buffers = [Buffer(*byte), Buffer(byte[0], byte[1], byte[2], gaps=gaps)]

    assert buffers == [Buffer(200, 0, 9), Buffer(200, 0, 9, gaps=((2, 4),))]
    assert len(set(buffers)) == 2
    made = place(buffers, capacity=np.int64(400))
    assert placement_from_json(placement_to_json(made)) == made
    check(buffers, np.array(made.offsets, np.uint8), np.uint16(400))


def test_buffers_may_come_one_by_one() -> None:
    """Whatever can be walked through."""
    assert place(b for b in THREE) == place(THREE)  # type: ignore[arg-type]
    assert lower_bound(b for b in THREE) == 6  # type: ignore[arg-type]
    assert smallest_subset((b for b in THREE), 5) == (0, 1)  # type: ignore[arg-type]
    check((b for b in THREE), iter((0, 4, 0)), 6)  # type: ignore[arg-type]


@pytest.mark.parametrize("ask", [place, lower_bound, lambda b: check(b, [0], 1)])
def test_what_is_no_buffer_is_named(ask: Any) -> None:
    with pytest.raises(PlanError, match="expected buffers, in a list; got None"):
        ask(None)
    with pytest.raises(PlanError, match=r"buffers\[0\] is 7; expected a Buffer"):
        ask([7])


@pytest.mark.parametrize("given", ["1MiB", [6], float("nan"), object, np.array([1, 2]), 1j])
def test_what_is_no_capacity_is_named(given: Any) -> None:
    with pytest.raises(PlanError, match=r"capacity is .*; expected a number of bytes"):
        place(THREE, given)
    with pytest.raises(PlanError, match=r"capacity of '' is .*; expected a number of bytes"):
        place(THREE, {"": given})
    with pytest.raises(PlanError, match=r"capacity is .*; expected a number of bytes"):
        smallest_subset(THREE, given)
    with pytest.raises(PlanError, match=r"arena_bytes is .*; expected a number of bytes"):
        check(THREE, [0, 4, 0], given)


def test_a_capacity_of_no_space_is_refused() -> None:
    """Otherwise a slip of the pen would be no limit at all."""
    here = [Buffer(4, 0, 2, space="sram"), Buffer(4, 0, 2, space="dram")]
    with pytest.raises(PlanError, match="no buffer is in space 'sarm'; there are 'sram', 'dram'"):
        place(here, {"sarm": 4})

    assert place(here, {"sram": 4, "dram": None}).arena_bytes == 8  # type: ignore[dict-item]
    assert place([], {"sram": 4}).arena_bytes == 0


@pytest.mark.parametrize("given", ["7", [1], float("nan"), -1, object, 1j])
@pytest.mark.parametrize("name", ["time_limit_s", "effort"])
def test_limits_are_numbers(name: str, given: Any) -> None:
    with pytest.raises(PlanError, match=f"{name} is .*; expected a number, 0 or more"):
        place(THREE, **{name: given})


def test_limits_may_be_of_any_kind_and_size() -> None:
    assert place(THREE, time_limit_s=10**400, effort=10**400).optimal
    assert place(THREE, time_limit_s=float("inf"), effort=np.int64(5)).optimal


def test_a_seed_is_an_integer() -> None:
    with pytest.raises(PlanError, match=r"seed is 1\.5; expected an integer"):
        place(THREE, seed=1.5)  # type: ignore[arg-type]


def test_offsets_are_integers_and_as_many_as_names() -> None:
    with pytest.raises(PlanError, match=r"offsets are \[0\.0, 4, 0\]; expected an integer"):
        check(THREE, [0.0, 4, 0], 6)  # type: ignore[list-item]
    with pytest.raises(PlanError, match="3 buffers but 1 names"):
        check(THREE, [0, 4, 0], 6, ["a"])


@pytest.mark.parametrize("text", [None, "", "[]", "{", b"\xff", "[" * 100_000, '{"byparts": 1}'])
def test_what_is_no_placement_is_refused(text: Any) -> None:
    with pytest.raises(FormatError, match=r"expected a text|not a JSON text|not a placement"):
        placement_from_json(text)


def test_a_plan_is_no_placement() -> None:
    with pytest.raises(
        FormatError, match="not a placement, but 'plan'; expected what placement_to"
    ):
        placement_from_json(plan_to_json(plan(step())))


def test_a_placement_is_json_that_anybody_reads() -> None:
    fields = json.loads(placement_to_json(place(THREE)))

    assert (fields["byparts"], fields["offsets"]) == ("placement", [0, 4, 0])


def step() -> Graph:
    w, g = (Input(TensorType("f32", (8,)), name=name) for name in "wg")
    return Graph.of((w, g), (Add()(w, g),))


ASK: list[Any] = [plan, order, peak_bytes, live_bytes, tradeoff]


@pytest.mark.parametrize("ask", [*ASK, lambda g, **more: rematerialize(g, 1, **more)])
def test_what_is_no_graph_and_no_input_is_named(ask: Any) -> None:
    """Names, for example."""
    with pytest.raises(PlanError, match=r"expected a Graph; got 'model\.json'"):
        ask("model.json")
    with pytest.raises(PlanError, match=r"external is 'w'; expected positions of inputs"):
        ask(step(), external="w")
    with pytest.raises(PlanError, match=r"external is None; expected positions of inputs"):
        ask(step(), external=None)
    with pytest.raises(PlanError, match="external: there is no input 2; the graph has 2"):
        ask(step(), external=[1, 2])


@pytest.mark.parametrize("ask", ASK)
def test_inputs_may_be_told_one_by_one(ask: Any) -> None:
    assert ask(step(), external=iter([np.int8(0)])) == ask(step(), external={0})


@pytest.mark.parametrize("given", [None, "64", 1.5, 0])
def test_an_alignment_is_a_whole_number(given: Any) -> None:
    with pytest.raises(PlanError, match="alignment must be at least 1, a whole number, not "):
        plan(step(), alignment=given)


def test_errors_cross_to_other_processes() -> None:
    """What cannot be read there would stop a pool of them."""
    with pytest.raises(DoesNotFit, match="do not fit in 5 bytes") as caught:
        place(THREE, 5)
    found = pickle.loads(pickle.dumps(caught.value))
    assert (str(found), vars(found)) == (str(caught.value), vars(caught.value))
    with pytest.raises(BudgetError, match="the smallest peak is 64") as refused:
        rematerialize(step(), 8)
    again = pickle.loads(pickle.dumps(refused.value))
    assert (type(again), str(again), again.peak_bytes) == (BudgetError, str(refused.value), 64)
    assert again.graph == refused.value.graph


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: plan(step(), donate="w"), "donate is 'w'; expected input -> output"),  # type: ignore[arg-type]
        (lambda: plan(step(), space="near"), "space is 'near'; expected a function from a Value"),  # type: ignore[arg-type]
        (lambda: check_plan(step(), None), "expected a Plan; got None"),  # type: ignore[arg-type]
        (lambda: sqrt_schedule(3), "expected a Chain; got 3"),  # type: ignore[arg-type]
        (lambda: forward_evaluations(9, 3, []), r"policy \[\] is not one of hidden"),  # type: ignore[arg-type]
        (lambda: tradeoff(step(), points=0), "points is 0; expected an integer, 1 or more"),
        (lambda: tradeoff(step(), points=None), "points is None; expected an integer"),  # type: ignore[arg-type]
        (lambda: tradeoff(step(), seed=1.5), r"seed is 1\.5; expected an integer"),  # type: ignore[arg-type]
        (lambda: rematerialize(step(), 1, seed="a"), "seed is 'a'; expected an integer"),  # type: ignore[arg-type]
        (lambda: rematerialize(step(), 1, strategy=["auto"]), r"no strategy \['auto'\]; there are "),  # type: ignore[arg-type]
        (lambda: order(step(), effort="much"), "effort is 'much'; expected a number of tasks"),  # type: ignore[arg-type]
        (lambda: order(step(), effort=-1), "effort is -1; expected a number of tasks, 0 or more"),
        (lambda: report(plan(step()), rows=-1), "rows is -1; expected an integer, 0 or more"),
        (lambda: placement_to_json(3), "expected a Placement; got 3"),  # type: ignore[arg-type]
        (lambda: plan_to_json(None), "expected a Plan; got None"),  # type: ignore[arg-type]
        (lambda: report(None), "expected a Plan; got None"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_named(ask: Any, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        ask()
