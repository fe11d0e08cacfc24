"""Memory over time as text and as pictures."""

from __future__ import annotations

import doctest
import re
import xml.etree.ElementTree as ElementTree
from importlib import import_module

from hypothesis import given as forall, settings, strategies as st
from planned_ops import Reshape, copy, given, neg

from byparts_graph_ir import Graph
from byparts_memplan import curve_svg, curve_text, live_bytes, peak_bytes

SVG = "{http://www.w3.org/2000/svg}"


def not_finite(svg: str) -> list[str]:
    """The attributes with NaN or an infinity in them; the words, which may say "inf", are text."""
    attributes = [v for e in ElementTree.fromstring(svg).iter() for v in e.attrib.values()]
    return [v for v in attributes if re.search(r"(^|[^a-z])(nan|inf)", v, re.ASCII)]


def test_what_is_not_finite_is_found() -> None:
    svg = '<svg width="4"><path d="M0 1H-inf"/><rect x="nan"/><text x="1">Minf</text></svg>'
    assert not_finite(svg) == ["M0 1H-inf", "nan"]


def words(svg: str) -> list[str]:
    return [t.text or "" for t in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_live_bytes_of_a_graph() -> None:
    """The copy beside its input, then in place; the view is no step."""
    x = given(4)
    graph = Graph.of((x,), (neg(Reshape((2, 2))(copy(x))),))

    assert live_bytes(graph) == [32, 16]
    assert live_bytes(graph, external={0}) == [16, 16]
    assert max(live_bytes(graph)) == peak_bytes(graph)


def test_docstrings() -> None:
    assert doctest.testmod(import_module("byparts_memplan.pictures.curve")) == (0, 1)
    assert doctest.testmod(import_module("byparts_memplan.pictures.alive")) == (0, 2)


def test_before_and_after_and_the_budget() -> None:
    """The later curve is in front; the budget is a line where nothing is."""
    expected = """\
8 B |--::----
    |  ::
    |######
0 B |######
     steps 0 to 3
     : before: 8 B at step 1
     # after: 4 B at step 0
     - budget: 8 B"""
    curves = {"before": [4, 8, 4], "after": [4, 4, 4, 0]}
    drawn = curve_text(curves, budget_bytes=8, width=8, height=4)

    assert drawn == expected


def test_a_short_peak_of_a_long_run_is_seen() -> None:
    """A column shows the most within it."""
    drawn = curve_text({"run": [1] * 700 + [10] + [1] * 299}, width=10, height=2)

    assert drawn.splitlines()[0] == "10 B |       #"


def test_the_curve_as_a_picture() -> None:
    """Peaks and the budget in the legend."""
    found = words(
        curve_svg({"before": [4, 2048], "after": [4, 4, 4]}, budget_bytes=1024, title="net")
    )

    assert {"net", "before: 2.00 KiB", "after: 4 B", "budget: 1.00 KiB"} <= set(found)


def test_few_steps_are_numbered_once() -> None:
    found = curve_svg({"a": [1, 2, 3]})

    assert re.findall(r'middle">(\w+)<', found) == ["0", "1", "2", "3", "step"]


def test_long_names_stay_on_the_page() -> None:
    found = curve_svg({"a" * 500: [1, 2]}, title="b" * 500)

    assert re.findall(r">([ab]+)…", found) == ["b" * 95, "a" * 108]


def test_a_million_steps_are_a_small_picture() -> None:
    svg = curve_svg({"long": [k * 7919 % 1000 for k in range(1_000_000)]})

    assert len(svg) < 60_000


def test_nothing_is_a_picture_too() -> None:
    """No division by what is not there."""
    for svg in (
        curve_svg({}),
        curve_svg({"none": []}),
    ):
        ElementTree.fromstring(svg)
    assert curve_text({"none": []}).splitlines()[-1].strip() == "# none: no steps"


sizes = st.lists(st.integers(0, 2**40), max_size=200)


@settings(deadline=None, max_examples=60)
@forall(st.dictionaries(st.text(max_size=20), sizes, max_size=4), st.none() | st.integers(0, 2**41))
def test_any_curves_are_drawn(curves: dict[str, list[int]], budget: int | None) -> None:
    """As XML with finite numbers, and as text of some width."""
    svg = curve_svg(curves, budget_bytes=budget)
    ElementTree.fromstring(svg)

    assert not_finite(svg) == []
    drawn = curve_text(curves, budget_bytes=budget).split("\n")[:12]
    assert all(len(line) <= 84 for line in drawn)
