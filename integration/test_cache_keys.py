"""Each cache knows what its content depends on: every ingredient is changed once, and followed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, Table, TensorType, Value
from byparts_graph_ir.model.frozen import replace
from byparts_kernels_cuda.launch import PACKAGES as CUDA
from byparts_kernels_cuda.loops import loops
from byparts_kernels_native.generated import PACKAGES as NATIVE
from byparts_kernels_numpy import make
from byparts_op_loops import keys as code_keys
from byparts_op_loops.elementwise import element
from byparts_op_loops.keys import OURS, files, short_key
from byparts_runtime import Executor
from byparts_tensor_ir import cache
from byparts_tensor_ir.target import TARGETS, target

compiled = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)
BACKENDS = ["native", "cuda"]
NOISE = """
    import numpy as np, sys
    import byparts_opset as ops
    from byparts_graph_ir import Graph, Input, TensorType
    from byparts_runtime import build

    i = TensorType("i64", ())
    k, c = Input(i, name="k"), Input(i, name="c")
    graph = Graph.of((k, c), (ops.RandomUniform((5,))(k, c),))
    ours, numpy = (build(graph, backends=(b,))(7, 3)[0] for b in (sys.argv[1], "numpy"))
    assert np.array_equal(ours, numpy), (ours, numpy)
    print(ours.tolist())
"""
OUTSIDE = """
    from byparts_graph_ir import Op
    from byparts_opset.elementwise import Unary
    from byparts_opset.dtypes import Array
    from byparts_op_loops.elementwise import element
    import byparts_kernels_native.backend

    class Twice(Unary):
        "y = FACTOR x."

        def evaluate(self, x: Array) -> tuple[Array, ...]:
            return (FACTOR * x,)

    @element.on(Twice)
    def _twice(op, x):
        return x * FACTOR
"""
RUN_OUTSIDE = """
    import sys
    import numpy as np
    import byparts_opset as ops
    from byparts_graph_ir import Graph, Input, TensorType
    from byparts_runtime import build
    from acme_twice import Twice
    from byparts_op_loops.regions import axes

    x = Input(TensorType("f32", (4,)), name="x")
    program = build(Graph.of((x,), (ops.tanh(Twice()(x)) + 1.0,)), backends=("native", "numpy"))
    print([round(float(v), 3) for v in np.arctanh(program(np.full(4, 0.1, np.float32))[0] - 1)])
"""


def run(text: str, *arguments: str, cache: Path, path: tuple[Path, ...] = ()) -> str:
    """What a process prints, with the cache, and these folders before ours."""
    env = {**os.environ, "BYPARTS_CACHE": str(cache), "BYPARTS_CUDA": "emulated"}
    env["PYTHONPATH"] = os.pathsep.join([*map(str, path), *sys.path])
    command = [sys.executable, "-c", dedent(text), *arguments]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@compiled
@pytest.mark.long
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_change_of_the_op_set_alone_is_followed(backend: str, tmp_path: Path) -> None:
    """Philox with 7 rounds draws other numbers, on the backend whose code is kept as on NumPy."""
    cache, other = tmp_path / "cache", tmp_path / "other"
    before = run(NOISE, backend, cache=cache)
    source = Path(str(ops.__file__)).parent
    shutil.copytree(source, other / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    file = other / source.name / "philox.py"
    file.write_text(file.read_text(encoding="utf-8").replace("ROUNDS = 10", "ROUNDS = 7"))

    assert run(NOISE, backend, cache=cache, path=(other,)) != before
    assert run(NOISE, backend, cache=cache) == before


@pytest.mark.long
@compiled
def test_a_change_of_an_outside_rule_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a file that is not ours, of the same size and time: Python's own cache is out of it."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    cache, folder = tmp_path / "cache", tmp_path / "acme"
    folder.mkdir()
    found = []
    for factor in ("2.0", "3.0"):
        text = dedent(OUTSIDE).replace("FACTOR", factor)
        (folder / "acme_twice.py").write_text(text, encoding="utf-8")
        os.utime(folder / "acme_twice.py", ns=(10**18, 10**18))
        found.append(run(RUN_OUTSIDE, cache=cache, path=(folder,)))

    assert found == ["[0.2, 0.2, 0.2, 0.2]\n", "[0.3, 0.3, 0.3, 0.3]\n"]


@pytest.mark.parametrize("package", [*OURS, *NATIVE, *CUDA])
def test_the_files_of_each_package_are_in_the_key(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is longer, and one that is newer."""
    made = tmp_path / "part"
    made.mkdir()
    (made / "rule.py").write_text("x = 1\n")
    monkeypatch.setattr(code_keys, "files", lambda p: _lines(made) if p == package else p)

    backend = CUDA if package in CUDA else NATIVE
    keys = [short_key(backend, (ops.Tanh,))]
    (made / "rule.py").write_text("x = 10\n")
    keys.append(short_key(backend, (ops.Tanh,)))
    os.utime(made / "rule.py", ns=(10**18, 10**18))
    keys.append(short_key(backend, (ops.Tanh,)))
    assert len({*keys}) == 3 and None not in keys


