"""Programs of named dimensions on a GPU that is emulated, with NumPy for what it lacks."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_conformance.programs.named import named_campaign
from byparts_graph_ir import Backend, Graph, Input, Table, TensorType
from byparts_kernels_cuda import code
from byparts_kernels_numpy import make
from byparts_opset.elementwise import Unary
from byparts_runtime import build

PLACES = ("cuda", "numpy")


@pytest.fixture(autouse=True)
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_CUDA", "emulated")


class _Twice(Unary):
    """y = x * 2, an op that the host alone has."""

    def evaluate(self, x: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        return (x + x,)


def _host() -> Backend:
    backend = Backend("host", make().view, Table("kernel"))
    add = backend.kernels.on(_Twice)
    add(lambda op, inputs, outputs: partial(np.add, *inputs, *inputs, out=outputs[0]))
    return backend


def test_nothing_is_compiled_after_the_first_size() -> None:
    """Also where a node has its kernel on the host: copies have any size."""
    x, b = _inputs(("n", 4), (4,))
    (twice,) = _Twice().outputs_of(x)
    graph = Graph.of([x, b], [ops.softmax(ops.tanh(x * b), -1), ops.exp(twice) + b])
    program = build(graph, backends=("cuda", _host()))
    arrays = np.random.default_rng(0).standard_normal((300, 4)).astype("float32")
    bias = np.arange(4, dtype="float32") - 1

    images = None
    for n in (3, 300, 1, 0, 17):
        rows = arrays[:n]
        weights, above = program(rows, bias)
        e = np.exp(np.tanh(rows * bias))
        np.testing.assert_allclose(weights, e / e.sum(-1, keepdims=True), rtol=1e-5)
        np.testing.assert_allclose(above, np.exp(2 * rows) + bias, rtol=1e-4, atol=1e-5)
        images = len(code._images) if images is None else images
        assert len(code._images) == images
    assert program.why == "compiled once for every size of f32[n,4], f32[4]"
    plan: Any = program.plan  # ours, which says how much each space takes
    assert set(plan.arenas) == {"cuda:0", "host"}


def test_a_sum_over_rows_of_products_is_compiled_for_each_size_and_said() -> None:
    """It stays on the GPU, though NumPy on the host has one for all sizes."""
    x, w = _inputs(("n", 4), ("n", 2))
    program = build(Graph.of([x, w], [ops.matmul(x, w, transpose_a=True)]), backends=PLACES)
    arrays = np.random.default_rng(0).standard_normal((30, 4)).astype("float32")
    for n in (3, 0, 1, 30):
        (y,) = program(arrays[:n], arrays[:n, 2:])
        np.testing.assert_allclose(y, arrays[:n].T @ arrays[:n, 2:], rtol=1e-4, atol=1e-5)
    assert "but for each size anew matmul: (f32[n,4], f32[n,2])" in program.why
    assert {step.backend for step in program.steps} == {"cuda"}


def test_random_programs_of_a_named_dimension_on_a_gpu() -> None:
    """Each at six sizes, 0 and 1 among them, whichever comes first."""
    report = named_campaign(PLACES, 3)

    assert not report.failures, str(report)
    assert report.shared, str(report)


@pytest.mark.long
def test_many_programs_of_a_named_dimension_on_a_gpu() -> None:
    report = named_campaign(PLACES, 25, 1000)

    assert not report.failures, str(report)


def _inputs(*shapes: tuple[int | str, ...]) -> list[Input]:
    return [Input(TensorType("f32", shape), name=f"x{i}") for i, shape in enumerate(shapes)]
