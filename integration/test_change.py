"""Programs that start on NumPy's kernels and change to generated code at a fixed call."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import byparts_opset as ops
from byparts_conformance.programs.generate import generate
from byparts_conformance.programs.trial import trial
from byparts_graph_ir import Graph, Input, MissingRule, TensorType
from byparts_opset.evaluate import evaluate
from byparts_runtime import Executor, Variable, build
from byparts_runtime.run import change

NATIVE = ("native", "numpy")
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ on the path")
STEPS = """
import sys
import numpy as np
import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType
from byparts_runtime import Variable, build
from byparts_runtime.run import change

change._COMPILER_S = change._COMPILER_S_PER_NODE = 0.0
x = Input(TensorType("f32", (1000,)), name="x")
w = Input(TensorType("f32", (1000,)), name="w")
y = ops.tanh(ops.exp(x * w) + ops.sin(w))
value = np.linspace(0, 1, 1000, dtype=np.float32)
v = Variable("w", value)
graph = Graph.of([x, w], [ops.sum(y), w - 0.01 * y])
program = build(graph, backends=("native", "numpy"), variables=[v], updates=[v], wait=False)
calls = int(sys.argv[1])
losses = [program(value)[0].tobytes().hex() for _ in range(calls)]
print(*losses, v.read().tobytes().hex()[:2000], {step.backend for step in program.steps})
"""


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler starts at call 2, and the program changes at call 4."""
    monkeypatch.setattr(change, "_COMPILER_S", 0.0)
    monkeypatch.setattr(change, "_COMPILER_S_PER_NODE", 0.0)


def _printed(folder: Path, cache: str, calls: int, sleeps_s: float = 0.0) -> tuple[str, int]:
    """What a process prints, and how many compilers it started."""
    log, fake = folder / "log", folder / "compiler"
    log.write_text("")
    if not fake.exists():  # the same compiler in each process, for the cache
        gxx = shutil.which("g++")
        fake.write_text(f'#!/bin/sh\necho x >> "$COMPILERS"\nsleep $SLEEPS_S\nexec {gxx} "$@"\n')
        fake.chmod(0o755)
    (folder / cache).mkdir(mode=0o700, exist_ok=True)
    told = {"CXX": str(fake), "COMPILERS": str(log), "SLEEPS_S": str(sleeps_s)}
    told |= {"BYPARTS_CACHE": str(folder / cache), "BYPARTS_EMITTER": "c"}
    told |= {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", STEPS, str(calls)],
        capture_output=True, text=True, check=True, env={**os.environ, **told},
    )  # fmt: skip
    return done.stdout, len(log.read_text().split())


@needs_compiler
def test_a_run_repeats_bit_for_bit_whatever_the_compiler_takes(tmp_path: Path) -> None:
    """With a slow compiler, with a fast one, and with all code on the disk."""
    fast, started = _printed(tmp_path, "a", 7)
    slow, _ = _printed(tmp_path, "b", 7, sleeps_s=0.3)
    warm, none = _printed(tmp_path, "a", 7)

    assert fast == slow == warm
    assert "'native'" in fast
    assert started > 1
    assert none == 0


@needs_compiler
def test_a_program_of_one_call_starts_no_compiler(tmp_path: Path) -> None:
    """Apart from the empty function that tells once on a machine whether there is a compiler."""
    said, started = _printed(tmp_path, "a", 1)
    _, again = _printed(tmp_path, "a", 1)

    assert "'numpy'" in said
    assert (started, again) == (1, 0)


@pytest.mark.usefixtures("_at_once")
@pytest.mark.parametrize("seed", range(12))
def test_random_programs_through_the_change(seed: int) -> None:
    """Seven calls each, of which the last four run on generated code, held against `evaluate`."""
    program = generate(seed)
    try:
        said = trial(program, backends=NATIVE, wait=False, rounds=4)
    except MissingRule:
        pytest.skip("an op that no backend has")
    assert said == ""


@pytest.mark.usefixtures("_at_once")
def test_training_through_the_change() -> None:
    """Draws are counted, a variable is updated in place: as a program that waited computes them."""
    x = Input(TensorType("f32", (16, 8)), name="x")
    w = Input(TensorType("f32", (8, 8)), name="w")
    count = Input(TensorType("i64", ()), name="count")
    noise = ops.random_uniform(7, count, (16, 8))
    y = ops.tanh(x @ w + noise)
    graph = Graph.of([x, w, count], [ops.mean(y), w * 0.9, count + 128])
    rows = np.random.default_rng(0).standard_normal((16, 8)).astype(np.float32)

    def losses(wait: bool) -> list[float]:
        state = [Variable("w", np.ones((8, 8), "f4")), Variable("count", np.int64(0))]
        program = build(graph, backends=NATIVE, variables=state, updates=state, wait=wait)
        return [float(program(rows)[0]) for _ in range(8)]

    np.testing.assert_allclose(losses(False), losses(True), rtol=1e-5)


@pytest.mark.usefixtures("_at_once")
@pytest.mark.parametrize("convolution", [False, True], ids=["shared", "compiled for each size"])
def test_sizes_of_a_family_count_together(convolution: bool) -> None:
    """Four calls of several sizes; the fourth waits for the code of all, or of its own."""
    x = Input(TensorType("f32", (None, 3, 8, 8)), name="x")
    w = Input(TensorType("f32", (4, 3, 3, 3)), name="w")
    y = ops.conv2d(x, w) if convolution else x * ops.sum(w)
    graph = Graph.of([x, w], [ops.tanh(y)])
    run = Executor(backends=NATIVE, wait=False)
    filters = np.full((4, 3, 3, 3), 0.01, np.float32)
    backends = []
    for n in (2, 3, 2, 3, 2, 5):
        rows = np.full((n, 3, 8, 8), 0.1, np.float32)
        (got,) = run(graph, rows, filters)
        np.testing.assert_allclose(got, evaluate(graph, rows, filters)[0], rtol=1e-5, atol=1e-6)
        types = TensorType("f32", rows.shape), w.type
        backends.append({step.backend for step in run.program(graph, types).steps})

    assert backends[:3] == [{"numpy"}] * 3
    assert [{"native"} <= names for names in backends[3:]] == [True, True, True]
