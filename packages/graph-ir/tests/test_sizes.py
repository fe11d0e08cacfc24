"""Tests of numbers in the place of named dimensions."""

from __future__ import annotations

import pytest
from toy_ops import add

from byparts_graph_ir import Graph, Input, Op, ShapeError, TensorType, Types, unify
from byparts_graph_ir.passes.sizes import NamedGraph, is_sized


class Claim(Op):
    """The input, said to be of a shape."""

    shape: tuple[int | str, ...]
    shape_fields = ("shape",)

    def infer(self, x: TensorType) -> Types:
        return (unify(x, TensorType(x.dtype, self.shape)),)


def test_numbers_take_the_place_of_names() -> None:
    x = Input(TensorType("f32", ("n", 4)), name="x")

    sized = NamedGraph(Graph.of([x], [add(x, x)])).at({"n": 7})

    assert [v.type for v in sized.values] == [TensorType("f32", (7, 4))] * 2


def test_a_name_in_a_field_alone_is_checked_at_each_size() -> None:
    """A rule may find what a name must be, and then no type of the node has the name."""
    x, y = (Input(TensorType("f32", d), name=k) for k, d in (("x", ("n",)), ("y", (3,))))
    claimed = Claim(("n",))(y)
    named = NamedGraph(Graph.of([x, y], [x, claimed]))

    assert claimed.type == TensorType("f32", (3,))
    assert not is_sized(named.graph.nodes[0])
    assert named.at({"n": 3}).outputs[1].type == TensorType("f32", (3,))
    with pytest.raises(ShapeError):
        named.check({"n": 5})
