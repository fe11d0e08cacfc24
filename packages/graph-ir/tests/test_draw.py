"""Pictures of graphs."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from toy_ops import Halves, Scale, add, given, neg, small

from byparts_graph_ir import Graph

SVG = "{http://www.w3.org/2000/svg}"


def test_every_input_and_node_is_a_box_and_every_use_a_line() -> None:
    """The picture is well formed and complete."""
    picture = ElementTree.fromstring(small().svg())

    assert len(picture.findall(f"{SVG}g/{SVG}rect")) == 4
    assert len(picture.findall(f"{SVG}g/{SVG}path")) == 3


def test_nodes_stand_below_what_they_read() -> None:
    """Reading downwards is reading in order."""
    picture = ElementTree.fromstring(small().svg())
    rows = [float(r.attrib["y"]) for r in picture.iter(f"{SVG}rect")]

    assert rows[0] == rows[1] < rows[2] < rows[3]


def test_attributes_cannot_break_the_picture() -> None:
    """What stands in a string is escaped; empty graphs and several outputs have pictures too."""
    x = given("x", 5)
    graph = Graph.of((x,), (*Halves().outputs_of(x), Scale(1.0, '<&">')(x)))

    assert "Scale" in "".join(ElementTree.fromstring(graph.svg()).itertext())
    assert ElementTree.fromstring(Graph.of((), ()).svg()) is not None


def test_an_input_stands_just_above_what_reads_it() -> None:
    """A weight of the last layer is not at the top, with a line across the whole picture."""
    x, y = given("x", 2), given("y", 2)
    graph = Graph.of((x, y), (add(neg(neg(x)), y),))
    picture = ElementTree.fromstring(graph.svg())
    rows = {
        group.findtext(f"{SVG}title"): float(rect.attrib["y"])
        for group in picture.findall(f"{SVG}g")
        for rect in group.findall(f"{SVG}rect")
    }
    places = {str(title).split(" ->")[0]: row for title, row in rows.items()}

    assert places["x"] < places["y"] < places["Add()"]
