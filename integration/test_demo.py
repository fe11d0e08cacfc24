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


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the demo says, and the folder that it writes to."""
    folder = tmp_path_factory.mktemp("demo")
    return demo(folder), folder


@pytest.mark.parametrize(("name", "least"), [("softmax", 0.94), ("mlp", 0.96), ("lenet", 0.97)])
def test_held_out_accuracy(name: str, least: float, run: tuple[str, Path]) -> None:
    """What the README promises; the plan's whole report, and its picture, are in files."""
    said, folder = run
    (accuracy,) = re.findall(rf"^{name} +([\d.]+) .* (?:native|numpy)$", said, re.MULTILINE)
    text = (folder / f"{name}-plan.txt").read_text()

    assert float(accuracy) >= least
    assert all(word in said for word in ("each on its own", "planned", "lower bound"))
    assert "worst step" in text and "step  op " in text
    assert ElementTree.parse(folder / f"{name}-plan.svg").getroot().tag.endswith("svg")


def test_the_summary_is_the_last_that_is_said(run: tuple[str, Path]) -> None:
    """A row for each network and where to read more, in lines that fit; no lists before it."""
    lines = [line for line in run[0].splitlines() if " epoch " not in line]
    last = lines[-5:]

    assert [line.split()[0] for line in last] == ["network", "softmax", "mlp", "lenet", "plans"]
    assert max(map(len, last[:4])) <= 80 and len(lines) < 40
    assert not [line for line in lines if line.startswith(("refused", "shared"))]


def test_the_same_seed_gives_the_same_numbers(run: tuple[str, Path], tmp_path: Path) -> None:
    """Losses and accuracy, digit for digit, also behind other networks; not with another seed."""

    def numbers(said: str) -> list[str]:
        losses = re.findall(r"^.*\bmlp\b.*(loss [\d.]+)", said, re.M)
        return [*losses, *re.findall(r"^mlp +0[\d.]+", said, re.M)]

    first = numbers(run[0])

    assert len(first) == 41 and numbers(demo(tmp_path, "mlp")) == first
    assert numbers(demo(tmp_path, "mlp", "--seed", "1")) != first
