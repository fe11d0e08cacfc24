"""The graph: identity of nodes, content of graphs, order, dead code, rewriting."""

from __future__ import annotations

from typing import Any

import pytest
from toy_ops import (
    Add,
    Call,
    Halves,
    Neg,
    Scale,
    Shout,
    add,
    chain,
    f32,
    given,
    names,
    neg,
    nest,
    shout,
    small,
)

from byparts_graph_ir import (
    ArgumentError,
    Graph,
    GraphError,
    Node,
    ShapeError,
    Value,
    subgraphs,
)


def test_equal_programs_are_equal_and_hash_alike() -> None:
    """Two graphs built separately compare by content, whatever their inputs are called."""
    x, y = given("left", 2), given("right", 2)
    other = Graph.of((x, y), (neg(add(x, y)),))

    assert other == small() and hash(other) == hash(small())


def test_wiring_types_attributes_and_order_are_content() -> None:
    """Whatever changes what runs, or when, makes another graph."""
    x, y = given("x", 2), given("y", 2)
    a, b = neg(x), neg(y)
    graphs = [
        Graph.of((x, y), (add(a, b),)),
        Graph.of((x, y), (add(b, a),)),
        Graph.of((x, y), (add(a, b),), order=(b, a)),
        Graph.of((x, y), (Scale(2.0)(x),)),
        Graph.of((x, y), (Scale(-2.0)(x),)),
        Graph.of((x, y), (Scale(0.0)(x),)),
        Graph.of((x, y), (Scale(-0.0)(x),)),
    ]

    assert len({g.digest for g in graphs}) == len(graphs)


def test_two_equal_nodes_stay_two() -> None:
    """Nodes compare by identity: two draws are two draws."""
    x = given("x", 2)

    assert neg(x).node != neg(x).node
    assert names(Graph.of((x,), (add(neg(x), neg(x)),))) == ["neg", "neg", "add"]


def test_dead_code_falls_away_and_effects_stay() -> None:
    """Only what an output or an effect needs is kept, in the order given."""
    x = given("x", 2)
    dead, said = neg(x), shout(neg(neg(x)))
    graph = Graph.of((x,), (Scale()(x),), order=(dead, said))

    assert names(graph) == ["neg", "neg", "shout", "scale"]


def test_outputs_need_their_inputs() -> None:
    """A value from nowhere is an error that says which and where it was made."""
    x, y = given("x", 2), given("weights", 2)

    with pytest.raises(
        GraphError, match=r"value 'weights' \(made at .*toy_ops.py:\d+\) of type f32\[2\]"
    ):
        Graph.of((x,), (add(x, y),))


def test_rewrite_sees_rewritten_inputs_and_shares_the_rest() -> None:
    """-(-x) = x reaches through what the same sweep already changed; untouched nodes are the same."""
    x, y = given("x", 2), given("y", 2)
    kept = Scale(3.0)(y)
    graph = Graph.of((x, y), (neg(neg(neg(neg(x)))), kept))

    def rule(node):  # type: ignore[no-untyped-def]
        inner = node.inputs[0].node
        if isinstance(node.op, Neg) and inner is not None and isinstance(inner.op, Neg):
            return inner.inputs
        return None

    after = graph.rewrite(rule)
    assert after == Graph.of((x, y), (x, kept)) and after.nodes[0] is kept.node


def test_new_nodes_carry_the_line_of_the_old() -> None:
    """What a pass makes still names the user's line."""
    graph = small()
    after = graph.rewrite(lambda n: (Scale()(n.inputs[0]),) if isinstance(n.op, Neg) else None)

    assert [n.where for n in after.nodes] == [n.where for n in graph.nodes]
    assert "toy_ops.py:" in after.nodes[1].where


def test_multiple_outputs() -> None:
    """A node gives all its outputs at once; calling it for one is an error that says how."""
    x = given("x", 5)

    assert [v.type for v in Halves().outputs_of(x)] == [f32(2), f32(3)]
    with pytest.raises(GraphError, match=r"halves has 2 outputs: use .outputs_of"):
        Halves()(x)


def test_nn_sym_3_too_few_inputs() -> None:
    """NNVM row: one input of two is an error that names them."""
    with pytest.raises(GraphError, match=r"add: takes the inputs \(x, y\), got 1: f32\[2\]"):
        Add()(given("x", 2))


