"""A new backend works as it is written."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from byparts_graph_ir.__main__ import main
from byparts_graph_ir.new import new_backend


@pytest.fixture
def my_npu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The made part, as if it were installed: found by child processes."""
    project, *_ = new_backend("my-npu", str(tmp_path))
    (entry,) = re.findall(r"^kernels-my-npu = .*$", project.read_text(), re.MULTILINE)
    info = project.parent / "byparts_kernels_my_npu-0.1.0.dist-info"
    info.mkdir()
    metadata = "Metadata-Version: 2.1\nName: byparts-kernels-my-npu\nVersion: 0.1.0\n"
    (info / "METADATA").write_text(metadata)
    (info / "entry_points.txt").write_text("[byparts.parts]\n" + entry.replace('"', "") + "\n")
    monkeypatch.setenv("PYTHONPATH", str(project.parent))
    return project.parent


def python(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


RUN = """
from byparts_graph_ir import Graph, Input, TensorType
from byparts_graph_ir.hub import parts
backend = parts.backend("my-npu")
x = Input(TensorType("f32", (2,)))
node = (x + x).node
memory = backend.space.allocate(64)
arrays = [backend.view(memory, offset, x.type) for offset in (0, 8)]
arrays[0][:] = 1.5
backend.bind(node, [arrays[0]] * 2, [arrays[1]])()
print(arrays[1].tolist(), backend.view(memory, 64, TensorType("f32", (0, 3))).shape)
"""


@pytest.mark.usefixtures("my_npu")
@pytest.mark.skipif(find_spec("byparts_opset") is None, reason="needs byparts-opset")
def test_the_made_backend_computes() -> None:
    assert python("-c", RUN).strip() == "[3.0, 3.0] (0, 3)"


@pytest.mark.usefixtures("my_npu")
@pytest.mark.skipif(find_spec("byparts_conformance") is None, reason="needs byparts-conformance")
def test_the_made_backend_passes_the_kit() -> None:
    said = python("-m", "byparts_graph_ir", "check", "my-npu", "-k", "test_kernel and add")

    assert re.search(r"^add .* ok ", said, re.MULTILINE)


def test_the_command_names_the_files_and_what_comes_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "backend", "npu", "--folder", str(tmp_path)]) == 0

    *files, advice = capsys.readouterr().out.splitlines()
    assert len(files) == 3
    assert advice.endswith("byparts-kernels-npu && byparts check npu")


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new_backend("npu", str(tmp_path))

    assert main(["new", "backend", "npu", "--folder", str(tmp_path)]) == 2
    assert "byparts-kernels-npu exists already" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", "NPU", "my npu", "../npu", "-npu", "npu-"])
def test_a_bad_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="is no name for a backend"):
        new_backend(name, str(tmp_path))
