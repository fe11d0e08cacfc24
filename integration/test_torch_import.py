"""What is said of importing from torch is what it does."""

from __future__ import annotations

import re
from pathlib import Path
from runpy import run_path

import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("byparts_frontend_torch", reason="needs frontend-torch")
HERE = Path(__file__).parent


def test_the_table_is_current() -> None:
    """After a change to a rule: `python tools/torch_import_table.py`."""
    script = run_path(str(HERE.parent / "tools" / "torch_import_table.py"))

    written = script["FILE"].read_text(encoding="utf-8")
    assert script["text"]() == written, "run python tools/torch_import_table.py"


def test_the_example_learns(capsys: pytest.CaptureFixture[str]) -> None:
    """The loss falls to less than a third."""
    script = run_path(str(HERE / "examples" / "torch_import.py"))
    script["main"]()

    losses = [float(x) for x in re.findall(r"loss (\d+\.\d+)", capsys.readouterr().out)]
    assert losses[-1] < losses[0] / 3
