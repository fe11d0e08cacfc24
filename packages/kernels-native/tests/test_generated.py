"""Generated code is kept on disk: by what it is for, and read by processes that generate nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType
from byparts_kernels_native import make
from byparts_opset.evaluate import evaluate
from byparts_runtime import build

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)
PROGRAM = """
import sys
import numpy as np
import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType
from byparts_runtime import build
x = Input(TensorType("f32", (5, 3)), name="x")
program = build(Graph.of([x], [ops.softmax(x, -1)]), backends=("native", "numpy"))
print(program(np.zeros((5, 3), "f4"))[0].sum())
loaded = ("emit.c", "emit.llvm")
print([m for m in loaded if f"byparts_tensor_ir.{m}" in sys.modules], "subprocess" in sys.modules)
"""


@needs_compiler
def test_a_second_process_generates_and_compiles_nothing(tmp_path: Path) -> None:
    """It loads no emitter, and no means to start a compiler."""
    env = {"BYPARTS_EMITTER": "c", "BYPARTS_CACHE": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    env["PATH"] = "/usr/local/bin:/usr/bin:/bin"
    said = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=env, check=True
        ).stdout.splitlines()
        for _ in range(2)
    ]
    assert said[0][0] == said[1][0]
    assert "emit.c" in said[0][1] and said[0][1].endswith("True")
    assert said[1][1] == "[] False"


@pytest.mark.parametrize("what", ["truncated", "changed", "absent"])
def test_what_is_not_whole_on_the_disk_is_generated_again(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BYPARTS_CACHE", str(tmp_path))
    for path in tmp_path.glob("*.json"):
        path.unlink()
    x = Input(TensorType("f32", (7,)))
    graph = Graph.of([x], [ops.neg(ops.tanh(x))])

    def run() -> list[float]:
        (y,) = build(graph, backends=(make(), "numpy"))(np.zeros(7, "f4"))
        return list(y)

    first = run()
    (kept,) = tmp_path.glob("*.json")
    whole = kept.read_text()
    if what == "absent":
        kept.unlink()
    else:
        kept.write_text(whole[:-9] if what == "truncated" else whole.replace("0", "1"))
    assert run() == first
    assert kept.read_text() == whole


@needs_compiler
def test_a_program_shows_the_code_of_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_EMITTER", "c")
    x = Input(TensorType("f32", (11,)))
    program = build(Graph.of([x], [ops.exp(ops.neg(x))]), backends=("native", "numpy"))
    assert 'extern "C" void byparts_' in program.explain(source=True)
    assert "void **" not in program.explain()


def test_a_program_shows_how_regions_became_loops() -> None:
    """Each stage prints; two regions that are equal print once; nothing of it without `stages`."""
    x, y = (Input(TensorType("f32", (4, 20)), name=name) for name in "xy")
    graph = Graph.of([x, y], [ops.softmax(x, -1), ops.softmax(y, -1)])
    program = build(graph, backends=("native", "numpy"))

    text = program.explain(stages=True)
    stages = [line for line in text.splitlines() if not line.startswith(" ")]

    assert "layout     axes a0: 4, a1: 20" in stages
    assert [s for s in stages if s in ("steps", "loops")] == ["steps", "loops"]
    assert "in place   in0 and out0" in stages
    assert "layout" not in program.explain()


def test_without_a_compiler_llvm_makes_code_and_the_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop of native steps is one call there, too; what is written in C by hand goes to NumPy."""
    pytest.importorskip("llvmlite")
    monkeypatch.setenv("CXX", "no-such-compiler")
    x, w = Input(TensorType("f32", (4, 4))), Input(TensorType("f32", (4, 4)))
    (last,) = ops.while_loop(lambda v: ops.sum(v) < 100.0, lambda v: (v * 2.0,), (x,))
    graph = Graph.of([x, w], [ops.softmax(ops.tanh(last @ w), -1)])
    program = build(graph, backends=(make(), "numpy"))
    arrays = [np.full((4, 4), 0.1, "f4"), np.eye(4, dtype="f4")]
    np.testing.assert_allclose(program(*arrays)[0], evaluate(graph, *arrays)[0], rtol=1e-6)
    assert "native" in {s.backend for s in program.steps}
