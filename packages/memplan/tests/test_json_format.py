import hypothesis
import pytest
from hypothesis import settings
from planned_ops import Reshape, add, copy, given
from problems import problems

from byparts_graph_ir import FormatError, Graph
from byparts_memplan import (
    Buffer,
    Placement,
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
        (
            '"offsets":[0]',
            '"offsets":["0"]',
            r"^offsets: expected tuple\[int, ...\], found \['0'\]",
        ),
        ('"offsets":[0]', '"offsets":[0.5]', r"offsets: expected .*, found \[0.5\]"),
        ('"offsets":[0]', '"offsets":[0,0]', "^offsets: 2 offsets of 1 buffers; expected as many"),
        ("[4,0,2,", "[true,0,2,", r"buffers\[0\].size_bytes: expected int, found True"),
        ("[4,0,2,", "[NaN,0,2,", r"size_bytes: expected int, found NaN, which is no JSON"),
        ("[4,0,2,1,null,[],", '[4,0,2,1,null,[["1",2]],', r"buffers\[0\].gaps: expected tuple"),
        ("[4,0,2,1,", "[4,0,", r"buffers\[0\].dies: expected int, found None"),
        ('[4,0,2,1,null,[],""]', "[4,0]", r"buffers\[0\]: expected 3 to 7 fields, found \[4, 0\]"),
        ('"how":', '"how":"x","how":', "^not a placement, but an object with two 'how'"),
        ('"how":', '"why":', "^the file lacks 'how'"),
    ],
)
def test_numbers_are_whole(old: str, new: str, match: str) -> None:
    """What would fail far away is refused here."""
    text = placement_to_json(place([Buffer(4, 0, 2)]))

    assert old in text
    with pytest.raises(FormatError, match=match):
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
        ("{", "^not a JSON text: .*line 1 column 2"),
        ("[]", "^not a plan; expected what plan_to_json writes$"),
        ('{"byparts": "plan", "format": 4}', "^plan in format 4; this reads format 3$"),
        ('{"byparts": "plan", "format": true}', "^plan in format True; this reads format 3$"),
        ('{"byparts": "plan", "format": 2}', "^plan in format 2; this reads format 3$"),
        ('{"byparts": "placement", "format": 4}', "^not a plan, but 'placement'; expected"),
        ('{"byparts": "plan", "format": 3}', "^the file lacks 'locations'"),
    ],
)
def test_what_is_no_plan_is_refused(text: str, match: str) -> None:
    """With the reason."""
    with pytest.raises(FormatError, match=match):
        plan_from_json(text)


def test_a_senseless_buffer_is_refused() -> None:
    """Values check themselves also when they are read."""
    text = placement_to_json(place([Buffer(4, 0, 2)])).replace("[4,0,2,", "[4,3,2,")

    with pytest.raises(FormatError, match=r"^buffers\[0\]: .*dies before it is born"):
        placement_from_json(text)
