"""What torch has as one call is joined, and nothing else; the program means the same.  No torch."""

from __future__ import annotations

import numpy as np
import pytest

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, TensorType, Value, verify
from byparts_kernels_torch.join import join
from byparts_opset.evaluate import evaluate


def f32(name: str, *shape: int, dtype: str = "f32") -> Input:
    return Input(TensorType(dtype, shape), None, name)


def joined(inputs: list[Input], *outputs: Value) -> list[str]:
    """Names of the ops after the pass, whose values are those before."""
    before = Graph.of(inputs, outputs)
    after = verify(join(before))
    rng = np.random.default_rng(0)
    arrays = [
        rng.standard_normal(v.type.dims).astype(v.type.dtype.replace("f", "float")) for v in inputs
    ]
    for got, want in zip(evaluate(after, *arrays), evaluate(before, *arrays), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    return [n.op.name for n in after.nodes]


def test_a_bias_is_added_with_the_product() -> None:
    x, w, b = f32("x", 3, 4), f32("w", 4, 2), f32("b", 2)

    assert joined([x, w, b], x @ w + b) == ["add_matmul"]
    assert joined([x, w, b], b + x @ w) == ["add_matmul"]


def test_a_product_is_taken_away() -> None:
    x, w, c = f32("x", 3, 4), f32("w", 4, 2), f32("c", 3, 2)

    assert joined([x, w, c], c - x @ w) == ["add_matmul"]
    assert joined([x, w, c], x @ w - c) == ["matmul", "sub"]


def test_products_are_added_up() -> None:
    """A sum of gradients over time: each is added as it is made."""
    x, w = f32("x", 3, 4), f32("w", 4, 2)

    assert joined([x, w], x @ w + (x + x) @ w) == ["matmul", "add", "add_matmul"]


def test_a_product_that_is_read_twice_stays() -> None:
    x, w, b = f32("x", 3, 4), f32("w", 4, 2), f32("b", 2)
    y = x @ w

    assert joined([x, w, b], y + b, ops.tanh(y)) == ["matmul", "add", "tanh"]


def test_a_product_that_is_an_output_stays() -> None:
    x, w, b = f32("x", 3, 4), f32("w", 4, 2), f32("b", 2)
    y = x @ w

    assert joined([x, w, b], y + b, y) == ["matmul", "add"]


def test_a_product_that_grows_in_the_sum_stays() -> None:
    """`addmm` repeats what is added, not the product."""
    x, w, c = f32("x", 1, 4), f32("w", 4, 2), f32("c", 3, 2)

    assert joined([x, w, c], x @ w + c) == ["matmul", "add"]


def test_batches_of_matrices_stay() -> None:
    x, w, c = f32("x", 2, 3, 4), f32("w", 2, 4, 2), f32("c", 2)

    assert joined([x, w, c], x @ w + c) == ["matmul", "add"]


def test_elements_are_multiplied_and_added_in_one() -> None:
    x, y, c = f32("x", 3, 4), f32("y", 4), f32("c", 3, 1)

    assert joined([x, y, c], c + x * y) == ["add_mul"]
    assert joined([x, y, c], c - x * y) == ["add_mul"]
    assert joined([x, y, c], x * y - c) == ["mul", "sub"]


@pytest.mark.parametrize("dtype", ["f16", "i32"])
def test_elements_of_other_types_stay(dtype: str) -> None:
    """Half types would be rounded once instead of twice; of integers torch has no such call."""
    x, c = f32("x", 3, dtype=dtype), f32("c", 3, dtype=dtype)
    graph = Graph.of([x, c], [c + x * x])

    assert join(graph) == graph


def test_a_gradient_that_is_a_product_goes_into_the_weight() -> None:
    """The weight's is never in memory; the bias's is a sum, and stays."""
    x, w, b = f32("x", 3, 4), f32("w", 4, 2), f32("b", 2)
    loss = ops.sum(ops.square(x @ w + b))
    new = ops.gradient_descent((w, b), gradients(loss, (w, b)), 0.5)

    names = joined([x, w, b], *new)

    assert sorted(names[-2:]) == ["add_matmul", "gradient_descent"]
    assert "matmul" not in names


def test_a_rate_that_is_not_known_leaves_the_step_alone() -> None:
    x, w, rate = f32("x", 3, 4), f32("w", 4, 2), f32("rate")
    dw = ops.transpose(x) @ (x @ w)

    assert joined([x, w, rate], *ops.gradient_descent((w,), (dw,), rate))[-1] == "gradient_descent"


def test_a_pool_keeps_where_its_maxima_were() -> None:
    x = f32("x", 1, 2, 4, 4)
    y = ops.max_pool(ops.tanh(x), (2, 2), (2, 2))
    (dx,) = gradients(ops.sum(ops.square(y)), (x,))
    names = joined([x], y, dx)

    assert {"max_pool_indices", "max_pool_scatter"} <= set(names)
    assert not {"max_pool", "max_pool_gradient"} & set(names)


def test_a_pool_without_a_gradient_stays() -> None:
    x = f32("x", 1, 2, 4, 4)

    assert joined([x], ops.max_pool(x, (2, 2), (2, 2))) == ["max_pool"]


def test_the_largest_weight_is_stepped_by_itself() -> None:
    """If its gradient is a product, which the runtime then computes late."""
    x, w, b = f32("x", 3, 4), f32("w", 4, 20), f32("b", 20)
    loss = ops.sum(ops.square(x @ w + b))
    slots = [f32(f"{s}{v.name}", *v.type.dims) for s in "mv" for v in (w, b)]
    new = ops.adam((w, b), slots[:2], slots[2:], gradients(loss, (w, b)), 0.1, 1.0)
    graph = Graph.of([x, w, b, *slots], [v for row in new for v in row])

    steps = [n for n in join(graph).nodes if n.op.name == "adam"]

    assert [len(n.outputs) for n in steps] == [3, 3]
    assert {n.inputs[0] for n in steps} == {b, w}


def heads(x: Value) -> Value:
    """Two heads of the rows of a projection."""
    b, s, width = x.type.dims
    return ops.transpose(ops.reshape(x, (b, s, 2, width // 2)), (0, 2, 1, 3))


def test_attention_reads_rows_and_turns_nothing() -> None:
    """Forward and backward; what is turned back was never turned."""
    rows = [f32(name, 2, 3, 4) for name in "qkv"]
    q, k, v = map(heads, rows)
    y = ops.transpose(ops.attention(q, k, v, causal=True), (0, 2, 1, 3))
    loss = ops.sum(ops.square(ops.reshape(y, (2, 3, 4))))

    names = joined([*rows], loss, *gradients(loss, tuple(rows)))

    assert {"attention_rows", "attention_rows_gradient"} <= set(names)
    assert not {"attention", "attention_gradient", "transpose"} & set(names)


@pytest.mark.parametrize("lead", [(), (3,), (2, 3, 4)])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_of_another_rank_than_4_stays(lead: tuple[int, ...], causal: bool) -> None:
    """Rows that are turned have four axes."""
    q, k, v = f32("q", *lead, 5, 2), f32("k", *lead, 6, 2), f32("v", *lead, 6, 3)
    y = ops.attention(q, k, v, causal=causal)
    names = joined([q, k, v], y, *gradients(ops.sum(y * y), [q, k, v]))

    assert "attention" in names and "attention_gradient" in names


def test_attention_of_heads_that_were_not_turned_stays() -> None:
    q, k, v = (f32(name, 2, 2, 3, 4) for name in "qkv")

    assert joined([q, k, v], ops.attention(q, k, v)) == ["attention"]
