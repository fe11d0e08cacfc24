"""The generated table of ops is what the ops say."""

import json
from pathlib import Path
from runpy import run_path

import pytest

pytest.importorskip("byparts_kernels_numpy")
SCRIPT = run_path(str(Path(__file__).parents[1] / "ops_table.py"))


def test_ops_table_is_current() -> None:
    """After a change to an op or a kernel: `python tools/ops_table.py`."""
    written = SCRIPT["FILE"].read_text(encoding="utf-8")

    assert SCRIPT["text"]() == written, "run python tools/ops_table.py"


def test_the_page_says_which_output_a_function_gives() -> None:
    """The op of a layer norm has three outputs, its function gives one; help says the same."""
    (row,) = [line for line in SCRIPT["text"]().splitlines() if line.startswith("| `layer_norm` ")]

    assert "| y, mean, variance: x normalised" in row
    assert "| y alone: value, output 0 of 3 |" in row


def test_what_torch_has_is_current() -> None:
    """After a change to a kernel for torch: `python tools/ops_table.py`, with torch."""
    pytest.importorskip("torch", reason="needs torch")
    written = json.loads(SCRIPT["TORCH"].read_text(encoding="utf-8"))

    assert SCRIPT["torch_kernels"]() == written, "run python tools/ops_table.py"


def test_every_backend_has_every_op() -> None:
    """With a kernel, or by the ops it is made of."""
    assert "| missing |" not in SCRIPT["text"]()
