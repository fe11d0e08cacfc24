"""Of ops with bodies: an effect inside is an effect, and passes enter by one means."""

from __future__ import annotations

from typing import TypeAlias

import pytest
from toy_ops import Call, Neg, add, f32, given, names, neg, shout

from byparts_graph_ir import (
    Graph,
    GraphError,
    Node,
    Op,
    TensorType,
    Types,
    VerifyError,
    has_effect,
    map_bodies,
    verify,
)
from byparts_graph_ir.model.bodies import body_fields, way_to

Many: TypeAlias = tuple[tuple[Graph, ...], ...]


class Choice(Op):
    branches: Many
    note: str = ""
    sizes: tuple[int, ...] = ()

    def infer(self, *types: TensorType) -> Types:
        return types


class Mute(Op):
    effect = True

    def infer(self, x: TensorType) -> Types:
        return ()


def shouting() -> Graph:
    x = given("x", 2)
    return Graph.of((x,), (neg(x),), order=(shout(x),))


def quiet() -> Graph:
    x = given("x", 2)
    return Graph.of((x,), (neg(x),))


def calling(body: Graph, levels: int) -> Graph:
    for _ in range(levels):
        x = given("x", 2)
        body = Graph.of((x,), (Call(body)(x),))
    return body


def test_an_effect_inside_is_an_effect() -> None:
    """However deep; and a graph without one has none."""
    assert has_effect(shout.__class__())
    assert has_effect(Call(calling(shouting(), 3)))
    assert has_effect(Choice(((quiet(),), (shouting(),))))
    assert not has_effect(Call(calling(quiet(), 3)))
    assert not has_effect(neg)


def test_an_effect_in_a_thousand_graphs_is_seen() -> None:
    """Depth costs no stack."""
    assert has_effect(Call(calling(shouting(), 1000)))


def test_a_call_that_shouts_is_kept() -> None:
    """Nobody reads what it gives, and still it runs."""
    x = given("x", 2)
    heard, unheard = Call(shouting())(x), Call(quiet())(x)

    graph = Graph.of((x,), (neg(x),), order=(heard, unheard))

    assert [node.op for node in graph.nodes] == [Call(shouting()), neg]
    assert graph.rewrite(lambda node: None) == graph


def test_plain_fields_are_not_looked_at() -> None:
    """Annotations say which fields may hold a graph; a name that says nothing may."""
    assert body_fields(Neg) == ()
    assert body_fields(Choice) == ("branches",)


def test_bodies_are_mapped_where_they_stand() -> None:
    """In tuples too; and an op whose bodies do not change is the same op."""
    op = Choice(((quiet(),), (shouting(), quiet())), "note", (1,))

    mapped = map_bodies(op, lambda g: quiet())

    assert mapped == Choice(((quiet(),), (quiet(), quiet())), "note", (1,))
    assert map_bodies(op, lambda g: g) is op
    assert map_bodies(neg, lambda g: quiet()) is neg


def test_an_error_inside_names_the_way() -> None:
    """Innermost first, as notes are read."""

    def fail(graph: Graph) -> Graph:
        if "call" not in names(graph):
            raise GraphError("no")
        return graph.rewrite(lambda n: map_bodies(n.op, fail).outputs_of(*n.inputs))

    with pytest.raises(GraphError) as caught:
        fail(calling(quiet(), 2))

    assert caught.value.__notes__ == ["in body of call", "in body of call"]  # type: ignore[attr-defined]


def test_verify_names_the_way_and_refuses_silent_effects() -> None:
    """G6 says in which body; G8 asks for an output."""
    x = given("x", 2)
    broken = Graph((x,), (), (add(x, x),))
    graph = calling(broken, 2)
    mute = Graph((x,), (Node(Mute(), (x,)),), (x,))

    assert way_to(graph, broken) == "body of call in body of call"
    with pytest.raises(VerifyError, match=r"^G6: in body of call in body of call: G3"):
        verify(graph)
    with pytest.raises(VerifyError, match=r"^G8: node 0 \(mute\) .* has an effect and no output"):
        verify(mute)
    with pytest.raises(VerifyError, match=r"^G6: in branches\[0\]\[0\] of choice: G8"):
        verify(Graph.of((x,), (Choice(((mute,),))(x),)))


def test_types_of_bodies_print() -> None:
    """A call is typed by its body."""
    assert Call(quiet())(given("x", 2)).type == f32(2)
