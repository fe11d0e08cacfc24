import pytest
from planned_ops import Reshape, add, copy, given

from byparts_graph_ir import Graph
from byparts_memplan import (
    Buffer,
    PlanError,
    place,
    placement_from_json,
    placement_to_json,
    plan,
    plan_from_json,
    plan_to_json,
)


def test_placement_round_trip() -> None:
    """Equal, pins and all."""
    placement = place([Buffer(4, 0, 2, 4, pinned=8), Buffer(2, 1, 3)])

    assert placement_from_json(placement_to_json(placement)) == placement


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
        ("[]", "^not a plan$"),
        ('{"byparts": "plan", "format": 3}', "^plan in format 3; this reads format 2$"),
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
