"""Placements as text and as SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given as forall, settings
from planned_ops import copy, given, neg
from problems import problems

from byparts_graph_ir import Graph, Input, TensorType
from byparts_memplan import Buffer, Placement, PlanError, place, plan
from byparts_memplan.pictures.alive import scope_of, scopes
from byparts_memplan.pictures.draw import draw

THREE = place([Buffer(4, 0, 2), Buffer(2, 1, 3), Buffer(4, 2, 4)])
SVG = "{http://www.w3.org/2000/svg}"


def small() -> Graph:
    x = given(1024, name="images")
    y = neg(copy(x))
    return Graph.of((x,), (y, copy(y)))


def titles(svg: str) -> list[str]:
    rectangles = ElementTree.fromstring(svg).iter(f"{SVG}rect")
    return [t.text or "" for r in rectangles for t in r.iter(f"{SVG}title")]


def words(svg: str) -> list[str]:
    return [t.text or "" for t in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def fills(svg: str) -> list[str | None]:
    """Of rectangles with a tooltip."""
    rectangles = ElementTree.fromstring(svg).iter(f"{SVG}rect")
    return [r.get("fill") for r in rectangles if r.find(f"{SVG}title") is not None]


def test_drawn_as_text() -> None:
    """Steps across, bytes up: b lies above a, then above c in a's place."""
    expected = """\
6 B |..bbbb..
    |aaaacccc
0 B |aaaacccc
     steps 0 to 3"""

    assert THREE.draw(width=8, height=3) == expected


def test_a_drawn_plan_says_what_its_letters_are_and_which_step_is_worst() -> None:
    labels = ("%0 x f32[1] (a.py:1)", "%1 y f16[1] (a.py:2)", "%2 z f32[1] (a.py:1)")
    expected = """\
6 B |..bbbb..
    |aaaacccc
0 B |aaaacccc
     steps 0 to 3
        ^ worst step 1: 6 B alive
  a  %0 x f32[1] (a.py:1)
  b  %1 y f16[1] (a.py:2)
  c  %2 z f32[1] (a.py:1)"""

    assert draw(THREE, width=8, height=3, labels=labels) == expected


def test_of_many_buffers_letters_are_lines_of_the_program() -> None:
    """The line that holds most at the worst step is `a`."""
    buffers = [Buffer(1 + i % 2, 0, 1) for i in range(20)]
    drawn = draw(place(buffers), width=4, labels=[f"%{i} op (net.py:{i % 2})" for i in range(20)])

    assert "  a  net.py:1        20 B at the worst step" in drawn.splitlines()
    assert {c for row in drawn.splitlines()[:16] for c in row.partition("|")[2]} == {"a", "b"}


def test_a_terminal_shows_lines_as_colours() -> None:
    """And each buffer keeps its letter."""
    drawn = draw(
        THREE, width=4, height=3, labels=["x (a.py:1)", "y (a.py:2)", "z (a.py:1)"], colour=True
    )

    assert drawn.splitlines()[2] == "0 B |\x1b[38;5;203maa\x1b[0m\x1b[38;5;203mcc\x1b[0m"


def test_more_steps_than_columns() -> None:
    """A cell shows what lies at its middle."""
    drawn = place([Buffer(1, 0, 100)]).draw(width=10, height=1)

    assert drawn.splitlines()[0].endswith("|aaaaaaaaaa")


def test_gaps_are_holes() -> None:
    """In which others may lie."""
    gapped = Placement((Buffer(1, 0, 4, gaps=((1, 3),)), Buffer(1, 1, 2)), (0, 0), 1, 1, "by hand")

    assert gapped.draw(width=4, height=1).splitlines()[0] == "1 B |ab.a"
    assert [t.splitlines()[0] for t in titles(gapped.svg())] == ["buffer 0", "buffer 0", "buffer 1"]
    assert gapped.svg().count('stroke-dasharray="2 3"') == 1


def test_spaces_stand_one_above_the_other() -> None:
    """Each with its own arena."""
    two = (Buffer(4, 0, 2, space="host"), Buffer(2, 1, 3, space="cuda:0"))
    placed = Placement(two, (0, 0), 6, 6, "by hand")
    drawn = placed.draw(width=3, height=2).splitlines()

    assert [drawn[0], drawn[4]] == ["host: 4 B", "cuda:0: 2 B"]
    assert {"host: 4 B", "cuda:0: 2 B"} <= set(words(placed.svg()))


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


def test_svg_has_one_colour_for_each_line() -> None:
    """And says in the legend what each holds at the worst step."""
    svg = THREE.svg(["x f32[1] (a.py:1)", "y f16[1] (a.py:2)", "z f32[1] (a.py:1)"])
    x, y, z = fills(svg)

    assert x == z != y
    assert {"a.py:1 (4 B)", "a.py:2 (2 B)"} <= set(words(svg))


def test_svg_marks_the_worst_step() -> None:
    assert "worst step 1: 6 B alive" in words(THREE.svg())


def test_plans_show_themselves_in_a_notebook() -> None:
    assert (THREE._repr_svg_(), plan(small())._repr_svg_()[:4]) == (THREE.svg(), "<svg")


