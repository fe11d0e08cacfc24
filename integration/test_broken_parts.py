"""Broken distributions beside good ones, all really installed: one line each, and no harm."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import byparts_graph_ir
from byparts_graph_ir import parse, to_json
from third_party.environment import HERE, NEEDS, Environment, make

BROKEN = sorted(path.parent for path in (HERE / "broken").glob("*/pyproject.toml"))
SAYS = {
    "bad-argument": ("broken", "nonsense"),
    "bad-changes": ("ok", ""),
    "bad-duplicate": (
        "broken",
        "there is no module 'nowhere'; and backend 'numpy' is provided by bad-duplicate",
    ),
    "bad-exit": ("broken", "SystemExit: wrong platform"),
    "bad-import": ("broken", "No module named 'not_installed_library'"),
    "bad-new-api": ("incompatible", r"made for plugin API 1\.7, this IR has 1\.4: \w+"),
    "bad-no-api": (
        "broken",
        r"bad_no_api does not define BYPARTS_API; write BYPARTS_API = \(1, 0\)",
    ),
    "bad-none": (
        "broken",
        "bad_none:make returns None; end it with return byparts_graph_ir.Backend",
    ),
    "bad-old-api": ("incompatible", r"API 0\.9, this IR has 1\.4: pip install -U bad-old-api"),
    "bad-prints": ("ok", ""),
    "bad-raises": ("broken", "ValueError: boom"),
    "bad-record": ("broken", "must give hooks.Backend records, not 'numpy'"),
    "bad-stop": ("broken", "Stop: here"),
    "bad-tanh": ("conflict", "ops: other"),
    "bad-text-api": ("broken", r"has BYPARTS_API = '1\.0'; write BYPARTS_API = \(1, 0\)"),
}
BELOW = (
    "note: bad-changes (bad-changes 9.9) changes the working directory, the warning filters while "
    "it is loaded; put back",
    "backend 'numpy' is provided by bad-duplicate and byparts-kernels-numpy; "
    "set BYPARTS_DISABLE to bad-duplicate or kernels-numpy",
    "op 'tanh' is provided by bad-tanh and byparts-opset; set BYPARTS_DISABLE to bad-tanh or opset",
)
MODEL = to_json(parse("(%x: f32[2]) { return %x }", ops={}))
RUN = """
import numpy, byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType
from byparts_runtime import build
x = Input(TensorType("f32", (2,)), name="x")
print(build(Graph.of([x], [x * x]), backends=("numpy",))(numpy.float32([2, 3]))[0].tolist())
"""


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """All of them, and a good stranger."""
    if NEEDS:
        pytest.skip(f"needs {', '.join(NEEDS)}")
    environment = make(tmp_path_factory.mktemp("crowded") / "env")
    environment.install(*BROKEN, HERE / "acme-byparts-npu")
    return environment


def line_of(name: str, listing: str) -> str:
    (line,) = [line for line in listing.splitlines() if line.split()[:1] == [name]]
    return line


def test_there_are_fifteen() -> None:
    assert [folder.name for folder in BROKEN] == list(SAYS)


def test_each_has_one_line_with_its_cause(crowded: Environment) -> None:
    done = crowded.run("-m", "byparts_graph_ir", "parts")

    assert done.returncode == 0
    for name, (state, why) in SAYS.items():
        assert re.search(rf"^{name} +9\.9 +{state} .*{why}", line_of(name, done.stdout)), name
        assert len(line_of(name, done.stdout)) < 300
    for sentence in BELOW:
        assert done.stdout.splitlines().count(sentence) == 1, sentence
    assert re.search(
        r"^note: bad-prints \(bad-prints 9\.9\) writes .*hello from below", done.stdout, re.M
    )
    assert done.stderr == ""


def test_strict_is_for_ci(crowded: Environment) -> None:
    """Exit 1, with the same table; and 0 once the broken ones are switched off."""
    off = ",".join(SAYS)
    strict = crowded.run("-m", "byparts_graph_ir", "parts", "--strict")
    quiet = crowded.run("-m", "byparts_graph_ir", "parts", "--strict", BYPARTS_DISABLE=off)

    assert strict.returncode == 1 and "SystemExit: wrong platform" in strict.stdout
    assert quiet.returncode == 0, quiet.stdout


def test_the_good_ones_work(crowded: Environment) -> None:
    """All but the name that two of them claim: that is an error when it is used, and says so."""
    used = crowded.run("-c", RUN)
    chosen = crowded.run("-c", RUN, BYPARTS_DISABLE="bad-duplicate,bad-prints")

    assert (
        used.returncode == 1
        and (
            "backend 'numpy' is provided by bad-duplicate and byparts-kernels-numpy; "
            "set BYPARTS_DISABLE to bad-duplicate or kernels-numpy"
        )
        in used.stderr
    )
    assert chosen.stdout == "[4.0, 9.0]\n", chosen.stderr


def test_a_name_that_two_op_sets_have_is_an_error_for_graphs_that_use_it(
    crowded: Environment,
) -> None:
    """Other graphs are read."""
    read = "from byparts_graph_ir import parse; print(parse({!r}))"
    other, used = (
        crowded.run("-c", read.format(f"(%x: f32[2]) {{ %1: f32[2] = {op}(%x)  return %1 }}"))
        for op in ("neg", "tanh")
    )

    assert other.returncode == 0 and "neg(%x)" in other.stdout, other.stderr
    assert used.returncode == 1
    assert "PartError: op 'tanh' is provided by bad-tanh and byparts-opset; set" in used.stderr


def test_a_part_that_prints_does_not_write_into_the_output_of_a_command(
    crowded: Environment, tmp_path: Path
) -> None:
    (tmp_path / "model.json").write_text(MODEL)
    done = crowded.run("-m", "byparts_graph_ir", "plan", tmp_path / "model.json")
    alone = crowded.run(
        "-m",
        "byparts_graph_ir",
        "plan",
        tmp_path / "model.json",
        BYPARTS_ONLY="memplan,opset",
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout == alone.stdout
    assert "note: bad-prints (bad-prints) writes while it is loaded: " in done.stderr
    assert "note: bad-changes (bad-changes) changes the working directory" in done.stderr


def test_only_what_is_wanted_is_loaded(crowded: Environment) -> None:
    """`BYPARTS_ONLY`, by the names of parts or of distributions."""
    only = "kernels-numpy,byparts-opset"
    done = crowded.run("-m", "byparts_graph_ir", "parts", BYPARTS_ONLY=only)

    assert line_of("bad-exit", done.stdout).endswith("not in BYPARTS_ONLY")
    assert line_of("kernels-numpy", done.stdout).split()[2] == "ok"
    assert crowded.run("-c", RUN, BYPARTS_ONLY=only).stdout == "[4.0, 9.0]\n"


def test_a_misspelt_switch_is_named(crowded: Environment) -> None:
    done = crowded.run("-m", "byparts_graph_ir", "parts", BYPARTS_DISABLE="kernels-nunpy")

    assert "BYPARTS_DISABLE names no installed part: kernels-nunpy" in done.stdout


def test_auto_goes_on_to_the_next_that_starts(crowded: Environment) -> None:
    """And names those that did not when none is left."""
    auto = "from byparts_graph_ir.parts.hub import parts; print(parts.backend().name)"

    assert crowded.run("-c", auto, BYPARTS_DISABLE="bad-prints").stdout == "npu\n"
    none = crowded.run("-c", auto, BYPARTS_ONLY="bad-duplicate,bad-raises")
    assert "backend 'numpy' of bad-duplicate cannot be loaded from nowhere:make" in none.stderr
    assert "bad-raises (bad-raises 9.9) is broken: ValueError: boom" in none.stderr


@pytest.mark.parametrize(
    ("api", "state", "advice"),
    [
        ((1, 1), "ok", ""),
        ((1, 0), "ok", ""),  # older: what this stranger asks for was there
        ((1, 7), "ok", ""),  # grown since: what is asked for is there
        ((2, 0), "incompatible", "API 1.0, this IR has 2.0: pip install -U acme-byparts-npu"),
        ((0, 9), "incompatible", "made for plugin API 1.0, this IR has 0.9: "),
    ],
    ids=["same", "older minor", "newer minor", "newer major", "older major"],
)
def test_another_release_of_the_graph_ir(
    crowded: Environment, tmp_path: Path, api: tuple[int, int], state: str, advice: str
) -> None:
    """The same stranger, with an IR whose API is another: its files, with one line changed."""
    here = Path(byparts_graph_ir.__file__).parent
    shutil.copytree(here, there := tmp_path / here.name)
    hooks = (there / "parts" / "hooks.py").read_text(encoding="utf-8")
    changed = re.sub(r"\nAPI = \(\d+, \d+\)\n", f"\nAPI = {api}\n", hooks)
    (there / "parts" / "hooks.py").write_text(changed)

    done = crowded.run("-m", "byparts_graph_ir", "parts", PYTHONPATH=str(tmp_path))

    line = line_of("acme-npu", done.stdout)
    assert line.split()[2] == state and advice in line
    refused = api != (1, 7)
    assert ("incompatible" in line_of("bad-new-api", done.stdout)) == refused
