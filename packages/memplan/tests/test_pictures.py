import xml.etree.ElementTree as ElementTree

from planned_ops import copy, given, neg

from byparts_graph_ir import Graph
from byparts_memplan import Buffer, Placement, place, plan

THREE = place([Buffer(4, 0, 2), Buffer(2, 1, 3), Buffer(4, 2, 4)])


def small() -> Graph:
    x = given(1024, name="images")
    y = neg(copy(x))
    return Graph.of((x,), (y, copy(y)))


def titles(svg: str) -> list[str]:
    space = "{http://www.w3.org/2000/svg}"
    return [
        t.text or ""
        for r in ElementTree.fromstring(svg).iter(f"{space}rect")
        for t in r.iter(f"{space}title")
    ]


def test_drawn_as_text() -> None:
    """Steps across, bytes up: b lies above a, then above c in a's place."""
    expected = """\
6 B |..bbbb..
    |aaaacccc
0 B |aaaacccc
     steps 0 to 3"""

    assert THREE.draw(width=8, height=3) == expected


def test_more_steps_than_columns() -> None:
    """A cell shows what lies at its middle."""
    drawn = place([Buffer(1, 0, 100)]).draw(width=10, height=1)

    assert drawn.splitlines()[0].endswith("|aaaaaaaaaa")


def test_nothing_is_drawn_of_nothing() -> None:
    """No bytes, no axes."""
    assert place([Buffer(0, 0, 4)]).draw() == "(nothing in the arena)"


def test_svg_has_one_titled_rectangle_for_each_buffer() -> None:
    """Size, place and life in the tooltip."""
    assert titles(THREE.svg())[1] == "buffer 1\n2 B at 4, steps [1, 3)"
    assert len(titles(THREE.svg())) == 3


def test_svg_of_a_plan_names_values() -> None:
    """Op, type and the user's line."""
    assert any(
        t.startswith("%1 copy f32[1024] (test_pictures.py:") for t in titles(plan(small()).svg())
    )


def test_svg_of_nothing_is_a_picture() -> None:
    """No division by the arena."""
    assert titles(Placement((), (), 0, 0, "by hand").svg()) == []


def test_report_says_what_it_costs() -> None:
    """Naive, planned, bound; what was shared and what was not."""
    lines = plan(small()).report().splitlines()

    assert lines[0] == "4 values, 3 buffers, alignment 64"
    assert lines[1].split() == ["each", "on", "its", "own", "16.0", "KiB"]
    assert lines[2].split()[:6] == ["planned", "8.00", "KiB", "50.0", "%", "of"]
    assert "1 of 1 in place, 0 of 0 view, 0 of 0 donation" in lines[4]
