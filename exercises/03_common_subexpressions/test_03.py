"""Exercise 3: what the pass `merge` must do."""

from contextlib import redirect_stdout
from io import StringIO

import numpy as np

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_conformance.programs import generate
from byparts_graph_ir import Graph, Input, Pass, TensorType, parse, verify
from byparts_optimize import merge as ours
from byparts_opset.evaluate import evaluate
from byparts_runtime import build


def merged(student, text):
    return verify(student.merge(parse(f"(%x: f32[2,2]) {{ {text} }}")))


def names(graph):
    return [node.op.name for node in graph.nodes]


def test_once(student):
    """Two equal nodes become one."""
    graph = merged(student, "%1: f32[2,2] = exp(%x) %2: f32[2,2] = exp(%x) return %1, %2")
    assert names(graph) == ["exp"], f"exp(x) stands there twice, and {names(graph)} is left"


def test_readers(student):
    """Readers of merged values are merged, however long the chain."""
    graph = merged(student, "%1: f32[2,2] = exp(%x) %2: f32[2,2] = exp(%x) %3: f32[2,2] = sin(%1) "
                   "%4: f32[2,2] = sin(%2) %5: f32[2,2] = mul(%3, %4) return %5")  # fmt: skip
    assert names(graph) == ["exp", "sin", "mul"], (
        f"sin(exp(x)) stands there twice, and {names(graph)} is left: once the two exp are one, "
        "their readers are equal in their turn"
    )


def test_fields(student):
    """Ops of one kind with other fields are not equal."""
    graph = merged(student, "%1: f32[2] = sum(%x, axes=(0,)) %2: f32[2] = sum(%x, axes=(1,)) return %1, %2")
    assert len(graph.nodes) == 2, "sum(x, axes=(0,)) and sum(x, axes=(1,)) became one: the second sums over another axis"


def test_effects(student):
    """Two equal prints stay two prints."""
    before = parse('(%x: f32[2]) { %1: f32[2] = print(%x, message="here") %2: f32[2] = print(%x, message="here") return %2 }')
    count = names(verify(student.merge(before))).count("print")
    assert count == 2, f"{count} print is left of 2: what has an effect must happen as often as it is written"


def test_random_programs(student):
    """Thirty random programs compute the same, with as few nodes as after the system's merge."""
    for seed in range(30):
        program = generate(seed)
        graph = verify(student.merge(program.graph))
        most = len(ours(program.graph).nodes)
        assert len(graph.nodes) <= most, f"random program {seed}: {most} nodes are enough for {graph}"
        for a, b in zip(*[results(g, program.arrays) for g in (program.graph, graph)], strict=True):
            assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), (
                f"random program {seed} gives {b}, and gave {a} before: {program.graph}"
            )


def results(graph, arrays):
    with redirect_stdout(StringIO()), np.errstate(all="ignore"):
        return evaluate(graph, *arrays)


def test_in_build(student):
    """A program that `build` makes with your pass has fewer steps and gives the same numbers."""
    graph, arrays = training_step()
    plain, yours = (build(graph, passes=p) for p in ((), (Pass("yours", student.merge),)))
    assert len(yours.steps) < len(plain.steps), f"{len(plain.steps)} steps, and {len(yours.steps)} with your pass"
    for a, b in zip(plain(*arrays), yours(*arrays), strict=True):
        assert np.array_equal(a, b), f"a result of the training step is {b}, and was {a}"


def training_step():
    shapes = {"x": (8, 6), "t": (8, 2), "w": (6, 16), "v": (16, 2)}
    x, t, w, v = (Input(TensorType("f32", s), name=name) for name, s in shapes.items())
    error = ops.tanh(ops.gelu(x @ w) @ v) - t
    loss = ops.mean(error * error)
    news = [u - 0.1 * du for u, du in zip((w, v), gradients(loss, (w, v)), strict=True)]
    random = np.random.default_rng(0)
    return Graph.of((x, t, w, v), (loss, *news)), [random.normal(size=s).astype("f4") for s in shapes.values()]
