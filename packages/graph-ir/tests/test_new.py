"""A new part works as it is written; a name that is taken is refused before anything is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from byparts_graph_ir.__main__ import main
from byparts_graph_ir.parts.hub import parts
from byparts_graph_ir.parts.new import KINDS, new_part


@pytest.fixture
def my_npu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The made part, as if it were installed: found by child processes."""
    project, *_ = new_part("backend", "my-npu", str(tmp_path)).files
    (entry,) = re.findall(r"^kernels-my-npu = .*$", project.read_text(), re.MULTILINE)
    info = project.parent / "byparts_kernels_my_npu-0.1.0.dist-info"
    info.mkdir()
    metadata = "Metadata-Version: 2.1\nName: byparts-kernels-my-npu\nVersion: 0.1.0\n"
    (info / "METADATA").write_text(metadata)
    (info / "entry_points.txt").write_text("[byparts.parts]\n" + entry.replace('"', "") + "\n")
    monkeypatch.setenv("PYTHONPATH", str(project.parent), prepend=os.pathsep)
    return project.parent


def python(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


RUN = """
from byparts_graph_ir import Graph, Input, TensorType
from byparts_graph_ir.parts.hub import parts
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
    only = "test_kernel and (add or softsign)"
    said = python("-m", "byparts_graph_ir", "check", "my-npu", "-k", only)

    assert re.search(r"^add .* ok ", said, re.MULTILINE)
    assert re.search(r"^softsign .* ok ", said, re.MULTILINE)  # it has a workspace


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_names_the_files_and_what_comes_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    assert main(["new", kind, "my-own", "--folder", str(tmp_path)]) == 0

    *files, advice = capsys.readouterr().out.splitlines()
    assert len(files) == (4 if kind == "op" else 3) and all(Path(f).is_file() for f in files)
    root = tmp_path / f"byparts-{KINDS[kind].prefix}-my-own"
    assert advice.startswith(f"next: pip install -e {root} && ")
    assert advice.endswith("byparts check my-own" if kind == "backend" else f"pytest {root}/tests")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_python_of_a_page(tmp_path: Path, kind: str) -> None:
    """Every placeholder is filled in, and nothing takes more than a screen to read."""
    for file in new_part(kind, "my-own", str(tmp_path)).files:
        text = file.read_text()
        assert "$" not in text and len(text.splitlines()) <= 60
        if file.suffix == ".py":
            compile(text, file, "exec")


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    folder = tmp_path / f"byparts-{KINDS[kind].prefix}-my-own"
    folder.mkdir()

    assert main(["new", kind, "my-own", "--folder", str(tmp_path)]) == 2
    assert f"{folder} exists already" in capsys.readouterr().err
    assert list(folder.iterdir()) == []


REFUSED = {
    "": "is no name for a part",
    "NPU": "is no name for a part",
    "my npu": "is no name for a part",
    "../npu": "is no name for a part",
    "-npu": "is no name for a part",
    "npu-": "is no name for a part",
    "my_npu": "is no name for a part",
    "1d": "is no name for a part",
    "class": "'class' has another meaning; take another name, as in my-class",
    "match": "'match' has another meaning",
    "auto": "'auto' has another meaning",
    "json": "'json' is a module of Python; take another name, as in my-json",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_name_is_refused(tmp_path: Path, kind: str, name: str) -> None:
    with pytest.raises(ValueError, match=REFUSED[name]):
        new_part(kind, name, str(tmp_path))
    assert list(tmp_path.iterdir()) == []


TAKEN = [(kind, r.name) for kind, given in KINDS.items() for _, r in parts.records(given.provides)]


@pytest.mark.parametrize(("kind", "name"), TAKEN)
def test_the_name_of_an_installed_record_is_refused(tmp_path: Path, kind: str, name: str) -> None:
    with pytest.raises(ValueError, match=r"already$|already; take another name$"):
        new_part(kind, name, str(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["op", "node", "tensor-type", "fused"])
def test_an_op_is_not_called_as_a_type_of_ours(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"there is an op or a type .* already"):
        new_part("op", name, str(tmp_path))


@pytest.mark.skipif(find_spec("byparts_opset") is None, reason="needs byparts-opset")
def test_an_op_is_not_called_as_an_op_there_is(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"type LogSoftmax \(log_softmax in text\) already"):
        new_part("op", "log-softmax", str(tmp_path))


def test_the_name_of_a_module_on_the_path_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "byparts_pass_mine.py").write_text("")

    with pytest.raises(ValueError, match="there is a module byparts_pass_mine already"):
        new_part("pass", "mine", str(tmp_path / "here"))
    assert not (tmp_path / "here").exists()


@pytest.mark.usefixtures("my_npu")
def test_the_name_of_an_installed_distribution_is_refused(
    my_npu: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(my_npu))

    with pytest.raises(ValueError, match="byparts-kernels-my-npu is installed already"):
        new_part("backend", "my-npu", str(tmp_path / "here"))
    assert not (tmp_path / "here").exists()


def test_a_folder_that_cannot_be_made_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")

    assert main(["new", "pass", "mine", "--folder", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.startswith("byparts new: ")
