"""Pictures of graphs: complete, nothing overlaps, wires go around boxes, frames hold their scopes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given as drawn_by, settings, strategies as st
from picture_checker import Picture, Rectangle, check, read
from toy_ops import Call, Full, Halves, Scale, add, chain, f32, given, neg, nest, small

from byparts_graph_ir import Graph, GraphError, Value, inherit, scope

LAYOUTS = [
    "rows",
    pytest.param(
        "dot",
        marks=pytest.mark.skipif(
            shutil.which("dot") is None, reason="needs Graphviz's program dot"
        ),
    ),
]


def picture(graph: Graph, layout: str = "rows") -> Picture:
    return read(graph.svg(layout))


def box(of: Picture, word: str) -> Rectangle:
    """The one box with this word in its texts."""
    (found,) = [b for b in of.boxes if any(word in text for text in b.texts)]
    return found


@st.composite
def programs(draw: Callable[..., Any], scopes: bool = True) -> Graph:
    """Nodes of one and two inputs in any wiring, in scopes of any kind, some with graphs inside."""
    values: list[Value] = [given(f"x{i}", 4) for i in range(draw(st.integers(1, 3)))]
    inputs = list(values)
    where = st.sampled_from(["", "a", "b", "a/c", "a/d", "b/c"]) if scopes else st.just("")
    body = Graph.of((x := given("x", 4),), (add(neg(x), x),))
    for _ in range(draw(st.integers(0, 25))):
        kind, name = draw(st.integers(0, 9)), draw(where)
        near = st.integers(max(0, len(values) - draw(st.sampled_from([3, 30]))), len(values) - 1)
        x, y = values[draw(near)], values[draw(near)]
        with inherit(f"m.py:1 in {name}" if name else ""):
            if kind == 0:
                values.append(Full((4,))())
            elif kind == 1:
                values.append(Call(body)(x))
            else:
                values.append(neg(x) if kind < 4 else add(x, y))
    outputs = [draw(st.sampled_from(values)) for _ in range(draw(st.integers(1, 3)))]
    return Graph.of(inputs, outputs, order=values)


@settings(max_examples=80, deadline=None)
@drawn_by(programs())
def test_wires_go_around_boxes_and_frames_hold_their_scopes(graph: Graph) -> None:
    """What a reader relies on, for any wiring."""
    made = picture(graph)
    check(made)
    for frame in made.frames:
        for inner in frame.inside:
            where = inner.tip.rpartition(" in ")[2].split("/")
            if inner.kind == "node":
                assert set(frame.tip.split("/")) <= set(where)


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz's program dot")
@settings(max_examples=25, deadline=None)
@drawn_by(programs(scopes=False))
def test_so_do_those_of_graphviz(graph: Graph) -> None:
    """Without scopes, `dot` keeps the same promises."""
    check(picture(graph, "dot"))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_input_and_node_is_a_box_and_every_use_a_wire(layout: str) -> None:
    """The picture is well formed and complete."""
    made = picture(small(), layout)

    assert len(made.boxes) == 4
    assert len(made.wires) == 3


def test_every_node_is_drawn_once_and_every_use_ends_at_its_node() -> None:
    """Also where one value is read twice by one node."""
    x = given("x", 2)
    with inherit(""):
        y = add(x, x)
        made = picture(Graph.of((x,), (add(y, neg(y)),)))

    assert sorted(b.texts[0] for b in made.boxes) == ["%x", "add", "add", "neg"]
    assert len(made.wires) == 5


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nodes_stand_below_what_they_read(layout: str) -> None:
    """Reading downwards is reading in order; nodes of one depth are in one row."""
    made = picture(small(), layout)

    assert box(made, "%x").bottom < box(made, "add").top < box(made, "neg").top
    assert box(made, "%x").top == box(made, "%y").top


def test_inputs_constants_and_outputs_are_told_apart() -> None:
    """By the words in them, not by colours alone."""
    x = given("x", 4)
    made = picture(Graph.of((x,), (add(x, Full((4,))()),)))

    assert {b.texts[0]: b.kind for b in made.boxes} == {
        "%x": "input",
        "full": "constant",
        "add": "node",
    }
    assert box(made, "add").texts[-1] == "output 0"


def test_an_input_that_is_an_output_says_so() -> None:
    """A graph that gives back what it is given, and one input that nobody reads."""
    x, y = given("x", 4), given("y", 4)
    made = picture(Graph.of((x, y), (x, x)))

    assert box(made, "%x").texts[-1] == "outputs 0, 1"
    assert box(made, "%y").kind == "input"


def test_an_input_stands_just_above_each_place_that_reads_it() -> None:
    """A weight read by a layer and by its update is drawn at both."""
    x, w = given("x", 2), given("w", 2)
    graph = Graph.of((x, w), (add(neg(neg(neg(neg(add(x, w))))), w),))
    made = picture(graph)
    first, second = (b for b in made.boxes if "%w" in b.texts[0])

    assert (first.kind, second.kind) == ("input", "again")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_words_fit_into_their_boxes(layout: str) -> None:
    """Nothing is cut in the types, names and numbers; a box is as wide as its widest line."""
    x = given("a_rather_long_name_of_an_input", *range(100, 110))
    made = picture(Graph.of((x,), (neg(x),)), layout)

    assert box(made, "neg").texts[1] == f"%1: {f32(*range(100, 110))}"
    assert all(b.right - b.left > 5.5 * max(map(len, b.texts)) for b in made.boxes)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_scope_is_a_frame(layout: str) -> None:
    """A layer and its gradient have one name and two frames: what is between is in neither."""
    x = given("x", 2)
    with scope("layer"):
        y = neg(neg(x))
    z = neg(y)
    with scope("layer"):
        dx = add(neg(z), y)
    made = picture(Graph.of((x,), (dx,)), layout)
    frames = [sorted(b.texts[0] for b in f.inside) for f in made.frames]

    assert [f.tip for f in made.frames] == ["layer", "layer"]
    assert sorted(frames) == [["%x", "neg", "neg"], ["add", "neg"]]


def test_scopes_nest() -> None:
    """A frame stands in the frame of the scope around it."""
    x = given("x", 2)
    with scope("encoder"):
        y = neg(x)
        with scope("attention"):
            y = neg(neg(y))
    made = picture(Graph.of((x,), (y,)))
    inner, outer = made.frames

    assert (inner.tip, outer.tip) == ("attention", "encoder")
    assert outer.contains(inner)


def test_without_scopes_lines_of_the_program_are_frames() -> None:
    """Nodes of one line stand together, if there is more than one line and node."""
    x = given("x", 2)
    with inherit("/home/me/net.py:3"):
        y = neg(neg(x))
    with inherit("/home/me/net.py:4"):
        z = neg(y)
    made = picture(Graph.of((x,), (z,)))

    assert [f.tip for f in made.frames] == ["net.py:3"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_graph_inside_a_node_is_drawn_in_its_box(layout: str) -> None:
    """Two levels; what is deeper is counted."""
    made = picture(nest(4), layout)
    (call,) = [b for b in made.boxes if b.kind == "node"]
    (body,) = made.bodies

    assert call.texts[0] == "call"
    assert [b.texts[0] for b in body.boxes if b.kind == "node"] == ["call"]
    assert "1 nodes inside" in body.bodies[0].boxes[0].texts + body.bodies[0].boxes[-1].texts


def test_attributes_cannot_break_the_picture() -> None:
    """What stands in a string is escaped; empty graphs and several outputs have pictures too."""
    x = given("x", 5)
    made = picture(Graph.of((x,), (*Halves().outputs_of(x), Scale(1.0, '<&">\0')(x))))

    assert box(made, "scale").texts[1].startswith("note=")
    assert picture(Graph.of((), ())).boxes == []


def test_the_same_bytes_every_run() -> None:
    graph = nest(1)

    assert graph.svg("rows") == graph.svg("rows")


def test_another_layout_is_refused() -> None:
    with pytest.raises(GraphError, match="layout 'neato' is none of 'auto', 'dot', 'rows'"):
        small().svg("neato")


def test_without_graphviz_a_picture_has_our_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for by name, its absence is an error."""
    monkeypatch.setenv("PATH", "")

    assert small().svg() == small().svg("rows")
    with pytest.raises(GraphError, match="svg: Graphviz's program dot gives no layout"):
        small().svg("dot")


@pytest.mark.long
def test_a_graph_of_thousands_of_nodes_is_drawn() -> None:
    """Deeper than Python's stack, and with wires over all of it."""
    long = chain(3000)
    ends = [node.outputs[0] for node in long.nodes[::2]]
    y = ends[-1]
    for v in reversed(ends):
        y = add(y, v)

    made = picture(Graph.of(long.inputs, (y,)))

    assert sum(b.kind == "node" for b in made.boxes) == 2999 + 1500
