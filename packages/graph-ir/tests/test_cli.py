"""The command line, as a user calls it: in its own process."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from byparts_graph_ir.__main__ import main


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that raises on import, found by child processes."""
    info = tmp_path / "made_bad-9.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: made-bad\nVersion: 9.9\n")
    (info / "entry_points.txt").write_text("[byparts.parts]\nbad = made_bad\n")
    (tmp_path / "made_bad.py").write_text("import not_installed_lib")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def byparts(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "byparts_graph_ir", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_parts_lists_and_succeeds() -> None:
    done = byparts("parts")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("part ")


@pytest.mark.usefixtures("broken")
def test_a_broken_part_is_one_line_and_fails_only_when_strict() -> None:
    done = byparts("parts")

    (line,) = [line for line in done.stdout.splitlines() if line.startswith("bad ")]
    assert line.split()[:3] == ["bad", "9.9", "broken"]
    assert line.endswith("ModuleNotFoundError: No module named 'not_installed_lib'")
    assert done.returncode == 0
    assert byparts("parts", "--strict").returncode == 1


@pytest.mark.usefixtures("broken")
def test_verbose_prints_the_traceback() -> None:
    assert "Traceback" in byparts("parts", "-v").stdout
    assert "Traceback" not in byparts("parts").stdout


def test_a_switch_that_names_nothing_is_mentioned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_DISABLE", "kernels-nunpy")

    assert "BYPARTS_DISABLE names no installed part: kernels-nunpy" in byparts("parts").stdout


def test_unknown_arguments_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["parts", "--nonsense"])
    assert "unrecognized arguments: --nonsense" in capsys.readouterr().err


def test_check_without_the_kit_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("byparts_graph_ir.__main__.find_spec", lambda name: None)

    assert main(["check", "numpy"]) == 2
    assert "pip install byparts-conformance" in capsys.readouterr().err


@pytest.mark.skipif(find_spec("byparts_conformance") is None, reason="needs byparts-conformance")
def test_check_of_an_unknown_backend_names_the_known_ones() -> None:
    done = byparts("check", "nunpy")

    assert done.returncode == 2
    assert "no backend 'nunpy'; installed:" in done.stderr