def _lines(folder: Path) -> str:
    return "\n".join(cache.files_of(folder))


def test_files_are_those_of_the_package() -> None:
    assert "philox.py" in files("byparts_opset") and "digest.py" in files("byparts_graph_ir")


def test_an_op_or_rule_of_others_has_no_short_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its code is found by its text alone."""
    kind = redefined("2 * x")
    assert short_key(NATIVE, (ops.Tanh, kind)) is None
    assert short_key(NATIVE, (ops.Tanh,)) is not None
    monkeypatch.setitem(element._rules, ops.Tanh, lambda op, x: x)
    assert short_key(NATIVE, (ops.Tanh,)) is None


def test_a_rule_of_others_in_a_table_of_the_backend_has_no_short_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Loops for a GPU are a table of their own."""
    assert short_key(CUDA, (ops.TopK,), (loops,)) is not None
    monkeypatch.setitem(loops._rules, ops.TopK, lambda op, types: None)
    assert short_key(CUDA, (ops.TopK,), (loops,)) is None


@pytest.mark.parametrize("variable", ["BYPARTS_TARGET", "BYPARTS_EMITTER", "BYPARTS_CXXFLAGS"])
@pytest.mark.long
@compiled
def test_the_target_the_emitter_and_the_flags_are_in_the_key(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other files are made for another."""
    plain = TARGETS[-1].name
    other = {"BYPARTS_TARGET": plain, "BYPARTS_EMITTER": "llvm", "BYPARTS_CXXFLAGS": "-O1"}
    if variable == "BYPARTS_TARGET" and target().name == plain:
        pytest.skip("this CPU has one target")
    if variable == "BYPARTS_EMITTER":
        pytest.importorskip("llvmlite", reason="needs llvmlite")
    run(NOISE, "native", cache=tmp_path)
    before = set(tmp_path.iterdir())
    monkeypatch.setenv(variable, other[variable])

    run(NOISE, "native", cache=tmp_path)
    assert set(tmp_path.iterdir()) - before


def redefined(equation: str) -> Any:
    """The class `Own` of a notebook's cell, as it is with this equation."""
    cell = f"""
        from byparts_opset.elementwise import Unary

        class Own(Unary):
            "y = {equation}."

            def evaluate(self, x):
                return ({equation},)
    """
    space: dict[str, Any] = {"__name__": "cell_of_a_notebook"}
    exec(dedent(cell), space)
    return space["Own"]


def of(kind: Any) -> Graph:
    x = Input(TensorType("f32", (2,)), name="x")
    return Graph.of((x,), (kind()(x) + 1.0,))


@pytest.mark.parametrize("second", ["3 * x", "x - 1", "2 * x"])
def test_an_op_of_a_cell_that_runs_again_is_another_op(second: str) -> None:
    """Its graph is another one, also where it says the same: nobody compares what Python does."""
    first, other = redefined("2 * x"), redefined(second)

    assert of(first) == of(first) and of(first).digest == of(first).digest
    assert of(first) != of(other) and of(first).digest != of(other).digest
    assert of(other) == of(other)


def test_the_executor_builds_another_program_for_a_redefined_op() -> None:
    """And finds that of the first again."""
    base, kernels = make(), Table[Any]("kernel")
    executor = Executor(backends=(replace(base, kernels=kernels), base), passes=())
    results = []
    for equation in ("2 * x", "3 * x"):
        kind = redefined(equation)

        @kernels.on(kind)
        def rule(op: Any, inputs: Any, outputs: Any) -> Any:
            return lambda: np.copyto(outputs[0], op.evaluate(inputs[0])[0])

        results.append(executor(of(kind), np.ones(2, np.float32))[0].tolist())
    assert results == [[3.0, 3.0], [4.0, 4.0]] and len(executor) == 2


def test_a_body_with_a_redefined_op_is_another_body() -> None:
    """Digests of graphs inside ops follow, too."""

    def called(kind: Any) -> Graph:
        x = Input(TensorType("f32", (2,)), name="x")
        results: tuple[Value, ...] = ops.call(lambda x: [kind()(x)], x)
        return Graph.of((x,), results)

    first, other = redefined("2 * x"), redefined("3 * x")
    assert called(first) == called(first) and called(first) != called(other)
