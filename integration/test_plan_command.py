"""`byparts plan` on real ops, as a user calls it."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, TensorType, Value, to_json
from byparts_memplan import Plan
from byparts_runtime import build


def perceptron(layers: int = 4) -> Graph:
    """A step's loss and gradients, of any batch."""
    x = Input(TensorType("f32", ("n", 32)), name="x")
    weights = [Input(TensorType("f32", (32, 32)), name=f"w{i}") for i in range(layers)]
    y: Value = x
    for w in weights:
        y = ops.tanh(y @ w)
    loss = ops.mean(y * y)
    return Graph.of([x, *weights], [loss, *gradients(loss, tuple(weights))])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.json"
    path.write_text(to_json(perceptron()), encoding="utf-8")
    return path


def byparts(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "byparts_graph_ir", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_model_is_planned_and_drawn(model: Path, tmp_path: Path) -> None:
    """The command of the issue."""
    done = byparts(
        "plan", model, "--dim", "n=64", "--external", "w*", "--svg", tmp_path / "out.svg"
    )

    assert done.returncode == 0, done.stderr
    assert all(word in done.stdout for word in ("planned", "lower bound", "worst step"))
    assert "(test_plan_command.py:" in done.stdout
    assert ElementTree.parse(tmp_path / "out.svg").getroot().tag.endswith("svg")


def test_a_budget_is_kept(model: Path) -> None:
    """And what is not possible is a no, with the bytes that stand against it."""
    plan = ("plan", model, "--dim=n=64", "--external=w*", "--effort=0")

    assert byparts(*plan, "--budget=48KiB", "--check").returncode == 0
    refused = byparts(*plan, "--budget=4KiB")
    assert refused.returncode == 1 and "budget of 4,096 bytes" in refused.stderr


def test_a_model_of_unknown_ops_says_which_parts_there_are(model: Path, tmp_path: Path) -> None:
    strange = tmp_path / "strange.json"
    strange.write_text(model.read_text(encoding="utf-8").replace("tanh", "tamh"), encoding="utf-8")
    done = byparts("plan", strange)

    assert done.returncode == 2
    assert "nodes[1]: unknown op 'tamh'; did you mean 'tanh'?" in done.stderr
    # Another part that is installed may have ops as well: kernels-torch has.
    (parts,) = (line for line in done.stderr.splitlines() if "parts with ops: " in line)
    assert "byparts-opset" in parts


def test_buffers_of_a_file_are_placed(tmp_path: Path) -> None:
    """The other command of the same part."""
    (tmp_path / "buffers.csv").write_text(
        "id,lower,upper,size\na,0,2,4\nb,1,3,2\n", encoding="utf-8"
    )
    done = byparts("place", tmp_path / "buffers.csv")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("id,lower,upper,size,offset\n")


def test_a_stage_of_a_program_has_a_report() -> None:
    """What the runtime planned is a plan of memplan's."""
    x = Input(TensorType("f32", (64, 32)), name="x")
    made = build(Graph.of([x], [ops.exp(ops.tanh(x))])).plan

    assert isinstance(made, Plan) and "worst step" in made.report()
