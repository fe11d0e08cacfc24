"""No compiler, a broken one, a full disk: a sentence, and the next backend in the list."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import BackendError, Graph, Input, TensorType
from byparts_kernels_native import make
from byparts_runtime import build

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)
AUTO = """
import numpy as np
import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType
from byparts_runtime import build
x = Input(TensorType("f32", (3,)))
program = build(Graph.of([x], [ops.exp(x)]), backends="auto")
assert program(np.zeros(3, "f4"))[0].tolist() == [1, 1, 1]
print(program.steps[0].backend)
print(program.explain(width=1000))
"""


def _graph(size: int) -> Graph:
    x = Input(TensorType("f32", (size,)))
    return Graph.of([x], [ops.exp(ops.neg(x))])


def test_a_compiler_that_fails_in_a_build_leaves_the_rest_to_the_next_backend(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BYPARTS_EMITTER", "c")  # LLVM would do it without a disk
    native = make()
    monkeypatch.setenv("BYPARTS_CACHE", str(tmp_path))
    monkeypatch.setenv("BYPARTS_CXXFLAGS", "--no-such-flag")
    with pytest.warns(RuntimeWarning, match=r"(?s)going on without it: backend 'native': .*failed"):
        program = build(_graph(1001), backends=(native, "numpy"))
    assert {step.backend for step in program.steps} == {"numpy"}
    assert "without    backend 'native': " in program.explain()
    with pytest.raises(BackendError, match=r"(?s)backend 'native': .*no-such-flag"):
        build(_graph(1001), backends=(native,))


def test_a_full_disk_leaves_the_rest_to_the_next_backend(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BYPARTS_EMITTER", "c")  # LLVM would do it without a disk
    native = make()
    build(_graph(1003), backends=(native,))  # imports: Python would write half of their bytecode
    monkeypatch.setenv("BYPARTS_CACHE", str(tmp_path))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.warns(RuntimeWarning, match="going on without it: backend 'native': "):
            program = build(_graph(1002), backends=(native, "numpy"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    np.testing.assert_allclose(program(np.zeros(1002, "f4"))[0], 1)


@pytest.mark.parametrize("broken", ["", "exit 1", "kill -9 $$"])
def test_auto_goes_on_where_no_compiler_works(broken: str, tmp_path: Path) -> None:
    """There is none, it fails, it dies."""
    fake = tmp_path / "fake-compiler"
    if broken:
        fake.write_text(f"#!/bin/sh\n{broken}\n")
        fake.chmod(0o755)
    cache = tmp_path / "cache"
    env = {"CXX": str(fake), "BYPARTS_EMITTER": "c", "BYPARTS_CACHE": str(cache)}
    env |= {"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", AUTO], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    assert not done.stdout.startswith("native")
    assert "without    backend 'native' of byparts-kernels-native does not start" in done.stdout
