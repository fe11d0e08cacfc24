"""What is added to a product of matrices is added as it is computed, where a backend can."""

from __future__ import annotations

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, Node, TensorType, Value, verify
from byparts_opset.accumulate import accumulate
from byparts_opset.evaluate import evaluate


def f32(name: str, *shape: int) -> Input:
    return Input(TensorType("f32", shape), None, name)


def as_large(c: TensorType, product: Node) -> bool:
    """Stands for a backend that adds what is as large as the product."""
    return c == product.outputs[0].type


def accumulated(inputs: list[Input], *outputs: Value) -> list[str]:
    """Names of the ops after the pass, whose values are those before."""
    before = Graph.of(inputs, outputs)
    after = verify(accumulate(before, as_large))
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(v.type.dims).astype("float32") for v in inputs]
    for got, want in zip(evaluate(after, *arrays), evaluate(before, *arrays), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    return [n.op.name for n in after.nodes]


def test_a_sum_of_products_is_one_call_each() -> None:
    x, w = f32("x", 3, 4), f32("w", 4, 2)

    assert accumulated([x, w], x @ w + (x + x) @ w) == ["matmul", "add", "add_matmul"]


def test_a_product_is_taken_away_but_nothing_from_it() -> None:
    x, w, c = f32("x", 3, 4), f32("w", 4, 2), f32("c", 3, 2)

    assert accumulated([x, w, c], c - x @ w) == ["add_matmul"]
    assert accumulated([x, w, c], x @ w - c) == ["matmul", "sub"]


def test_the_backend_says_what_it_adds() -> None:
    x, w, b = f32("x", 3, 4), f32("w", 4, 2), f32("b", 2)

    assert accumulated([x, w, b], x @ w + b) == ["matmul", "add"]


def test_a_product_that_is_read_twice_stays() -> None:
    x, w, c = f32("x", 3, 4), f32("w", 4, 2), f32("c", 3, 2)
    y = x @ w

    assert accumulated([x, w, c], y + c, ops.tanh(y)) == ["matmul", "add", "tanh"]
    assert accumulated([x, w, c], y + c, y) == ["matmul", "add"]


def test_gradient_descent_by_a_product_is_the_product() -> None:
    """The rate is known; the other weight keeps an op of its own."""
    x, w, b = f32("x", 3, 4), f32("w", 3, 4), f32("b", 4)
    dw = ops.matmul(x, x, transpose_a=True)
    square = f32("square", 4, 4)
    new = ops.gradient_descent((square, b), (dw, b * 2.0), 0.5)

    names = accumulated([x, square, b], *new)

    assert sorted(n for n in names if n not in ("mul", "fill")) == [
        "add_matmul",
        "gradient_descent",
    ]
    assert accumulated([w, x], w + x) == ["add"]