def test_wrong_shapes_name_the_users_line() -> None:
    """The shape error of a node carries where it was made."""
    with pytest.raises(ShapeError, match=r"add: x is f32\[2\] and y is f32\[3\]") as caught:
        add(given("x", 2), given("y", 3))
    assert "test_graph.py:" in str(getattr(caught.value, "__notes__", caught.value.args))


def test_nn_sym_5_a_graph_cannot_be_edited() -> None:
    """NNVM row: a copy is independent; here nothing can change, so none is needed."""
    with pytest.raises(AttributeError, match=r"cannot assign"):
        small().nodes[0].inputs = ()


def test_values_have_no_truth_and_no_arithmetic_of_their_own() -> None:
    """What would silently go wrong in Python says so."""
    x = given("x", 2)
    with pytest.raises(GraphError, match="has no truth until the program runs"):
        bool(x)
    with pytest.raises(GraphError, match="cannot be iterated"):
        list(x)


@pytest.mark.long
def test_depth_costs_no_stack() -> None:
    """A chain of 30 000 nodes and graphs nested 5 000 deep are built, compared and rewritten."""
    assert chain(30_000) == chain(30_000).rewrite(lambda node: None)
    assert nest(5_000) == nest(5_000)


def test_subgraphs_are_found_in_fields() -> None:
    """A closed graph is an attribute like any other."""
    assert subgraphs(Call(small())) == (small(),)


def test_effects_are_not_merged_by_identity() -> None:
    """Two equal shouts are two."""
    x = given("x", 2)
    graph = Graph.of((x,), (x,), order=(shout(x), shout(x)))

    assert [type(n.op) for n in graph.nodes] == [Shout, Shout]


def test_ids_are_dense() -> None:
    """Inputs first, then outputs of nodes in order."""
    graph = small()
    values: tuple[Value, ...] = graph.values

    assert [graph.ids[v] for v in values] == [0, 1, 2, 3]


def test_a_graph_that_verify_would_refuse_is_not_built() -> None:
    """G1: inputs are listed once, and no node makes them; and all are values."""
    x = given("x", 2)
    y = add(x, x)

    with pytest.raises(GraphError, match=r"Graph.of: input 'x' of type f32\[2\] is listed twice"):
        Graph.of([x, x], [y])
    with pytest.raises(GraphError, match=r"Graph.of: input 0 of type f32\[2\] is made by add"):
        Graph.of([y], [y])
    with pytest.raises(ArgumentError, match=r"Graph.of: inputs is Input.*; give a list"):
        Graph.of(x, [y])
    with pytest.raises(ArgumentError, match=r"Graph.of: outputs\[0\] is no value: NoneType None"):
        Graph.of([x], [None])  # type: ignore[list-item]
    with pytest.raises(ArgumentError, match="add: an input is no value: int 1"):
        Node(add, (x, 1))  # type: ignore[arg-type]


def test_a_rule_that_gives_something_else_is_named() -> None:
    x = given("x", 2)
    graph = Graph.of([x], [add(x, x)])

    def forgets(node: Node) -> Any:
        return node.inputs  # two values for one output

    with pytest.raises(GraphError, match=r"rewrite: the rule forgets gave .* a tuple of 1 values"):
        graph.rewrite(forgets)


def test_a_repr_is_short() -> None:
    """Of a graph its counts; of a node no more than its own op and types."""
    x = given("x", 2)
    y: Value = x
    for _ in range(1000):
        y = add(y, x)
    graph = Graph.of([x], [y])

    assert repr(graph) == "<Graph: 1 input, 1000 nodes, 1 output>"
    assert len(repr(y)) < 100 and len(repr(y.node)) < 250


def test_a_graph_shows_itself_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a picture, where some part draws one, and with its text where it is large."""
    from byparts_graph_ir.parts.hub import parts

    graph = small()
    monkeypatch.setattr(parts, "names", lambda kind: ("svg",))
    monkeypatch.setattr(parts, "get", lambda kind, name: lambda graph, layout: f"<svg>{layout}")
    assert graph._repr_svg_() == "<svg>rows"
    monkeypatch.setattr(parts, "names", lambda kind: ())
    assert graph._repr_svg_() is None
