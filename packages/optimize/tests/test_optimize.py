"""Backward programs, optimised, read as one would write them by hand."""

from __future__ import annotations

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, TensorType, Value, parse, specialize
from byparts_optimize import optimize


def f32(name: str, *shape: int | str) -> Input:
    return Input(TensorType("f32", shape), None, name)


def assert_reads(loss: Value, xs: list[Value], inputs: list[Value], text: str) -> None:
    """The optimised program of a loss and its gradients is `text`."""
    got = optimize(Graph.of(inputs, (loss, *gradients(loss, xs))))
    want = parse(text, ops.OPS)
    assert got == want, f"expected\n{want}\ngot\n{got}"


def test_least_squares() -> None:
    """The gradient of a mean is a product with a number, that of a bias one sum."""
    x, w, b, t = f32("x", 32, 7), f32("w", 7, 3), f32("b", 3), f32("t", 32, 3)
    loss = ops.mean((x @ w + b - t) ** 2)

    assert_reads(
        loss,
        [w, b],
        [x, w, b, t],
        """(%x: f32[32,7], %w: f32[7,3], %b: f32[3], %t: f32[32,3]) {
          %4: f32[32,3] = matmul(%x, %w)
          %5: f32[32,3] = add(%4, %b)
          %6: f32[32,3] = sub(%5, %t)
          %7: f32[32,3] = square(%6)
          %8: f32[] = mean(%7)
          %9: f32[] = fill(value=0.02083333395421505)
          %10: f32[32,3] = mul(%6, %9)
          %11: f32[7,3] = matmul(%x, %10, transpose_a=True)
          %12: f32[3] = sum(%10, axes=(0,))
          return %8, %11, %12
        }""",
    )


def test_softmax_regression() -> None:
    """The cross entropy gives its gradient by logits beside its value; one product scales it."""
    x, w, b = f32("x", 32, 7), f32("w", 7, 3), f32("b", 3)
    t = Input(TensorType("i32", (32,)), None, "t")
    loss = ops.mean(ops.sparse_softmax_cross_entropy(x @ w + b, t))

    assert_reads(
        loss,
        [w, b],
        [x, w, b, t],
        """(%x: f32[32,7], %w: f32[7,3], %b: f32[3], %t: i32[32]) {
          %4: f32[32,3] = matmul(%x, %w)
          %5: f32[32,3] = add(%4, %b)
          %6: f32[32], %7: f32[32,3] = sparse_softmax_cross_entropy(%5, %t)
          %8: f32[] = mean(%6)
          %9: f32[] = fill(value=0.03125)
          %10: f32[32,3] = mul(%7, %9)
          %11: f32[7,3] = matmul(%x, %10, transpose_a=True)
          %12: f32[3] = sum(%10, axes=(0,))
          return %8, %11, %12
        }""",
    )


def test_two_layers() -> None:
    """A tanh costs one op on the way back; nothing is transposed or broadcast."""
    x, v, w, dy = f32("x", 32, 7), f32("v", 7, 5), f32("w", 5, 3), f32("dy", 32, 3)
    y = ops.tanh(x @ v) @ w

    graph = optimize(Graph.of([x, v, w, dy], gradients(y, [v, w], dy)))

    forward, backward = ["matmul", "tanh"], ["matmul", "tanh_gradient", "matmul", "matmul"]
    assert sorted(n.op.name for n in graph.nodes) == sorted(forward + backward)


def test_shapes_that_come_late() -> None:
    """Of unknown batch size, then specialised: the same program as if it had been known."""

    def program(n: int | str) -> Graph:
        x, w, b, t = f32("x", n, 7), f32("w", 7, 3), f32("b", 3), f32("t", n, 3)
        loss = ops.mean((ops.relu(x @ w + b) - t) ** 2)
        return Graph.of([x, w, b, t], (loss, *gradients(loss, [w, b])))

    late = optimize(program("n"))
    types = [TensorType("f32", s) for s in ((32, 7), (7, 3), (3,), (32, 3))]

    assert optimize(specialize(late, types)) == optimize(program(32))


def test_second_order_of_a_square_is_a_number() -> None:
    """d2(x x)/dx2 = 2: one node is left of ten."""
    x = f32("x", 4)
    (first,) = gradients(x * x, x)

    assert [n.op for n in optimize(Graph.of([x], gradients(first, x))).nodes] == [
        ops.Fill(2.0, "f32", (4,))
    ]
