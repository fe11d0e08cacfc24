"""`byparts plan`, called as the command line calls it, on ops of the tests' own."""

from __future__ import annotations

import io
import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
from planned_ops import Add, Neg, Reshape
from random_kernels import said as kernel_that_said

from byparts_graph_ir import (
    Graph,
    Input,
    Kernel,
    MissingRule,
    Op,
    TensorType,
    Types,
    Value,
    to_json,
)
from byparts_memplan import plan_from_json
from byparts_memplan.commands.plan import command


class Reverse(Op):
    """Reads and writes at different places, so never in place."""

    def infer(self, x: TensorType) -> Types:
        return (x,)


needs_recompute = pytest.mark.skipif(
    find_spec("byparts_recompute") is None, reason="byparts-recompute is not installed"
)
OPS = {"add": Add, "neg": Neg, "reverse": Reverse, "reshape": Reshape}
TEXT = """(%x: f32[n,4], %w1: f32[n,4], %w2: f32[n,4]) {
  %3: f32[n,4] = add(%x, %w1)  # net.py:3
  %4: f32[n,4] = reverse(%3)  # net.py:4
  %5: f32[n,4] = add(%4, %w2)  # net.py:5
  return %5
}
"""


@pytest.fixture(autouse=True)
def ops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("byparts_graph_ir.formats.json_format.installed_ops", lambda: OPS)
    monkeypatch.setattr("byparts_graph_ir.formats.text.installed_ops", lambda: OPS)


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "model.txt"
    path.write_text(TEXT, encoding="utf-8")
    return str(path)


Captured = pytest.CaptureFixture[str]
DIM = ["--dim", "n=4"]


def test_a_report_is_the_default(model: str, capsys: Captured) -> None:
    """What is in the file, what it costs, where most is alive."""
    assert command([model, *DIM, "--external", "w*"]) == 0

    said = capsys.readouterr()
    assert said.out.startswith("3 nodes, 3 inputs, 2 of them outside the arena, 1 outputs\n\n")
    assert "  planned               128 B   50.0 %  by sweep\n" in said.out
    assert "worst step: 1, reverse f32[4,4] (net.py:4), 128 B alive" in said.out
    assert said.err == ""


def test_all_inputs_but_some_are_outside(model: str, capsys: Captured) -> None:
    assert command([model, *DIM, "--external", "*,!x", "--json"]) == 0

    assert plan_from_json(capsys.readouterr().out).external == (1, 2)


def test_json_is_read_as_well(tmp_path: Path, capsys: Captured) -> None:
    x = Input(TensorType("f32", (4,)), None, "x")
    path = tmp_path / "model.json"
    path.write_text(to_json(Graph.of((x,), (Neg()(x),))), encoding="utf-8")

    assert command([str(path)]) == 0
    assert "1 nodes, 1 inputs" in capsys.readouterr().out


def test_what_comes_in_is_read_as_well(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))

    assert command(["-", *DIM]) == 0
    assert "3 nodes" in capsys.readouterr().out


def test_json_comes_out_alone(model: str, capsys: Captured) -> None:
    """A plan that can be read back."""
    assert command([model, *DIM, "--json", "--alignment", "1"]) == 0

    made = plan_from_json(capsys.readouterr().out)
    assert (made.arena_bytes, made.alignment, made.external) == (192, 1, ())


def test_pictures_are_written(model: str, tmp_path: Path, capsys: Captured) -> None:
    svg, curve = tmp_path / "plan.svg", tmp_path / "curve.svg"

    assert command([model, *DIM, "--svg", str(svg), "--curve", str(curve)]) == 0
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    assert "as written: 192 B" in curve.read_text(encoding="utf-8")
    assert capsys.readouterr().err.startswith(f"wrote {svg}, ")


def test_drawn_as_text(model: str, capsys: Captured) -> None:
    """Without colours where nobody looks at a terminal."""
    assert command([model, *DIM, "--draw"]) == 0

    said = capsys.readouterr().out
    assert "worst step" in said and "lower bound" not in said and "\x1b" not in said


def test_an_order_is_compared_with_the_one_written(model: str, capsys: Captured) -> None:
    assert command([model, *DIM, "--order", "--check"]) == 0

    said = capsys.readouterr().out
    assert "  as written       192 B alive at the worst step\n  in order " in said
    assert said.endswith("checked: every read finds its own bytes\n")


def test_another_planner(model: str, capsys: Captured) -> None:
    assert command([model, *DIM, "--planner", "greedy"]) == 0
    assert "planned" in capsys.readouterr().out
    assert command([model, *DIM, "--planner", "gready"]) == 2
    assert "no planner 'gready'; installed: " in capsys.readouterr().err