def test_svg_of_nothing_is_a_picture() -> None:
    """No division by the arena."""
    assert titles(Placement((), (), 0, 0, "by hand").svg()) == []


def test_svg_of_strange_names_is_xml() -> None:
    """Markup, control characters, half a pair of surrogates."""
    svg = THREE.svg(["<&>\x00\x1b", "\ud800 \uffff", 'é "quoted"'])

    assert titles(svg)[0].startswith("<&>??\n")


def test_svg_keeps_long_names_on_the_page() -> None:
    """In the rectangle, in the legend, and what is twice as wide as other letters."""
    buffers, names = [Buffer(40, 0, 9), Buffer(40, 0, 9)], ["a" * 5000, "名" * 5000]
    shown = [word for word in words(place(buffers).svg(names)) if word[:2] in ("aa", "名名")]

    assert [len(word) for word in shown] == [130, 79, 128, 78]
    assert all(word.endswith("…") for word in shown)


def test_svg_names_every_buffer_or_none() -> None:
    with pytest.raises(PlanError, match="1 labels but 3 buffers"):
        THREE.svg(["a"])


def test_ticks_are_whole_bytes() -> None:
    """None comes twice, also where there are few."""
    ticks = words(place([Buffer(2, 0, 1)]).svg())

    assert [word for word in ticks if word.endswith(" B")] == ["0 B", "1 B", "2 B"]


def test_svg_of_20000_buffers_is_small() -> None:
    """The largest can be hovered, the others are merged; nothing is left out where it shows."""
    count = 20_000
    buffers = tuple(Buffer(64, i, i + 1 + i % 50) for i in range(count))
    labels = [f"%{i} some_operation f32[16] (network.py:{i % 100})" for i in range(count)]
    svg = Placement(buffers, tuple(64 * (i % 60) for i in range(count)), 3840, 3200, "").svg(labels)

    assert len(svg.encode()) < 2_000_000
    assert len(titles(svg)) == 3000


def test_svg_of_very_long_times_is_small() -> None:
    """Steps are counted, never listed."""
    last = 10**12
    svg = place([Buffer(4, 0, last), Buffer(4, last - 1, last)]).svg()

    assert len(svg) < 10_000 and len(titles(svg)) == 2


def test_scopes_are_lines_else_prefixes() -> None:
    """What a label knows."""
    assert scope_of("%3 conv2d f32[2] (net.py:7)") == "net.py:7"
    assert scope_of("%1 block1/w f32[2]") == "block1"
    assert scope_of("%1 w f32[2]") == "w"
    assert scope_of("") == ""


def test_where_lines_are_too_many_files_are_told_apart() -> None:
    """And what is left over is one of them."""
    buffers = [Buffer(1, 0, 1)] * 40
    _, held = scopes([f"x ({'ab'[i % 2]}.py:{i // 2})" for i in range(40)], buffers, 12)

    assert held == {"a.py": 20, "b.py": 20}
    _, held = scopes([f"x (f{i % 20}.py:1)" for i in range(40)], buffers, 12)
    assert len(held) == 12 and held["other"] == 18 and list(held)[-1] == "other"


def test_names_that_are_all_different_are_no_scopes() -> None:
    """Each buffer has a colour of its own then, and there is no legend."""
    placed = place([Buffer(1, i, i + 2) for i in range(30)])
    svg = placed.svg([str(i) for i in range(30)])

    assert len(set(fills(svg))) == 30 and not svg.count("alive at the worst step, by line")


@settings(deadline=None, max_examples=60)
@forall(problems(pins=False, spaces=("", "npu")))
def test_any_placement_is_drawn(buffers: list[Buffer]) -> None:
    """As XML, with a rectangle for each stay; as text, no wider than asked."""
    placed = place(buffers)
    labels = [f"%{i} op (file.py:{i % 5})" for i in range(len(buffers))]
    stays = sum(born < dies for b in buffers if b.size_bytes for born, dies in b.lives)

    assert len(titles(placed.svg(labels))) == stays
    assert all(len(line) <= 100 for line in draw(placed, labels=labels).splitlines())


@settings(deadline=None, max_examples=20)
@forall(problems(pins=False, spaces=("", "npu")))
def test_pictures_are_the_same_each_time(buffers: list[Buffer]) -> None:
    placed = place(buffers)

    assert placed.svg() == placed.svg() and placed.draw() == placed.draw()


def test_inputs_with_paths_in_their_names_are_scoped() -> None:
    x = Input(TensorType("f32", (4,)), None, "encoder/w", "")

    assert scope_of(plan(Graph.of((x,), (copy(x),))).labels[0]) == "encoder"


@pytest.mark.parametrize(
    "buffers", [[Buffer(10**400, 0, 3), Buffer(1, 1, 4)], [Buffer(8, 0, 10**400)]]
)
def test_absurd_sizes_and_times_are_drawn(buffers: list[Buffer]) -> None:
    """More than a float can hold."""
    found = words(place(buffers).svg(["a.py:1"] * len(buffers)))

    assert any(word.startswith("worst step ") for word in found)
