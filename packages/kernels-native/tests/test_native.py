"""Regions as generated code, against `evaluate`; what is refused, and what is said."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from region_graphs import arrays_of
from waiting import wait_for_cases

import byparts_opset as ops
from byparts_graph_ir import Fused, Graph, Input, MissingRule, TensorType, Value
from byparts_opset.evaluate import evaluate
from byparts_runtime import build as build_program
from byparts_tensor_ir.compile import CompilerError

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)


@needs_compiler
def test_programs_of_native_and_numpy_agree_with_evaluate() -> None:
    x, w = Input(TensorType("f32", (9, 20)), name="x"), Input(TensorType("f32", (20, 7)), name="w")
    h = ops.gelu(x @ w)
    y = ops.softmax(h, -1)
    graph = Graph.of(
        [x, w], [y, ops.mean(h, 0), ops.max_pool(ops.reshape(h, (1, 1, 9, 7)), (2, 2))]
    )
    program = build_program(graph, backends=("native", "numpy"))
    arrays = arrays_of(graph)
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
        "--everything",
        "-k",
        "test_kernel and basic",
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=env, timeout=900
    )
    (right, wrong) = re.findall(r"(\d+) of \d+ ops right, .* (\d+) wrong", done.stdout)[0]

    assert done.returncode == 0, done.stdout[-3000:]
    assert int(right) >= least and wrong == "0"


def _sums(columns: int, dtype: str) -> Graph:
    x = Input(TensorType(dtype, (37, columns)), name="x")
    z = Input(TensorType(dtype, (3, 8, columns)), name="z")
    sums = [ops.sum(x, 0), ops.max(x, 0), ops.sum(ops.abs(x), 0), ops.sum(z, 1)]
    return Graph.of([x, z], [*sums, z * ops.sum(z, 1, keepdims=True)])


@pytest.fixture(scope="module")
def sums_wait(request: pytest.FixtureRequest) -> None:
    """The code of all cases waits: the first that is bound is compiled with the others."""
    wait_for_cases(request, test_sums_of_few_columns=_sums)


@needs_compiler
@pytest.mark.usefixtures("sums_wait")
@pytest.mark.parametrize("dtype", ["f32", "f64", "i32"])
@pytest.mark.parametrize("columns", [2, 4, 9, 10, 16, 17])
def test_sums_of_few_columns(columns: int, dtype: str) -> None:
    """They stay in registers, the last vector of them whole; so with a loop around, and beside."""
    graph = _sums(columns, dtype)
    program = build_program(graph, backends=("native",))
    kind = {"f32": np.float32, "f64": np.float64, "i32": np.int32}[dtype]
    random = np.random.default_rng(columns)
    arrays = [(9 * random.standard_normal(v.type.dims)).astype(kind) for v in graph.inputs]
    for got, wanted in zip(program(*arrays), evaluate(graph, *arrays), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-4)


def test_the_generator_is_imported_when_the_backend_is_used() -> None:
    """To ask whether it starts costs a compiler's check, and not its 40 modules."""
    code = """
import sys
from byparts_kernels_native import make

backend = make()
assert backend.name == "native" and backend.slow_to_build and backend.wants is not None
assert "byparts_op_loops" not in sys.modules, sorted(sys.modules)
assert backend.stretches and "byparts_kernels_native.backend" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
