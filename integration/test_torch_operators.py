"""A fixed part of torch's operator database; `torch_operators.py` runs all of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from runpy import run_path

import pytest

torch = pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("byparts_frontend_torch", reason="needs frontend-torch")
pytest.importorskip("byparts_kernels_torch", reason="needs kernels-torch")
SCRIPT = Path(__file__).with_name("torch_operators.py")
# Ops that gave wrong numbers or raw errors once.
OPS = (
    *("index_fill", "masked_scatter", "max_unpool1d", "transpose_copy", "unfold_copy"),
    *("scaled_dot_product_attention", "upsample_bilinear", "new_empty_strided"),
)


def test_nothing_of_some_ops_is_wrong() -> None:
    """In a process of its own: torch's test module and pytest import two kinds of distutils."""
    command = [sys.executable, str(SCRIPT), "--samples", "2", "--only", *OPS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.partition("right")[2].split()[1]) >= 20, done.stdout


def test_a_wrong_rule_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail."""
    import byparts_opset as ops
    from byparts_frontend_torch import rules

    script = run_path(str(SCRIPT))
    case = script["Case"]("sin float32 #0", torch.sin, (torch.ones(2),), False)
    (right,) = script["tried"]([case])
    monkeypatch.setitem(rules._rules, "aten.sin.default", ops.cos)
    (wrong,) = script["tried"]([case])

    assert right.kind == "right"
    assert wrong.kind == "wrong" and wrong.why.startswith("reference: output 0")
