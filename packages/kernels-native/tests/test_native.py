"""Regions as generated code, against `evaluate`; what is refused, and what is said."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import byparts_opset as ops
from byparts_graph_ir import Fused, Graph, Input, MissingRule, Refused, TensorType, Value
from byparts_kernels_native.region import RegionLoops
from byparts_opset.evaluate import evaluate
from byparts_runtime import build as build_program
from byparts_tensor_ir.compile import CompilerError
from byparts_tensor_ir.interpret import interpret

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)
UNARY = (ops.exp, ops.tanh, ops.neg, ops.relu, ops.sigmoid, ops.square, ops.abs)
BINARY = (ops.add, ops.sub, ops.mul, ops.maximum, ops.less)


def _graph(data: st.DataObject) -> Graph:
    """Elementwise ops, broadcasts and reductions over a matrix, its rows and its columns."""
    rows, columns = data.draw(st.sampled_from([(3, 5), (1, 17), (4, 1), (7, 33), (2, 64)]))
    shapes = [(rows, columns), (columns,), (rows, 1), ()]
    inputs = [Input(TensorType("f32", s), name=f"x{i}") for i, s in enumerate(shapes)]
    values: list[Value] = list(inputs)
    for _ in range(data.draw(st.integers(1, 9))):
        kind = data.draw(st.sampled_from(["unary", "binary", "reduce", "select"]))
        x = data.draw(st.sampled_from(values))
        if kind == "unary":
            values.append(data.draw(st.sampled_from(UNARY))(x))
        elif kind == "reduce" and x.type.rank == 2:
            axes = data.draw(st.sampled_from([(0,), (1,), (0, 1)]))
            reduce = data.draw(st.sampled_from([ops.sum, ops.max, ops.mean]))
            values.append(reduce(x, axes, keepdims=True))
        else:
            y = data.draw(st.sampled_from(values))
            made = data.draw(st.sampled_from(BINARY))(x, y)
            values.append(ops.select(made, x, y) if made.type.dtype == "bool" else made)
    made_values = values[len(inputs) :]
    count = data.draw(st.integers(1, min(3, len(made_values))))
    return Graph.of(inputs, made_values[-count:])


def _arrays(graph: Graph) -> list[Any]:
    random = np.random.default_rng(0)
    return [random.uniform(-2, 2, v.type.dims).astype(np.float32) for v in graph.inputs]


@given(st.data())
@settings(deadline=None)
def test_the_loops_of_a_region_compute_what_its_ops_do(data: st.DataObject) -> None:
    graph = _graph(data)
    loops, arrays = _loops(graph), _arrays(graph)
    if loops is None:
        return
    expected = evaluate(graph, *arrays)
    results = [np.full(v.type.dims, 7, np.float32) for v in graph.outputs]
    _interpret(loops, [*arrays, *results])
    for got, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5, err_msg=str(loops.func))


@given(st.data())
@settings(deadline=None)
def test_in_place_is_in_place(data: st.DataObject) -> None:
    """Each pair (input, output) may be one array."""
    graph = _graph(data)
    if _loops(graph) is not None:
        _check_in_place(graph)


def _loops(graph: Graph) -> RegionLoops | None:
    """The loops of a region; none where its values have no axes in common."""
    try:
        return RegionLoops(graph)
    except Refused:
        return None


def test_an_input_that_is_read_after_a_loop_is_not_written_before_it() -> None:
    """x is read again when the sum is complete, so relu may not lie over it."""
    x, w = Input(TensorType("f32", (4, 1))), Input(TensorType("f32", (4, 20)))
    graph = Graph.of([x, w], [ops.relu(x), x + ops.sum(w, 1, keepdims=True)])
    assert _check_in_place(graph) == ((0, 1),)


def test_what_is_kept_for_a_row_is_read_before_results_are_written() -> None:
    """The exponentials of x are kept, and relu(a) may lie over x only after x was read."""
    a, x = Input(TensorType("f32", (4, 20))), Input(TensorType("f32", (4, 20)))
    e = ops.exp(x)
    graph = Graph.of([a, x], [ops.relu(a), a + e / ops.sum(e, 1, keepdims=True)])
    _check_in_place(graph)


def _check_in_place(graph: Graph) -> tuple[tuple[int, int], ...]:
    """Run the loops with each pair as one array; the pairs."""
    loops, arrays = RegionLoops(graph), _arrays(graph)
    expected = evaluate(graph, *arrays)
    for i, o in loops.inplace:
        mine = [a.copy() for a in arrays]
        results = [np.full(v.type.dims, 7, np.float32) for v in graph.outputs]
        results[o] = mine[i]
        _interpret(loops, [*mine, *results])
        for got, wanted in zip(results, expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5, err_msg=str(loops.func))
    return loops.inplace


def _interpret(loops: RegionLoops, arrays: list[Any]) -> None:
    """Run the loops on views of the arrays in the shapes of the buffers."""
    params = zip(arrays, loops.func.params, strict=True)
    interpret(loops.func, *[a.reshape([d.attr for d in b.shape]) for a, b in params])


def test_softmax_is_one_loop_over_rows() -> None:
    x = Input(TensorType("f32", (6, 37)), name="x")
    (y,) = ops.Softmax(-1).decompose(x) or ()
    text = str(RegionLoops(Graph.of([x], [y])).func)
    assert text.count("in range(6)") == 1
    assert text.count("in range(37):  # vectorize") == 3
    assert "f32[37]" in text.split("local", 1)[1]  # one row of exponentials, not all of them


@needs_compiler
def test_programs_of_native_and_numpy_agree_with_evaluate() -> None:
    x, w = Input(TensorType("f32", (9, 20)), name="x"), Input(TensorType("f32", (20, 7)), name="w")
    h = ops.gelu(x @ w)
    y = ops.softmax(h, -1)
    graph = Graph.of(
        [x, w], [y, ops.mean(h, 0), ops.max_pool(ops.reshape(h, (1, 1, 9, 7)), (2, 2))]
    )
    program = build_program(graph, backends=("native", "numpy"))
    arrays = _arrays(graph)
    for got, wanted in zip(program(*arrays), evaluate(graph, *arrays), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-6)
    assert {s.backend for s in program.steps} == {"native"}


@needs_compiler
def test_a_chain_of_a_thousand_ops_is_one_function() -> None:
    x, a = Input(TensorType("f32", (8,)), name="x"), Input(TensorType("f32", (8,)), name="a")
    y: Value = x
    for _ in range(500):
        y = y * a + a
    graph = Graph.of([x, a], [y])
    program = build_program(graph, backends=("native", "numpy"))
    assert len(program.steps) == 1
    arrays = [np.full(8, 0.5, np.float32), np.linspace(0, 0.9, 8, dtype=np.float32)]
    np.testing.assert_allclose(program(*arrays)[0], evaluate(graph, *arrays)[0], rtol=1e-6)


@needs_compiler
def test_values_that_lie_across_each_other_are_refused() -> None:
    """Rows of y meet columns of y, so what is made must be complete before it is read."""
    a = Input(TensorType("f32", (3, 3)))
    y = ops.exp(a)
    op = Fused(Graph.of([a], [y + ops.transpose(y, (1, 0))]))
    from byparts_kernels_native import make

    with pytest.raises(MissingRule, match="no iteration space in common"):
        make().compile(op, [a.type])


def test_no_compiler_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from byparts_kernels_native import make

    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setenv("BYPARTS_EMITTER", "c")
    with pytest.raises(CompilerError, match=r"no C\+\+ compiler: none of no-such-compiler"):
        make()


@pytest.mark.long
@pytest.mark.parametrize(
    ("emitter", "least"), [pytest.param("c", 70, marks=needs_compiler), ("llvm", 70)]
)
def test_every_kernel_conforms(emitter: str, least: int, tmp_path: Path) -> None:
    """The first column of the kit; `byparts check native` tries all of them in some minutes."""
    if emitter == "llvm":
        pytest.importorskip("llvmlite")
    env = {**os.environ, "BYPARTS_CXXFLAGS": "-O1", "BYPARTS_CACHE": str(tmp_path)}
    env["BYPARTS_EMITTER"] = emitter
    command = [
        sys.executable,
        "-m",
        "byparts_graph_ir",
        "check",
        "native",
        "-k",
        "test_kernel and basic",
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=env, timeout=900
    )
    (right, wrong) = re.findall(r"(\d+) of \d+ ops right, .* (\d+) wrong", done.stdout)[0]

    assert done.returncode == 0, done.stdout[-3000:]
    assert int(right) >= least and wrong == "0"


@needs_compiler
@pytest.mark.parametrize("dtype", ["f32", "f64", "i32"])
@pytest.mark.parametrize("columns", [2, 4, 9, 10, 16, 17])
def test_sums_of_few_columns(columns: int, dtype: str) -> None:
    """They stay in registers, the last vector of them whole; so with a loop around, and beside."""
    x = Input(TensorType(dtype, (37, columns)), name="x")
    z = Input(TensorType(dtype, (3, 8, columns)), name="z")
    sums = [ops.sum(x, 0), ops.max(x, 0), ops.sum(ops.abs(x), 0), ops.sum(z, 1)]
    graph = Graph.of([x, z], [*sums, z * ops.sum(z, 1, keepdims=True)])
    program = build_program(graph, backends=("native",))
    kind = {"f32": np.float32, "f64": np.float64, "i32": np.int32}[dtype]
    random = np.random.default_rng(columns)
    arrays = [(9 * random.standard_normal(v.type.dims)).astype(kind) for v in graph.inputs]
    for got, wanted in zip(program(*arrays), evaluate(graph, *arrays), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-4)
