from contextlib import redirect_stdout
from io import StringIO

import numpy as np

from byparts import autodiff, ops, optimize
from byparts_conformance.programs import generate
from byparts_graph_ir import Graph, Pass, parse, verify
from byparts_opset.evaluate import evaluate
from byparts_runtime import build
from exercise import same, values


def left(student, text):
    """The names of the ops that are left of a program."""
    graph = verify(student.merge(parse(f"(%x: f32[2,2]) {{ {text} }}")))
    return [node.op.name for node in graph.nodes]


def test_readers(student):
    """Equal nodes become one, and then their readers, however long the chain."""
    exp, sin = "%1: f32[2,2] = exp(%x) %2: f32[2,2] = exp(%x)", "%3: f32[2,2] = sin(%1)"
    names = left(student, f"{exp} {sin} %4: f32[2,2] = sin(%2) return %3, %4")
    sentence = "once the two exp are one, their readers are equal in their turn"
    assert names == ["exp", "sin"], f"sin(exp(x)) is there twice, and {names} is left: {sentence}"


def test_fields(student):
    """Ops of one kind with other fields are not equal."""
    sums = "%1: f32[2] = sum(%x, axes=(0,)) %2: f32[2] = sum(%x, axes=(1,))"
    sentence = "sum(x, axes=(0,)) replaces sum(x, axes=(1,)), which sums over another axis"
    assert len(left(student, f"{sums} return %1, %2")) == 2, sentence


def test_effects(student):
    """Two equal prints stay two prints."""
    names = left(student, "%1: f32[2,2] = print(%x) %2: f32[2,2] = print(%x) return %2")
    sentence = "what has an effect must happen as often as it is written"
    assert len(names) == 2, f"{len(names)} print is left of 2: {sentence}"


def test_random_programs(student):
    """Thirty random programs compute the same, with as few nodes as after the system's merge."""
    for seed in range(30):
        program = generate(seed)
        most, graph = len(optimize.merge(program.graph).nodes), verify(student.merge(program.graph))
        assert len(graph.nodes) <= most, f"random program {seed}: {most} nodes do, not {graph}"
        with redirect_stdout(StringIO()), np.errstate(all="ignore"):
            before, after = (evaluate(g, *program.arrays) for g in (program.graph, graph))
        for a, b in zip(before, after, strict=True):
            equal = np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
            assert equal, f"random program {seed} gives {b}, and {a} before: {program.graph}"


def test_in_build(student):
    """A program that `build` makes with your pass has fewer steps and gives the same numbers."""
    x, t, w, v = values(x=(8, 6), t=(8, 2), w=(6, 16), v=(16, 2))
    error = ops.tanh(ops.gelu(x @ w) @ v) - t
    loss = ops.mean(error * error)
    graph = Graph.of((x, t, w, v), (loss, *autodiff.gradients(loss, (w, v))))
    plain, yours = (build(graph, passes=p) for p in ((), (Pass("yours", student.merge),)))
    steps = [len(program.steps) for program in (plain, yours)]
    assert steps[1] < steps[0], f"{steps[0]} steps of a program, and {steps[1]} with your pass"
    same(plain, yours)
