"""Where nodes come from: lines, lent lines, scopes."""

from __future__ import annotations

from typing import Any

import pytest
from toy_ops import OPS, given, neg

from byparts_graph_ir import Graph, GraphError, Node, inherit, parse, scope


def where(node: Node | None) -> str:
    assert node is not None
    return node.where.rpartition("/tests/")[2]


def test_a_scope_stands_behind_the_line() -> None:
    """Nested ones as a path; outside there is none."""
    x = given("x", 2)
    with scope("encoder"), scope("attention"):
        y = neg(x)
    z = neg(y)

    assert where(y.node).partition(" in ")[2] == "encoder/attention"
    assert " in " not in where(z.node)


def test_a_lent_line_stays_as_it_is() -> None:
    """A pass inside a scope gives nodes the line and the scope of those that they replace."""
    with scope("outer"), inherit("train.py:41 in model"):
        y = neg(given("x", 2))

    assert where(y.node) == "train.py:41 in model"


def test_a_scope_is_part_of_the_text() -> None:
    x = given("x", 2)
    with scope("encoder"):
        graph = Graph.of((x,), (neg(x),))

    again = parse(str(graph), OPS)

    assert where(again.nodes[0]) == where(graph.nodes[0])
    assert again.nodes[0].where.endswith(" in encoder")


@pytest.mark.parametrize("name", ["", "two words", "line\n", 3, None])
def test_a_scope_has_a_name(name: Any) -> None:
    with pytest.raises(GraphError, match=r"scope: .* is no name; use one without blanks"):
        scope(name)
