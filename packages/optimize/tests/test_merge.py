"""Equal pure expressions are computed once; what has an effect, or another bit, is not equal."""

from __future__ import annotations

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, Op, TensorType, Types, parse
from byparts_optimize import merge


def merged(text: str) -> str:
    return str(merge(parse(text, ops.OPS)))


def names(graph: Graph) -> list[str]:
    return [n.op.name for n in graph.nodes]


def test_equal_expressions_are_computed_once() -> None:
    """Also those that are equal only after their inputs were merged."""
    before = """(%x: f32[2]) {
      %1: f32[2] = exp(%x)
      %2: f32[2] = exp(%x)
      %3: f32[2] = tanh(%1)
      %4: f32[2] = tanh(%2)
      return %3, %4
    }"""

    assert merged(before) == "\n".join(
        (
            "(%x: f32[2]) {",
            "  %1: f32[2] = exp(%x)",
            "  %2: f32[2] = tanh(%1)",
            "  return %2, %2",
            "}",
        )
    )


def test_attributes_count() -> None:
    """Sums over different axes are different."""
    before = """(%x: f32[2,2]) {
      %1: f32[2] = sum(%x, axes=(0,))
      %2: f32[2] = sum(%x, axes=(1,))
      return %1, %2
    }"""

    assert names(merge(parse(before, ops.OPS))) == ["sum", "sum"]


def test_merge_keeps_effects() -> None:
    """Two equal prints stay two prints, and what reads them stays two."""
    before = """(%x: f32[2]) {
      %1: f32[2] = print(%x, message='x')
      %2: f32[2] = print(%x, message='x')
      %3: f32[2] = exp(%1)
      %4: f32[2] = exp(%2)
      return %3, %4
    }"""

    assert names(merge(parse(before, ops.OPS))) == ["print", "print", "exp", "exp"]


def test_a_draw_with_one_key_is_one_draw() -> None:
    """Randomness is a function of its key and counter; another counter is another draw."""
    key = Input(TensorType("i64", ()), None, "key")
    draws = [ops.random_uniform(key, c, (2,)) for c in (0, 0, 1)]

    graph = merge(Graph.of([key], draws))

    assert names(graph).count("random_uniform") == 2


class Scale(Op):
    """y = x * by."""

    by: float

    def infer(self, x: TensorType) -> Types:
        return (x,)


def test_a_field_of_another_bit_is_another_op() -> None:
    """0.0 == -0.0 to Python, and not to us: their reciprocals are far apart."""
    x = Input(TensorType("f32", (2,)))

    graph = merge(Graph.of([x], [Scale(0.0)(x), Scale(-0.0)(x), Scale(0.0)(x)]))

    assert [str(n.op) for n in graph.nodes] == ["Scale(by=0.0)", "Scale(by=-0.0)"]


class Quietly(Op):
    """y = body(x)."""

    body: Graph

    def infer(self, x: TensorType) -> Types:
        return (x,)


def test_an_effect_inside_is_an_effect() -> None:
    """Two equal ops whose graphs print are not merged; two that do not are, and inside as well."""
    x, inner = Input(TensorType("f32", (2,))), Input(TensorType("f32", (2,)))
    loud = Quietly(Graph.of([inner], [ops.print_value(inner)]))
    mute = Quietly(Graph.of([inner], [ops.exp(inner) + ops.exp(inner)]))

    assert len(merge(Graph.of([x], [loud(x), loud(x)])).nodes) == 2
    (node,) = merge(Graph.of([x], [mute(x), mute(x)])).nodes
    assert isinstance(node.op, Quietly)
    assert names(node.op.body) == ["exp", "add"]
