"""The check for machines with a GPU runs here too, up to the GPU."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from gpu.report import report

CHECK = Path(__file__).parents[1] / "gpu" / "check.py"
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")


def check(*arguments: str) -> tuple[int, str]:
    """Status and report."""
    command = [sys.executable, "-W", "error", str(CHECK), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@needs_torch
def test_it_runs_on_a_gpu_that_is_not_there(tmp_path: Path) -> None:
    """Kernels are right, and a training step is replayed."""
    out = tmp_path / "found.json"
    wanted = ("--workloads", "w2", "--precisions", "f32", "--ops", "tanh", "matmul")

    status, text = check("--device", "double", "--small", "--out", str(out), *wanted)

    assert status == 0, text
    assert "Kernels of torch-cuda: 2 of 2 ops right" in text
    replayed = [row for row in json.loads(out.read_text()) if row.get("peer") == "ours, replayed"]
    assert ["steps replayed as one CUDA graph" in row["said"] for row in replayed] == [True]


@pytest.mark.long
@pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)
def test_it_runs_on_generated_kernels_of_a_gpu_that_is_not_there(tmp_path: Path) -> None:
    """Without torch: the kit, bandwidth, products, and a training step that is replayed."""
    out = tmp_path / "found.json"
    wanted = ("--workloads", "w2", "--precisions", "f32", "--ops", "tanh", "matmul")

    status, text = check("--emulated", "--small", "--out", str(out), *wanted)

    assert status == 0, text
    assert "Kernels of cuda: 2 of 2 ops right" in text
    assert "| softmax |" in text and "| f32 40 x 24 x 36 |" in text
    rows = [row for row in json.loads(out.read_text()) if "loss" in row]
    assert [row["peer"] for row in rows] == ["generated", "generated, replayed"]
    assert rows[0]["loss"] == rows[1]["loss"] and "one CUDA graph" in rows[1]["said"]


@needs_torch
def test_what_has_no_time_left_is_reported() -> None:
    status, text = check("--device", "cpu", "--small", "--workloads", "w1", "--seconds", "2")

    assert status == 1
    assert "- device: no time left" in text
    assert "- w1 f32 eager, ours: no time left" in text


def row(peer: str, ms: float, **more: Any) -> dict[str, Any]:
    given = {"workload": "w1", "precision": "f32", "loss": 2.0, "peak_mb": None, "said": ""}
    return {**given, "peer": peer, "ms": ms, **more}


def test_the_report_compares_the_best_of_ours() -> None:
    rows = [
        row("eager", 4.0, peak_mb=10.0),
        row("default", 3.0, peak_mb=8.0),
        row("ours", 2.0, peak_mb=6.0),
        row("ours, replayed", 1.0, peak_mb=6.0, loss=2.2),
    ]

    *_, line = report(rows).splitlines()

    assert line == "| w1 | f32 | 4 | 3 |  | 2 | 1 |  |  |  | 4.00 | 3.00 | 10.0, 8.0, 6.0 | 0.1 |"


def test_the_report_says_what_went_wrong() -> None:
    text = report(
        [
            {
                "backend": "cuda",
                "op": "tanh",
                "said": {"ok": 3, "FAIL": 1},
                "wrong": ["tanh(f32[2]) plain: no"],
            },
            {"section": "kernels", "failed": "stopped after 5 s"},
            {"workload": "w1", "precision": "f32", "peer": "ours", "error": "ValueError: no"},
            row("ours, replayed", 1.0, said="not captured: print is an effect"),
        ]
    )

    assert "Kernels of cuda: 0 of 1 ops right; cases: 1 FAIL, 3 ok." in text
    assert "- tanh: tanh(f32[2]) plain: no" in text
    assert "- kernels: stopped after 5 s" in text
    assert "- w1 f32 ours: ValueError: no" in text
    assert "- w1 f32 ours, replayed: not captured: print is an effect" in text


def test_no_kernel_of_a_workload_spills() -> None:
    """As the compiler said; `gpu/registers.py` writes the page."""
    page = (CHECK.parents[2] / "docs" / "gpu.md").read_text(encoding="utf-8")
    table = page.split("<!-- registers -->\n")[1].split("<!-- end of registers -->")[0]
    rows = [line for line in table.splitlines() if line.startswith("| w")]

    assert len(rows) >= 8
    assert [row for row in rows if not row.endswith("| 0 | 0 |")] == []
