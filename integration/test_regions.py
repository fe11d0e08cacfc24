"""Regions from the graph to the step: a backend says what it wants, and may still refuse it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import (
    Backend,
    Fused,
    Graph,
    Input,
    MissingRule,
    Node,
    Op,
    Pass,
    Refused,
    Table,
    TensorType,
)
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_numpy import make
from byparts_kernels_numpy.table import kernels, view
from byparts_runtime import build

Rule = Callable[[Fused, Sequence[Any], Sequence[Any]], Run]


def elementwise(node: Node) -> bool:
    return node.op.pattern == "elementwise"


def in_one_go(op: Fused, inputs: Sequence[Any], outputs: Sequence[Any]) -> Run:
    """`evaluate`, which is slow and right."""

    def run() -> None:
        for out, result in zip(outputs, op.evaluate(*inputs), strict=True):
            out[...] = result

    return run


def joining(rule: Rule, **wanted: Any) -> Backend:
    """A backend of one rule."""
    backend = Backend("joiner", view, wants=elementwise, **wanted)
    backend.kernels.on(Fused)(rule)
    return backend


def program_text() -> Graph:
    x = Input(TensorType("f32", (2, 2)), None, "x")
    return Graph.of((x,), (ops.tanh(x @ x) * x + x,))


X = np.array([[0.5, -1.0], [2.0, 0.25]], "float32")
WANT = np.tanh(X @ X) * X + X


def test_a_region_is_one_step_and_is_explained() -> None:
    program = build(program_text(), backends=(joining(in_one_go), "numpy"))

    assert [step.backend for step in program.steps] == ["numpy", "joiner"]
    assert "fused(tanh, mul, add)" in program.explain(
        width=200
    ) and "\nfuse: 2 nodes" in program.explain(width=200)
    np.testing.assert_allclose(program(X)[0], WANT, rtol=1e-6)


def test_a_refused_region_is_inlined() -> None:
    """Its nodes go to the next backend, as if nobody had wanted them."""

    def refusing(op: Fused, inputs: Sequence[Any], outputs: Sequence[Any]) -> Run:
        raise MissingRule("no tanh in one go today")

    program = build(program_text(), backends=(joining(refusing), "numpy"))

    assert [n.op.name for n in program.graph.nodes] == ["matmul", "tanh", "mul", "add"]
    assert "\npart: 4 nodes" in program.explain(width=200)
    np.testing.assert_allclose(program(X)[0], WANT, rtol=1e-6)


def test_only_the_refused_regions_are_inlined() -> None:
    x = Input(TensorType("f32", (2, 2)), None, "x")
    graph = Graph.of((x,), (ops.sin(ops.tanh(x)), ops.cos(ops.tanh(x @ x))))

    def choosy(op: Fused, inputs: Sequence[Any], outputs: Sequence[Any]) -> Run:
        if any(n.op.name == "sin" for n in op.graph.nodes):
            raise MissingRule("no sin")
        return in_one_go(op, inputs, outputs)

    program = build(graph, backends=(joining(choosy), "numpy"))

    assert sorted(n.op.name for n in program.graph.nodes) == ["fused", "fused", "matmul", "sin"]
    np.testing.assert_allclose(program(X)[0], np.sin(np.tanh(X)), rtol=1e-6)


def test_what_nobody_takes_in_the_end_is_told_by_node() -> None:
    def refusing(op: Fused, inputs: Sequence[Any], outputs: Sequence[Any]) -> Run:
        raise MissingRule("not today")

    x = Input(TensorType("f32", (2,)), None, "x")
    with pytest.raises(MissingRule, match=r"no kernel for Neg on \(f32\[2\]\)") as error:
        build(Graph.of((x,), (-(-x * x),)), backends=(joining(refusing),))
    assert "refused: joiner: not today" in error.value.__notes__[-1]  # type: ignore[attr-defined]


def test_a_backend_that_compiles_needs_no_kernel_of_its_own() -> None:
    """Also for a node that stands alone."""
    x = Input(TensorType("f32", (2, 2)), None, "x")
    program = build(Graph.of((x,), (ops.tanh(x),)), backends=(joining(in_one_go),))

    assert [n.op.name for n in program.graph.nodes] == ["fused"]
    np.testing.assert_allclose(program(X)[0], np.tanh(X), rtol=1e-6)


def test_what_has_kernels_and_is_alone_keeps_them() -> None:
    graph = program_text()
    numpy = replace(make(), wants=lambda node: node.op.name == "tanh")

    assert "fused" not in [n.op.name for n in build(graph, backends=(numpy,)).graph.nodes]


def test_a_backend_brings_passes_of_its_own() -> None:
    """They see the graph in ops that are there, and may bring ops of their own."""
    seen: list[str] = []

    def look(graph: Graph) -> Graph:
        seen.extend(n.op.name for n in graph.nodes)
        return graph

    backend = Backend("other", view, kernels, passes=(Pass("look", look),))
    x = Input(TensorType("f32", (2, 2)), None, "x")
    program = build(Graph.of((x,), (ops.logsumexp(x),)), backends=(backend,))

    assert "logsumexp" not in seen and "\nlook: " in program.explain(width=200)


def test_without_the_pass_nothing_is_fused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where byparts-optimize is not installed."""
    monkeypatch.setattr("byparts_runtime.building.discover.find_fuse", lambda backends: None)
    program = build(program_text(), backends=(joining(in_one_go), "numpy"))

    assert "fused" not in [n.op.name for n in program.graph.nodes]


def test_a_region_that_fails_when_bound_is_no_refusal() -> None:
    """A bug in a compiler is not covered up."""
    broken = partial(joining, lambda op, xs, ys: 1 / 0)  # type: ignore[arg-type,return-value]

    with pytest.raises(ZeroDivisionError):
        build(program_text(), backends=(broken(), "numpy"))


def test_an_op_is_decomposed_where_its_kernel_refuses_the_types() -> None:
    """Another softmax of the program stays whole."""
    base = make()
    kernels: Table[Any] = Table("kernel")
    for op in (ops.Exp(), ops.Sub(), ops.Div(), ops.Max(), ops.Sum()):
        rule = base.kernels[op]
        kernels.on(type(op), workspace=base.kernels.takes_workspace(op))(rule)

    @kernels.on(ops.Softmax, workspace=True)
    def softmax(op: Op, inputs: Sequence[Any], outputs: Sequence[Any], workspace: Any) -> Run:
        if inputs[0].shape == (2, 2):
            raise Refused("not of two rows")
        run: Run = base.kernels[ops.Softmax](op, inputs, outputs, workspace)
        return run

    x, y = (Input(TensorType("f32", (n, 2)), None, "") for n in (2, 3))
    graph = Graph.of((x, y), (ops.softmax(x), ops.softmax(y)))
    program = build(graph, backends=(replace(base, kernels=kernels, passes=()),))

    assert [n.op.name for n in program.graph.nodes].count("softmax") == 1
    np.testing.assert_allclose(program(X, np.ones((3, 2), np.float32))[0].sum(-1), 1, rtol=1e-6)
