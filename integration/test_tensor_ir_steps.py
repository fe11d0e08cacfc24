"""The page that builds a product of matrices has a measured row for each of its steps."""

from __future__ import annotations

import os
import re
from pathlib import Path
from runpy import run_path
from unittest.mock import patch

import pytest

ROOT = Path(__file__).parent.parent


def test_the_table_has_a_row_for_each_step() -> None:
    """A step that is added to `docs/tensor-ir.md` is measured too."""
    pytest.importorskip("byparts_tensor_ir")
    page = (ROOT / "docs" / "tensor-ir.md").read_text(encoding="utf-8")
    with patch.dict(os.environ):  # the script sets the threads of BLAS
        script = run_path(str(ROOT / "benchmarks" / "tensor_ir_steps.py"))
    titles = [title.lower() for title, _, _ in script["steps"](page)]
    rows = re.findall(r"^\| ([a-z ]+?) \| [\d,]", page, re.MULTILINE)

    assert rows == titles
