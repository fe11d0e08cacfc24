"""The benchmark of many shapes runs, and its works are built once for all sizes."""

import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parents[1] / "shapes" / "run.py"


@pytest.mark.parametrize("work", ["gpt", "train", "tagger", "cnn", "mlp"])
def test_a_work_is_compiled_once_for_every_size(work: str) -> None:
    """NumPy kernels serve each work's sizes by one program."""
    command = [sys.executable, str(RUN), "--lengths", "2", "--peers", "numpy", "--work", work]

    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert "numpy: 0 compilers in the first call, 0 later; compiled once for every size" in printed
