"""Exercise 6: what the pass `checkpoint(graph, layers)` must do."""

from math import isqrt

import numpy as np

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, Pass, TensorType, producers, verify
from byparts_memplan import peak_bytes
from byparts_optimize import optimize
from byparts_runtime import build

ROWS, WIDTH = 512, 8
RESULT_BYTES = ROWS * WIDTH * 4  # of one layer
COUNTS = (16, 64, 144)


def chain(count):
    """A training step of so many layers; its outputs are the loss and new weights."""
    x = Input(TensorType("f32", (ROWS, WIDTH)), name="x")
    weights = [Input(TensorType("f32", (WIDTH, WIDTH)), name=f"w{i}") for i in range(count)]
    y = x
    for w in weights:
        y = ops.tanh(y @ w)
    loss = ops.mean(y)
    news = [w - 0.1 * dw for w, dw in zip(weights, gradients(loss, weights), strict=True)]
    return optimize(Graph.of([x, *weights], [loss, *news], order=[loss, *reversed(news)]))


def checkpointed(student, graph):
    layers = [node.outputs[0] for node in graph.nodes if isinstance(node.op, ops.Tanh)]
    return verify(student.checkpoint(graph, layers))


def results_alive(graph):
    """The most bytes alive at a step, weights aside, as a number of results of layers."""
    return peak_bytes(graph, external=range(1, len(graph.inputs))) / RESULT_BYTES


def work(nodes):
    return sum(n.op.flops(*[v.type for v in n.inputs]) for n in nodes)


def test_one_more_forward_pass(student):
    """The work grows by one forward pass at most."""
    for count in COUNTS:
        before, after = (graph := chain(count)), checkpointed(student, graph)
        (last,) = [n for n in before.nodes if isinstance(n.op, ops.Mean)]
        forward = work(producers(last.inputs))
        more = (work(after.nodes) - work(before.nodes)) / forward
        assert more < 1.01, (
            f"with {count} layers the graph does {more:.1f} forward passes more, and 1 is enough: "
            "compute a layer again once, and remember its result for the next reader"
        )


def test_bytes(student):
    """The results of at most 2 sqrt(n) + 4 layers are alive at any step."""
    for count in COUNTS:
        alive, most = results_alive(checkpointed(student, chain(count))), 2 * isqrt(count) + 4
        assert alive <= most, (
            f"with {count} layers {alive:.1f} results of layers are alive at the fullest step; keeping "
            f"every {isqrt(count)}th, and one stretch between two, makes at most {most}"
        )


def test_not_undone(student):
    """Passes that come later do not undo it."""
    before = chain(64)
    after = optimize(checkpointed(student, before))
    assert results_alive(after) < results_alive(before) / 2, (
        f"after the pass optimize nothing is left of it: {results_alive(after):.1f} results are alive, "
        "as before, since it merges what you compute again with the first time; read kept values "
        "through an OptimizationBarrier"
    )


def test_in_build(student):
    """A program built with your pass gives the same bits in less than half the memory."""
    graph, random = chain(64), np.random.default_rng(0)
    passes = (Pass("yours", lambda graph: checkpointed(student, graph)), "auto")
    plain, yours = build(graph), build(graph, passes=passes)
    assert 2 * yours.plan.arena_bytes < plain.plan.arena_bytes, (
        f"the arena of the program is {yours.plan.arena_bytes:,} bytes, {plain.plan.arena_bytes:,} before"
    )
    arrays = [random.normal(size=v.type.dims).astype("f4") / 2 for v in graph.inputs]
    for a, b in zip(plain(*arrays), yours(*arrays), strict=True):
        assert np.array_equal(a, b), f"an output is {b}, and was {a}: not to the bit"


def show(student):
    """The growth of memory with depth."""
    lines = []
    for count in COUNTS:
        graph = chain(count)
        alive = [results_alive(g) for g in (graph, checkpointed(student, graph))]
        lines.append(f"  {count:>3} layers: {alive[0]:>6.1f} results alive, {alive[1]:>5.1f} with your pass")
    return "\n".join(lines)
