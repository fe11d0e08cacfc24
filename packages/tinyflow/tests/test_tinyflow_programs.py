"""TinyFlow's five programs, with nothing but their import lines changed, on the shipped digits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"


def run(name: str, *arguments: int) -> list[str]:
    """The lines a program prints."""
    environment = {
        k: v for k, v in os.environ.items() if k not in ("BYPARTS_MNIST", "BYPARTS_CIFAR10")
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(PROGRAMS / name), *map(str, arguments)],
        capture_output=True, text=True, check=False, env=environment, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", ["mnist_softmax.py", "mnist_softmax_minimum.py"])
def test_softmax_learns_and_repeats(name: str) -> None:
    """300 steps classify nine digits of ten, and the same ones twice."""
    first = run(name, 300)

    assert float(first[-1]) > 0.9
    assert run(name, 300) == first


def test_mlp_learns() -> None:
    """Shapes found from the data, losses printed with %g and falling, 0.9 of the digits right."""
    lines = run("mnist_mlp_auto_shape_inference.py", 8)
    losses = [
        float(line.partition("cross_entropy=")[2]) for line in lines if line.startswith("epoch")
    ]

    assert lines[:2] == ["shape[fc1_weight]=[100, 784]", "shape[fc1_bias]=[100]"]
    assert len(losses) == 8 and losses[-1] < losses[0] / 3
    assert float(lines[-1]) > 0.9


def test_lenet_learns() -> None:
    """Convolutions, Adam, initialisation in two runs."""
    lines = run("mnist_lenet.py", 3)

    assert "shape[conv2_weight]=[50, 20, 5, 5]" in lines
    assert float(lines[-1]) > 0.85


@pytest.mark.long
def test_resnet_learns() -> None:
    """Batch normalisation, residuals, average pooling; it begins at log 10 and gets below."""
    lines = run("cifar_resnet.py", 61, 10)
    losses = [
        float(line.partition("cross_entropy=")[2]) for line in lines if line.startswith("step")
    ]

    assert "shape[batch_normalization7_gamma]=[64]" in lines
    assert abs(losses[0] - 2.3026) < 0.01 and losses[-1] < 2.29
