"""The planner's view of a graph agrees with the plan, and a sequence becomes a graph."""

from __future__ import annotations

import pytest
from planned_ops import Add, Copy, Neg, Reshape, Shout, given

from byparts_graph_ir import Graph, OptimizationBarrier, verify
from byparts_memplan import PlanError, peak_bytes
from byparts_memplan.steps import Steps
from byparts_recompute.replay import replay

BYTES = 4 * 64


def hourglass() -> Graph:
    """a = copy(x), b = copy(a), y = b + a: `a` waits for the sum."""
    x = given(64)
    a = Copy()(x)
    b = Copy()(a)
    return Graph.of([x], [Add()(Copy()(b), a)])


def test_live_bytes_of_a_chain() -> None:
    """x with a; a with b; a, b and c; y is written over one of them."""
    steps = Steps(hourglass(), external={0})

    assert steps.live_bytes() == [BYTES, 2 * BYTES, 3 * BYTES, 2 * BYTES]
    assert steps.peak_bytes() == peak_bytes(hourglass(), {0}) == 3 * BYTES


def test_running_a_step_again_frees_its_bytes_meanwhile() -> None:
    steps = Steps(hourglass(), external={0})

    assert steps.live_bytes([0, 1, 2, 0, 3]) == [BYTES, 2 * BYTES, 2 * BYTES, 2 * BYTES, 2 * BYTES]
    assert steps.total_cost([0, 1, 2, 0, 3]) == steps.total_cost() + steps.cost[0]


def test_a_replay_is_the_graph_of_its_sequence() -> None:
    """The second copy reads x behind a barrier."""
    steps = Steps(hourglass(), external={0})
    after = verify(replay(steps, [0, 1, 2, 0, 3]))

    assert [type(n.op) for n in after.nodes] == [
        Copy, Copy, Copy, OptimizationBarrier, Copy, Add,
    ]  # fmt: skip
    assert peak_bytes(after, {0}) == 2 * BYTES
    assert replay(steps, [0, 1, 2, 3]) == hourglass()


def test_a_view_is_made_again_of_what_is_computed_again() -> None:
    x = given(64)
    a = Copy()(x)
    v = Reshape((8, 8))(a)
    first = Copy()(v)
    graph = Graph.of([x], [first, Neg()(v)])
    after = verify(replay(Steps(graph, external={0}), [0, 1, 0, 2], barriers=False))

    assert [n.op.name for n in after.nodes] == ["copy", "reshape", "copy", "copy", "reshape", "neg"]


@pytest.mark.parametrize(
    ("sequence", "message"),
    [
        ([0, 1, 3], "step 2 .copy. is never run|reads what is not computed"),
        ([1, 0, 2, 3], "position 0: step 1 .copy. reads what is not computed yet"),
    ],
)
def test_a_wrong_sequence_is_refused(sequence: list[int], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        replay(Steps(hourglass()), sequence)


def test_an_effect_happens_once() -> None:
    x = given(64)
    graph = Graph.of([x], [Shout()(x)])

    with pytest.raises(PlanError, match="must run only once"):
        replay(Steps(graph), [0, 0])
