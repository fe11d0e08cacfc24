"""The demo: accuracy on digits it has not seen, and the same numbers twice."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

DEMO = Path(__file__).parent / "demo.py"


def demo(folder: Path, *arguments: str) -> str:
    command = [sys.executable, str(DEMO), *arguments, "--out", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=200).stdout


@pytest.mark.parametrize(("name", "least"), [("softmax", 0.94), ("mlp", 0.96), ("lenet", 0.97)])
def test_held_out_accuracy(name: str, least: float, tmp_path: Path) -> None:
    """What the README promises, with the plan's report and its picture."""
    said = demo(tmp_path, name)
    (accuracy,) = re.findall(r"held-out accuracy ([\d.]+)", said)

    assert float(accuracy) >= least
    assert all(word in said for word in ("each on its own", "planned", "lower bound"))
    assert ElementTree.parse(tmp_path / f"{name}-plan.svg").getroot().tag.endswith("svg")


def test_the_same_seed_gives_the_same_numbers(tmp_path: Path) -> None:
    """Losses and accuracy, digit for digit; another seed gives others."""

    def numbers(*arguments: str) -> list[str]:
        return re.findall(r"loss [\d.]+|accuracy [\d.]+", demo(tmp_path, "mlp", *arguments))

    first = numbers()

    assert len(first) == 41 and numbers() == first != numbers("--seed", "1")
