"""The examples of training run by themselves, learn, and keep what they promise."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent / "examples"


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=200).stdout


@pytest.mark.parametrize("name", ["train_adam.py", "train_dropout.py", "train_batch_norm.py"])
def test_it_learns(name: str) -> None:
    """The loss falls below a quarter of what it was, and unseen digits are read."""
    said = run(name)
    losses = [float(loss) for loss in re.findall(r"loss ([\d.]+)", said)]
    (accuracy,) = re.findall(r"held-out accuracy ([\d.]+)", said)

    assert losses[9] < losses[0] / 4
    assert float(accuracy) >= 0.95


def test_dropout_repeats_itself() -> None:
    assert "the second run ended in the same bits: True" in run("train_dropout.py")


def test_a_checkpoint_gives_back_the_accuracy(tmp_path: Path) -> None:
    said = run("train_checkpoint.py", str(tmp_path))

    assert "the same as when it was saved: True" in said
    assert [p.name for p in tmp_path.iterdir()] == ["best.npz"]


def test_a_resumed_run_ends_in_the_same_bits() -> None:
    """Stopped in the middle of an epoch, and gone on with in another process."""
    said = run("train_resume.py")

    assert "resumed at step 33" in said
    assert "22 variables, equal to the bit: True" in said