def test_an_arena_over_the_budget_is_a_no(model: str, capsys: Captured) -> None:
    """Nothing here can be recomputed for less; the error names who is alive."""
    assert command([model, *DIM, "--budget", "100B", "--effort=0"]) == 1
    assert "within a budget of 100 bytes" in capsys.readouterr().err


@pytest.fixture
def deep(tmp_path: Path) -> str:
    """Four copies of x, which all must be kept for the way back, or be made again."""
    path = tmp_path / "deep.txt"
    path.write_text(DEEP, encoding="utf-8")
    return str(path)


DEEP = """(%x: f32[256]) {
  %1: f32[256] = reverse(%x)
  %2: f32[256] = reverse(%1)
  %3: f32[256] = reverse(%2)
  %4: f32[256] = reverse(%3)
  %5: f32[256] = add(%4, %3)
  %6: f32[256] = add(%5, %2)
  %7: f32[256] = add(%6, %1)
  %8: f32[256] = add(%7, %x)
  return %8
}
"""


@needs_recompute
def test_a_budget_is_kept_by_recomputation(deep: str, capsys: Captured) -> None:
    """Before and after, and what it costs."""
    assert command([deep, "--external", "x", "--budget", "3072", "--check", "--effort=0"]) == 0

    said = capsys.readouterr().out
    assert (
        "  as written    4.00 KiB alive at the worst step\n  recomputed    3.00 KiB alive" in said
    )
    assert "more work" in said and "- budget: 3.00 KiB" in said


@needs_recompute
def test_extra_work_is_limited(deep: str, capsys: Captured) -> None:
    assert command([deep, "--external=x", "--max-extra-cost=50%", "--effort=0"]) == 0

    assert "recomputed" in capsys.readouterr().out


