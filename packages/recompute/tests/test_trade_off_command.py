"""`byparts tradeoff`, called as the command line calls it."""

from __future__ import annotations

from pathlib import Path

import pytest
from planned_ops import Add, Neg

from byparts_recompute.command import command

TEXT = """(%x: f32[n]) {
  %1: f32[n] = neg(%x)
  %2: f32[n] = neg(%1)
  %3: f32[n] = add(%2, %1)
  return %3
}
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    ops = {"add": Add, "neg": Neg}
    monkeypatch.setattr("byparts_graph_ir.formats.text.installed_ops", lambda: ops)
    path = tmp_path / "model.txt"
    path.write_text(TEXT, encoding="utf-8")
    return str(path)


def test_text_and_a_picture(model: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "tradeoff.svg"
    assert command([model, "--dim", "n=1024", "--effort=0", f"--svg={out}"]) == 0

    assert "extra cost 0 to" in capsys.readouterr().out
    assert "recomputed: 8.00 KiB at 0 % extra" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--dim n="),
        (["--dim", "m=3"], "--dim m"),
        (["--dim", "n=4", "--svg", "no/such/folder.svg"], "folder.svg: No such file"),
    ],
)
def test_wrong_questions_are_told(
    model: str, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit status 2, and one sentence that begins with the command."""
    assert command([model, *options]) == 2

    said = capsys.readouterr().err
    assert said.startswith("byparts tradeoff: ") and message in said
