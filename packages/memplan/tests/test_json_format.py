import hypothesis
import pytest
from hypothesis import settings
from planned_ops import Reshape, add, copy, given
from problems import problems

from byparts_graph_ir import Graph
from byparts_memplan import (
    Buffer,
    Placement,
    PlanError,
    place,
    placement_from_json,
    placement_to_json,
    plan,
    plan_from_json,
    plan_to_json,
)


@settings(max_examples=100, deadline=None)
@hypothesis.given(problems(spaces=["", "npu"]))
def test_placement_round_trip(problem: list[Buffer]) -> None:
    """Equal: pins, gaps, spaces and all."""
    placement = Placement(tuple(problem), (8,) * len(problem), 99, 7, "by hand")

    assert placement_from_json(placement_to_json(placement)) == placement


def test_format_1_is_read() -> None:
    """Its buffers have no gaps and no space."""
    text = (
        '{"byparts":"placement","format":1,"buffers":[[4,0,2,4,8],[2,1,3,1,null]],'
        '"offsets":[8,0],"arena_bytes":12,"lower_bound_bytes":12,"how":"by sweep"}'
    )
    buffers = (Buffer(4, 0, 2, 4, pinned=8), Buffer(2, 1, 3))

    assert placement_from_json(text) == Placement(buffers, (8, 0), 12, 12, "by sweep")


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ('"offsets":[0]', '"offsets":["0"]', "^not a placement: TypeError.*'0' is no whole number"),
        ('"offsets":[0]', '"offsets":[0.5]', "0.5 is no whole number"),
        ("[4,0,2,", "[true,0,2,", "True is no whole number"),
        ("[4,0,2,", "[4,0,", "^not a placement: TypeError"),
    ],
)
def test_numbers_are_whole(old: str, new: str, match: str) -> None:
    """What would fail far away is refused here."""
    text = placement_to_json(place([Buffer(4, 0, 2)]))

    assert old in text
    with pytest.raises(PlanError, match=match):
        placement_from_json(text.replace(old, new))


def test_plan_round_trip() -> None:
    """Equal, also where values are outside, donated, or views."""
    w, x = given(4, name="w"), given(2, 2)
    graph = Graph.of((w, x), (add(w, Reshape((4,))(copy(x))),))
    made = plan(graph, external={0}, donate={0: 0})

    assert made.donated
    assert plan_from_json(plan_to_json(made)) == made


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("{", "^not JSON: "),
        ("[]", "^not a plan; expected what plan_to_json writes$"),
        ('{"byparts": "plan", "format": 3}', "^plan in format 3; this reads formats 1 to 2$"),
        ('{"byparts": "plan", "format": 2}', "^not a plan: KeyError"),
    ],
)
def test_what_is_no_plan_is_refused(text: str, match: str) -> None:
    """With the reason."""
    with pytest.raises(PlanError, match=match):
        plan_from_json(text)


def test_a_senseless_buffer_is_refused() -> None:
    """Values check themselves also when they are read."""
    text = placement_to_json(place([Buffer(4, 0, 2)])).replace("[4,0,2,", "[4,3,2,")

    with pytest.raises(PlanError, match="dies before it is born"):
        placement_from_json(text)