WRONG = {
    "damaged": ('{"format": "byparts-graph",\n "version": 1,,', [], "line 2 column 15"),
    "other": ('{"a": 1}', [], "the file lacks 'format'"),
    "text": ("(%x: f32[4]) {\n  return %y\n}", [], "line 2, column 10: "),
    "unknown op": (
        "(%x: f32[4]) {\n %1: f32[4] = negg(%x)\n return %1\n}",
        [],
        "unknown op 'negg'",
    ),
    "empty": ("", [], "the file is empty"),
    "table": (
        "id,lower,upper\n",
        [],
        "begins with 'id,lower,upper\\n'; a graph is JSON, as to_json",
    ),
    "no number": (TEXT, [], r"input x is f32[n,4]; give n a number: --dim n=..."),
    "no shape": ("(%x: f32[?]) {\n  return %x\n}", [], "give its shape: --shape x=..."),
    "no number for a name": (
        TEXT.replace("n,4", "2*n+1,4"),
        [],
        r"input x is f32[2*n+1,4]; give n a number: --dim n=...",
    ),
    "no such dimension": (TEXT, ["--dim", "m=3"], "no input has such a dimension; dimensions: n"),
    "no such input": (TEXT, ["--shape", "y=3"], "there is no such input; inputs: x, w1, w2"),
    "no such weight": (TEXT, [*DIM, "--external", "v*"], "no input has such a name; inputs: x, w1"),
    "another shape": (TEXT, ["--shape", "x=4,5"], "input 'x' is f32[n,4] in the graph"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name: str, tmp_path: Path, capsys: Captured) -> None:
    """In one line with the file, and where; no traceback."""
    text, options, says = WRONG[name]
    path = tmp_path / "model.json"
    path.write_text(text, encoding="utf-8")

    assert command([str(path), *options]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(f"byparts plan: {path}: ")
    assert says in said.err


def test_bytes_that_are_no_text_have_a_place(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(b'{"a":\n "\xff"}')

    assert command([str(path)]) == 2
    assert "line 2 column 3: not a text in UTF-8" in capsys.readouterr().err


def test_a_missing_file_and_a_missing_folder(model: str, capsys: Captured) -> None:
    assert command(["nowhere.json"]) == 2
    assert capsys.readouterr().err == "byparts plan: nowhere.json: No such file or directory\n"
    assert command([model, *DIM, "--svg", "nowhere/plan.svg"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", "byparts plan: nowhere/plan.svg: No such file or directory\n")
    assert command([model, *DIM, "--curve", "."]) == 2
    assert capsys.readouterr().err == "byparts plan: .: Is a directory\n"


def test_a_budget_that_cannot_be_met_says_which_can(deep: str, capsys: Captured) -> None:
    """In the words of this command."""
    assert command([deep, "--external=x", "--budget=1KiB", "--effort=0"]) == 1
    said = (
        r"\n  try a smaller batch, or a larger effort\n  the smallest arena found: --budget (\d+)\n"
    )
    found = re.search(said, capsys.readouterr().err)
    assert found is not None
    assert command([deep, "--external=x", f"--budget={found[1]}", "--effort=0"]) == 0


def test_who_waits_at_a_terminal_is_told(
    deep: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    assert command([deep, "--external=x", "--max-extra-cost=50%"]) == 0
    assert re.search(r"\d B for [\d.]+% more work\n", capsys.readouterr().err)


def test_closed_input(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(sys, "stdin", None)

    assert command(["-"]) == 2
    assert "-: standard input is closed; expected a graph" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "says"),
    [
        (["--dim", "n"], "'n' is not like n=32"),
        (["--shape", "x=a"], "'x=a' is not like x=32,784"),
        (["--budget", "much"], "'much' is not an amount"),
        (["--max-extra-cost", "-1%"], "'-1%' is not like 0.01, or 1%"),
        (["--alignment", "0"], "'0' is not a number of bytes"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
    ],
)
def test_wrong_options_are_refused(
    option: list[str], says: str, model: str, capsys: Captured
) -> None:
    with pytest.raises(SystemExit, match="2"):
        command([model, *(option if len(option) < 2 else [f"{option[0]}={option[1]}"])])
    assert says in capsys.readouterr().err


def test_inputs_are_made_static_by_shape(tmp_path: Path, capsys: Captured) -> None:
    """Also such as have no rank."""
    path = tmp_path / "model.txt"
    path.write_text("(%x: f32[...]) {\n  %1: f32[...] = neg(%x)\n  return %1\n}", encoding="utf-8")

    assert command([str(path), "--shape", "x=4,4", "--alignment=1"]) == 0
    assert "f32[4,4]" in capsys.readouterr().out


def test_inputs_without_names_are_called_by_number(tmp_path: Path, capsys: Captured) -> None:
    given: list[Value] = [Input(TensorType("f32", (4,)), None, "") for _ in range(2)]
    path = tmp_path / "model.json"
    path.write_text(to_json(Graph.of(given, (Add()(*given),))), encoding="utf-8")

    assert command([str(path), "--external", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["external"] == [1]


class Toy:
    """A backend: a reversal needs 100 bytes, a sum none, and it knows of nothing else."""

    def compile(self, op: Op, types: Sequence[TensorType]) -> Kernel:
        if isinstance(op, (Reshape, Neg)):
            raise MissingRule(f"backend 'toy' has no kernel for {op.name}")
        return kernel_that_said(100 if isinstance(op, Reverse) else 0, *op.inplace)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("byparts_graph_ir.parts.hub.parts.backend", {"toy": Toy()}.__getitem__)


@pytest.mark.usefixtures("toy")
def test_workspaces_of_a_backend_are_counted(model: str, tmp_path: Path, capsys: Captured) -> None:
    """In the report, the summary of what was done, the plan and the pictures."""
    curve = str(tmp_path / "curve.svg")
    asked = [model, *DIM, "--external", "w*", "--backend", "toy"]

    assert command([*asked, "--order", "--check", "--curve", curve]) == 0
    said = capsys.readouterr().out
    assert said.startswith("3 nodes, 3 inputs, 2 of them outside the arena, 1 outputs\nkernels of ")
    assert "kernels of toy\n" in said
    assert "  kernels: 1 workspace, 128 B together, the largest 128 B\n" in said
    assert "  as written       228 B alive at the worst step\n" in said
    assert "as written: 228 B" in Path(curve).read_text(encoding="utf-8")
    assert command([*asked, "--json"]) == 0
    assert plan_from_json(capsys.readouterr().out).workspace_bytes == {1: 128}


@pytest.mark.usefixtures("toy")
def test_a_budget_has_room_for_workspaces(model: str, capsys: Captured) -> None:
    """What fits without them does not with them, in any planner."""
    asked = [model, *DIM, "--external", "w*", "--backend", "toy"]

    assert command([*asked[:-2], "--budget", "200"]) == 0
    assert command([*asked, "--budget", "200"]) == 1
    assert "100 B: workspace of %4 reverse (net.py:4)" in capsys.readouterr().err
    assert command([*asked, "--planner", "greedy", "--check"]) == 0
    assert "1 workspace, 128 B together" in capsys.readouterr().out


@pytest.mark.usefixtures("toy")
def test_an_op_that_no_backend_has_is_named(tmp_path: Path, capsys: Captured) -> None:
    """It counts as the op says."""
    path = tmp_path / "model.txt"
    path.write_text("(%x: f32[4]) { %1: f32[4] = neg(%x)  return %1 }", encoding="utf-8")

    assert command([str(path), "--backend", "toy,toy", "--check"]) == 0
    said = capsys.readouterr().out
    assert "kernels of toy, toy; none for neg\n" in said
    assert "1 of 1 in place" in said


def test_a_backend_that_is_not_installed(model: str, capsys: Captured) -> None:
    assert command([model, *DIM, "--backend", "abacus"]) == 2
    assert "no backend 'abacus'; installed: " in capsys.readouterr().err
