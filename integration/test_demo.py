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
    """What the README promises; the plan's whole report, and its picture, are in files."""
    said = demo(tmp_path, name)
    (accuracy,) = re.findall(rf"^{name} +([\d.]+) .* (?:native|numpy)$", said, re.MULTILINE)
    text = (tmp_path / f"{name}-plan.txt").read_text()

    assert float(accuracy) >= least
    assert all(word in said for word in ("each on its own", "planned", "lower bound"))
    assert "worst step" in text and "step  op " in text
    assert ElementTree.parse(tmp_path / f"{name}-plan.svg").getroot().tag.endswith("svg")


def test_the_summary_is_the_last_that_is_said(tmp_path: Path) -> None:
    """A row for each network and where to read more, in lines that fit; no lists before it."""
    said = demo(tmp_path, "softmax", "mlp").splitlines()
    lines = [line for line in said if " epoch " not in line]
    last = lines[-4:]

    assert [line.split()[0] for line in last] == ["network", "softmax", "mlp", "plans"]
    assert max(map(len, last[:3])) <= 80 and len(lines) < 30
    assert not [line for line in lines if line.startswith(("refused", "shared"))]


def test_the_same_seed_gives_the_same_numbers(tmp_path: Path) -> None:
    """Losses and accuracy, digit for digit; another seed gives others."""

    def numbers(*arguments: str) -> list[str]:
        return re.findall(r"loss [\d.]+|^mlp +0[\d.]+", demo(tmp_path, "mlp", *arguments), re.M)

    first = numbers()

    assert len(first) == 41 and numbers() == first != numbers("--seed", "1")
