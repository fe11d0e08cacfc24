"""Bytes against cost: as text and as a picture."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

from hypothesis import given as forall, settings, strategies as st

from byparts_recompute import tradeoff_svg, tradeoff_text
from byparts_recompute.undominated import stairs

SVG = "{http://www.w3.org/2000/svg}"
OURS = {"ours": [(100, 0.0), (60, 0.01), (25, 0.3), (30, 0.4)]}
THEIRS = {"min-cut": [(100, 0.0), (70, 0.1)], "Chen": [(40, 0.33)]}
costs = st.lists(st.tuples(st.integers(0, 2**40), st.floats(0, 100)), max_size=20)


def not_finite(svg: str) -> list[str]:
    """The attributes with NaN or an infinity in them; the words, which may say "inf", are text."""
    attributes = [v for e in ElementTree.fromstring(svg).iter() for v in e.attrib.values()]
    return [v for v in attributes if re.search(r"(^|[^a-z])(nan|inf)", v, re.ASCII)]


def words(svg: str) -> list[str]:
    return [t.text or "" for t in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_a_tradeoff_is_stairs_and_baselines_are_letters() -> None:
    expected = """\
100 B |a
      | ######a##############
      |                        b
      |                      ########
  0 B |
       extra cost 0 to 40 %
       # ours
       a min-cut
       b Chen"""

    assert tradeoff_text(OURS, baselines=THEIRS, width=30, height=5) == expected


def test_what_costs_more_and_saves_nothing_is_no_stair() -> None:
    assert stairs(OURS["ours"]) == [(100, 0.0), (60, 0.01), (25, 0.3)]


def test_the_tradeoff_as_a_picture() -> None:
    """Points can be hovered."""
    svg = tradeoff_svg(OURS, baselines=THEIRS, log=True)
    tips = [t.text for t in ElementTree.fromstring(svg).iter(f"{SVG}title")]

    assert "min-cut: 70 B at 10 % extra" in tips
    assert {"ours", "min-cut", "Chen"} <= set(words(svg))


@settings(deadline=None, max_examples=60)
@forall(
    st.dictionaries(st.text(max_size=9), costs, max_size=3),
    st.dictionaries(st.text(max_size=9), costs, max_size=3),
    st.booleans(),
)
def test_any_tradeoff_is_drawn(
    curves: dict[str, list[tuple[int, float]]],
    baselines: dict[str, list[tuple[int, float]]],
    log: bool,
) -> None:
    svg = tradeoff_svg(curves, baselines=baselines, log=log)
    ElementTree.fromstring(svg)

    assert not_finite(svg) == []
    assert tradeoff_text(curves, baselines=baselines, log=log)


def test_no_points_are_a_picture_too() -> None:
    """No division by 0."""
    for svg in (tradeoff_svg({}), tradeoff_svg({"none": []})):
        ElementTree.fromstring(svg)
    assert "extra cost 0 to 100 %" in tradeoff_text({})
