"""Kernels of the backend on the double: indices out of range, printing, constants, loops."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Backend, Graph, GraphError, Input, TensorType
from byparts_kernels_cuda.driver import api

runtime = pytest.importorskip("byparts_runtime", reason="needs byparts-runtime")
pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)
X = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Backend:
    """The backend on a double of its own."""
    from byparts_kernels_cuda.backend import make

    monkeypatch.setenv("BYPARTS_CUDA", "checked")
    monkeypatch.setattr(api, "_known", {})
    return make()


def gathering(backend: Backend, **options: Any) -> tuple[Any, Any]:
    """(program, variable): gives rows of x; the variable becomes their sum."""
    x, at = Input(TensorType("f32", (3, 4)), name="x"), Input(TensorType("i32", (2,)), name="at")
    total = Input(TensorType("f32", (4,)), name="total")
    rows = ops.gather(x, at)
    variable = runtime.Variable("total", np.zeros(4, np.float32), space=backend.space)
    given = {"backends": (backend,), "variables": (variable,), "updates": (variable,)}
    graph = Graph.of([x, at, total], [rows, total + ops.sum(rows, 0)])
    return runtime.build(graph, **given, **options), variable


@pytest.mark.parametrize("capture", [False, "auto"])
def test_an_index_out_of_range_is_told_with_its_step_and_nothing_is_written(
    backend: Backend, capture: Any
) -> None:
    program, total = gathering(backend, capture=capture)
    said = r"gather: index 3 at \[1\] is out of range for axis 0 of size 3"

    with pytest.raises(GraphError, match=said) as caught:
        program(X, np.array([2, 3], np.int32))

    notes = "\n".join(getattr(caught.value, "__notes__", [str(caught.value)]))
    assert "on 'cuda', gather: (f32[3,4], i32[2]) -> (f32[2,4])" in notes
    assert "test_functions.py" in notes and "the variables are as they were before" in notes
    assert total.read().tolist() == [0, 0, 0, 0]


def test_a_program_goes_on_after_an_index_out_of_range(backend: Backend) -> None:
    program, total = gathering(backend)
    with pytest.raises(GraphError, match="index -1 at"):
        program(X, np.array([-1, 0], np.int32))

    (rows,) = program(X, np.array([2, 0], np.int32))

    assert rows.tolist() == X[[2, 0]].tolist() and total.read().tolist() == [8, 10, 12, 14]


def test_what_is_printed_stands_among_steps_that_are_not(
    backend: Backend, capsys: pytest.CaptureFixture[str]
) -> None:
    x = Input(TensorType("f32", (2, 2)), name="x")
    y = ops.print_value(ops.matmul(x, x * 2.0), "y is")
    program = runtime.build(Graph.of([x], [ops.matmul(y, y) + 1.0]), backends=(backend,))

    assert program(np.eye(2, dtype=np.float32))[0].tolist() == [[5, 1], [1, 5]]
    assert capsys.readouterr().out == "y is [[2. 0.]\n [0. 2.]]\n"
    assert "calls" in str(program.explain())


def test_a_constant_is_copied_once(backend: Backend) -> None:
    x = Input(TensorType("f32", (3,)), name="x")
    table = ops.constant(np.array([1, 2, 3], np.float32))
    program = runtime.build(Graph.of([x], [x * table]), backends=(backend,))

    assert program(np.ones(3, np.float32))[0].tolist() == [1, 2, 3]


def test_loops_and_branches_run_on_the_gpu(backend: Backend) -> None:
    """x is doubled while its sum is below 100; then its sign says which branch is taken."""
    kind = TensorType("f32", (2,))
    state, value = Input(kind), Input(kind)
    below = Graph.of([state], [ops.less(ops.sum(state), ops.fill(100.0, "f32"))])
    twice = Graph.of([value], [value + value])
    x = Input(kind, name="x")
    (y,) = ops.while_loop(below, twice, [x])
    yes, no = Input(kind), Input(kind)
    large = ops.greater(ops.sum(x), ops.fill(2.0, "f32"))
    (z,) = ops.cond(large, Graph.of([yes], [yes * -1.0]), Graph.of([no], [no + 1.0]), [y])
    program = runtime.build(Graph.of([x], [z]), backends=(backend,))

    assert program(np.array([1, 2], np.float32))[0].tolist() == [-64, -128]
    assert program(np.array([0, 1], np.float32))[0].tolist() == [1, 129]


def test_results_stay_on_the_gpu(backend: Backend) -> None:
    """As arrays that other libraries take where they are, each call's its own."""
    x = Input(TensorType("f32", (3,)), name="x")
    program = runtime.build(Graph.of([x], [x + x]), backends=(backend,), results=backend)

    first, second = (program(np.full(3, i, np.float32))[0] for i in (1, 2))

    assert first.__dlpack_device__() == (2, 0) and first.address != second.address
    assert program(first)[0].type == first.type  # fed from where it is
    backend.space.synchronize()
    assert np.frombuffer(backend.space.read(first, 0, 12), np.float32).tolist() == [2, 2, 2]
