"""Graphs go to other processes, and are copied as what never changes."""

from __future__ import annotations

import copy
import pickle

import pytest
from toy_ops import chain, given, neg, nest, small

from byparts_graph_ir import Graph, Input


@pytest.mark.parametrize("graph", [small(), nest(5), chain(20_000), Graph((), (), ())])
def test_a_graph_comes_back_equal(graph: Graph) -> None:
    """However long it is; and what is nested in it."""
    again = pickle.loads(pickle.dumps(graph))

    assert again == graph and again is not graph
    assert [n.where for n in again.nodes] == [n.where for n in graph.nodes]


def test_names_and_lines_come_with_it() -> None:
    x = given("image", 2)
    assert isinstance(x, Input)

    (y,) = pickle.loads(pickle.dumps(Graph.of([x], [neg(x)]))).inputs
    assert (y.name, y.where) == ("image", x.where) and x.where


def test_a_copy_is_the_thing_itself() -> None:
    """It never changes; and a copied value would be another value, which no node has made."""
    graph = small()
    for thing in (graph, graph.inputs[0], graph.nodes[0], graph.outputs[0]):
        assert copy.copy(thing) is thing
        assert copy.deepcopy([thing])[0] is thing


def test_a_value_or_node_alone_is_not_pickled() -> None:
    graph = small()
    for thing in (graph.inputs[0], graph.nodes[0], graph.outputs[0]):
        with pytest.raises(TypeError, match=f"^{type(thing).__name__} alone cannot be pickled.*Gr"):
            pickle.dumps(thing)
