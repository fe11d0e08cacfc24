"""An index or label out of range: one error and one sentence on every backend, in any program."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Backend, Graph, GraphError, Input, TensorType, Value
from byparts_graph_ir.parts.hub import parts
from byparts_runtime import Variable, build

X, W = TensorType("f32", (4, 3)), TensorType("f32", (3, 3))
BACKENDS = [
    *("numpy", "native", "cuda"),
    pytest.param("torch", marks=pytest.mark.skipif(not find_spec("torch"), reason="needs torch")),
]
Step = Callable[[Value, Value, Value], tuple[Value, Value]]  # x, indices, w -> fetch, new w


def cross_entropy(x: Value, at: Value, w: Value) -> tuple[Value, Value]:
    loss, residual = ops.SparseSoftmaxCrossEntropy().outputs_of(ops.matmul(x, w), at)
    return ops.mean(loss), w - 0.1 * ops.MatMul(transpose_a=True)(x, residual)


def embedding(x: Value, at: Value, w: Value) -> tuple[Value, Value]:
    return ops.exp(ops.gather(w, at)) * x, w * 2.0


def columns(x: Value, at: Value, w: Value) -> tuple[Value, Value]:
    rows = ops.gather(w * 3.0, at, 1)
    return ops.sum(x), w + ops.sum(rows, (1,), keepdims=True)


def assignment(x: Value, at: Value, w: Value) -> tuple[Value, Value]:
    return ops.sum(x), ops.scatter(w * 2.0, at, x)


def added(x: Value, at: Value, w: Value) -> tuple[Value, Value]:
    return ops.sum(x), w - 0.1 * ops.scatter_add(at, x * 2.0, w)


STEPS: dict[Step, str] = {
    cross_entropy: r"sparse_softmax_cross_entropy: label {} is no class: there are 3, 0 to 2",
    embedding: r"gather: index {} at \[1\] is out of range for axis 0 of size 3",
    columns: r"gather: index {} at \[1\] is out of range for axis 1 of size 3",
    assignment: r"scatter: index {} at \[1\] is out of range for axis 0 of size 3",
    added: r"scatter_add: index {} at \[1\] is out of range for axis 0 of size 3",
}


def started(name: str, monkeypatch: pytest.MonkeyPatch) -> Backend:
    """A backend; that of a GPU is emulated."""
    monkeypatch.setenv("BYPARTS_CUDA", "emulated")
    backend: Backend = parts.backend(name)
    return backend


def trained(step: Step, dtype: str, backend: Backend) -> tuple[Any, Variable]:
    """A program that updates a variable by the step; and the variable."""
    x, at, w = Input(X, name="x"), Input(TensorType(dtype, (4,)), name="at"), Input(W, name="w")
    variable = Variable("w", np.eye(3, dtype=np.float32), space=backend.space)
    graph = Graph.of((x, at, w), step(x, at, w))
    return build(graph, variables=(variable,), updates=(variable,), backends=(backend,)), variable


@pytest.mark.parametrize("wrong", [-1, -100, 3, 5])
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
@pytest.mark.parametrize("name", BACKENDS)
def test_an_index_out_of_range_is_refused_in_one_sentence(
    name: str, step: Step, wrong: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In regions and updates, and the variables stay as they were."""
    program, variable = trained(step, "i32", started(name, monkeypatch))
    x, at = np.ones(X.dims, np.float32), np.array([0, wrong, 1, -7], np.int32)

    with pytest.raises(GraphError, match=STEPS[step].format(wrong)):
        [np.asarray(y) for y in program(x, at)]
    np.testing.assert_array_equal(variable.read(), np.eye(3))


@pytest.mark.parametrize(
    "dtype", ["u8", "i64", *[pytest.param(name, marks=pytest.mark.long) for name in ("i8", "i16")]]
)
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
@pytest.mark.parametrize("name", BACKENDS)
def test_an_index_of_any_integer_dtype_is_checked(
    name: str, step: Step, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The largest that the dtype has; then those in range are taken."""
    program, variable = trained(step, dtype, started(name, monkeypatch))
    kind = {"u8": "uint8"}.get(dtype, dtype.replace("i", "int"))
    x, most = np.ones(X.dims, np.float32), np.iinfo(kind).max

    with pytest.raises(GraphError, match=STEPS[step].format(most)):
        [np.asarray(y) for y in program(x, np.array([2, most, 0, 0], kind))]
    program(x, np.array([2, 1, 0, 0], kind))
    assert not np.array_equal(variable.read(), np.eye(3))


@pytest.mark.parametrize("name", BACKENDS)
def test_labels_of_no_classes_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no label that would be one."""
    x, at = Input(TensorType("f32", (2, 0)), name="x"), Input(TensorType("i32", (2,)), name="at")
    graph = Graph.of((x, at), (ops.sparse_softmax_cross_entropy(x, at),))
    program = build(graph, backends=(started(name, monkeypatch),))

    with pytest.raises(GraphError, match="label 0 is no class: there are 0"):
        [np.asarray(y) for y in program(np.ones((2, 0), np.float32), np.zeros(2, np.int32))]


@pytest.mark.parametrize("name", BACKENDS)
def test_a_label_is_checked_in_a_body(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second round of a loop reads labels one greater than the first."""
    x, at = Input(X, name="x"), Input(TensorType("i32", (4,)), name="at")

    def body(i: Value, at: Value, total: Value, x: Value) -> list[Value]:
        return [i + 1, at + 1, total + ops.sum(ops.sparse_softmax_cross_entropy(x, at))]

    start = [ops.constant(0, "i32"), at, ops.constant(0.0, "f32")]
    total = ops.while_loop(lambda i, at, total, x: i < 2, body, start, (x,))[2]
    program = build(Graph.of((x, at), (total,)), backends=(started(name, monkeypatch),))
    given = np.ones(X.dims, np.float32)

    program(given, np.zeros(4, np.int32))
    with pytest.raises(GraphError, match="label 3 is no class: there are 3, 0 to 2"):
        [np.asarray(y) for y in program(given, np.full(4, 2, np.int32))]
