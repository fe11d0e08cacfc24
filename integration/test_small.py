"""What small systems cost: start-up, memory and bytes on disk, within `tools/budgets.tsv`.

Costs are those above a bare interpreter, or above NumPy by hand.  The budget of start-up is counted
in lines run and modules loaded, which no neighbour on the machine makes more of; they stand for
15 ms and for 40 % of NumPy by hand.  `benchmarks/start_up.py` measures the time.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from sysconfig import get_path

import pytest

from budgets import keep
from byparts_graph_ir.lazy_names import homes
from combinations.environment import (
    Environment,
    build_wheels,
    virtual_environment as bare,
    wheel_of,
)
from combinations.facts import closure, read_parts, requirements
from combinations.plan import SMALL_DEVICE
from combinations.third_party import Packages
from device_wheels import device_wheels
from small import by_hand, mlp, plan_only
from small.measure import Work, process, work

ROOT = Path(__file__).parent.parent
CONFORMANCE = "conformance"

linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc/self/status is Linux's")


def stated_homes(package: str) -> dict[str, str]:
    """Public name -> the module that it lives in."""
    __import__(package)
    return homes(package) if hasattr(sys.modules[package], "_homes") else {}


def text_of(module: object) -> str:
    return Path(str(vars(module)["__file__"])).read_text(encoding="utf-8")


def above(base: str, ours: str, cache: Path) -> tuple[Work, float]:
    """Work, and megabytes, that one program takes more than the other."""
    more = work(ours, cache) - work(base, cache)
    peaks = [[process(text, cache).mb for text in (ours, base)] for _ in range(3)]
    ours_mb, base_mb = map(min, zip(*peaks, strict=True))
    return more, ours_mb - base_mb


def within(program: str, more: Work, mb: float) -> None:
    """What a program takes more than another stays within its budgets."""
    keep("lines run", program, more.lines)
    keep("modules loaded", program, more.modules)
    keep("megabytes", program, mb)


@linux
def test_work_is_counted(tmp_path: Path) -> None:
    """That of modules too, and the same each time."""
    (tmp_path / "loop.py").write_text("for _ in range(1000):\n    pass\n")

    first, second = (work("import loop", tmp_path, (tmp_path,)) for _ in range(2))
    assert first == second
    more = first - work("import sys", tmp_path, (tmp_path,))
    assert more.modules == 1 and 2000 < more.lines < 2020, more


@linux
def test_the_ir_and_the_planner_cost_little_to_import(tmp_path: Path) -> None:
    ours = "import byparts_graph_ir, byparts_memplan, sys; assert 'typing' not in sys.modules"
    more, mb = above("", ours, tmp_path)

    within("import", more, mb)


@linux
def test_nor_to_build_and_plan_a_graph(tmp_path: Path) -> None:
    """What is imported late is paid late: this is the whole price."""
    more, mb = above("", text_of(plan_only), tmp_path)

    within("plan", more, mb)


@linux
def test_a_network_starts_nearly_as_fast_as_numpy_by_hand(tmp_path: Path) -> None:
    more, mb = above(text_of(by_hand), text_of(mlp), tmp_path)

    within("network", more, mb)


def test_the_network_gives_what_numpy_gives_by_hand(tmp_path: Path) -> None:
    files = [str(tmp_path / "graph.json"), str(tmp_path / "weights.npz")]
    mlp.write(*files)

    expected = by_hand.main([]).tolist()
    assert mlp.main([]).tolist() == expected
    assert mlp.main(files).tolist() == expected
    assert by_hand.main(files[1:]).tolist() == expected


@dataclass(frozen=True)
class Device:
    """The small wheels, and a Python that has them, and of ours the test kit alone."""

    wheels: list[Path]
    environment: Environment
    home: Path

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.environment.run("-W", "error", *arguments, home=self.home)


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Device:
    pytest.importorskip("hatchling", reason="hatchling is not installed, which builds the wheels")
    folder = tmp_path_factory.mktemp("device")
    parts = read_parts(ROOT)
    small = {name: parts[name] for name in closure(SMALL_DEVICE, parts)}
    built = {**small, CONFORMANCE: parts[CONFORMANCE]}
    build_wheels(built, folder / "whole")
    wheels = [wheel_of(part, folder / "whole") for part in small.values()]
    made = device_wheels(wheels, folder / "wheels")
    kit = wheel_of(parts[CONFORMANCE], folder / "whole")
    pip = ["pip", "install", "-q", "--no-index", "--no-deps", "--target", str(folder / "site")]
    subprocess.run([sys.executable, "-m", *pip, *map(str, [*made, kit])], check=True)
    packages = Packages([Path(get_path("purelib"))], folder / "links", sys.version_info[:2])
    names = packages.closure(requirements(built, parts))
    path = (folder / "site", *packages.path(names))
    environment = Environment(bare(Path(sys.executable), folder / "bare"), path, tuple(names))
    return Device(made, environment, folder)


@pytest.mark.long
def test_wheels_of_a_device_are_small(device: Device) -> None:
    """IR, ops, planner, runtime and kernels, all of them."""
    sizes = {wheel.name: wheel.stat().st_size for wheel in device.wheels}

    assert len(sizes) == 5
    keep("bytes", "wheels for devices", sum(sizes.values()))


FOUND = (
    "from byparts_graph_ir.parts.hub import parts; print(*((p.name, p.state) for p in parts.all()))"
)


def test_their_parts_are_found(device: Device) -> None:
    done = device.run("-c", FOUND)

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("'ok'") == 5 and "('kernels-numpy', 'ok')" in done.stdout


def test_they_run_the_network(device: Device) -> None:
    done = device.run(str(Path(mlp.__file__)))

    expected = [str(y) for y in by_hand.main([])[0]]
    assert (done.stderr, done.stdout.split()) == ("", expected)


@pytest.mark.long
def test_their_kernels_conform(device: Device) -> None:
    """The kit of the whole wheels, on every op, usual inputs and extreme ones."""
    kit = ("-p", "byparts_conformance.plugin", "--pyargs", "byparts_conformance.suite")
    options = (
        "-q",
        "-c",
        "/dev/null",
        "-p",
        "no:cacheprovider",
        "--byparts-backend=numpy",
        "--everything",
    )
    some = ("-k", "test_kernel and (basic or edges) or test_also")
    done = device.run("-m", "pytest", *options, *some, *kit)

    assert done.returncode == 0, done.stdout[-2000:] + done.stderr


def test_python_runs_them_from_the_wheels(device: Device) -> None:
    """Slower than installed: what is in a zip is compiled at each start."""
    path = (*device.wheels, *device.environment.path[1:])
    environment = Environment(device.environment.python, path, ())

    done = environment.run(str(Path(mlp.__file__)), home=device.home)
    assert (done.returncode, len(done.stdout.split())) == (0, 10), done.stderr


TOLD = (
    r"is left out of the device wheel (of )?byparts-[\w-]+( 0\.[0-9]+\.[0-9]+\+device)?; "
    "the full wheel has it"
)
ASK = """
import importlib, sys
from byparts_graph_ir.parts.hub import PartError
exec(sys.argv[1])
for question in sys.argv[2:]:
    try:
        answer = eval(question)
    except PartError as error:
        print(f"{type(error).__name__}: {error}")
    else:
        print(f"{question} gave {answer!r:.80}")
"""
MADE = """
import numpy as np
import byparts_kernels_numpy, byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType
from byparts_graph_ir.parts.hub import parts
from byparts_memplan import plan
from byparts_runtime import Store, build
x = Input(TensorType("f32", (2,)), name="x")
graph = Graph.of([x], [ops.tanh(x)])
planned = plan(graph)
program = build(graph, backends=("numpy",))
"""


def missing_modules(device: Device) -> dict[str, list[str]]:
    """Package -> modules (and packages) of the sources that its device wheel has no code for."""
    found: dict[str, list[str]] = {}
    for wheel in device.wheels:
        package = wheel.name.partition("-")[0]
        source = ROOT / "packages" / package.removeprefix("byparts_").replace("_", "-") / "src"
        with zipfile.ZipFile(wheel) as archive:
            packed = archive.read(f"{package}/_modules.py").decode()
            files = set(archive.namelist())
        files_of = [p for p in (source / package).iterdir() if p.suffix == ".py" or p.is_dir()]
        names = [p.stem for p in files_of if p.stem not in ("__init__", "__pycache__", "data")]
        found[package] = [
            f"{package}.{name}"
            for name in names
            if f"def {name}_():" not in packed
            and f"{package}/{name}.py" not in files
            and any((source / package / name).glob("*.py"))
            | (source / package / f"{name}.py").exists()
        ]
    return found


def test_what_is_left_out_says_so(device: Device) -> None:
    """Each module, and each public name that lived in one."""
    modules = [name for names in missing_modules(device).values() for name in names]
    names = [
        f"{wheel.name.partition('-')[0]}.{name}"
        for wheel in device.wheels
        for name, home in stated_homes(wheel.name.partition("-")[0]).items()
        if f"{wheel.name.partition('-')[0]}.{home}" in modules
    ]
    questions = [f"importlib.import_module({name!r})" for name in modules]
    setup = "; ".join(f"import {wheel.name.partition('-')[0]}" for wheel in device.wheels)
    done = device.run("-c", ASK, setup, *questions, *names)

    assert len(modules) > 10 and len(names) > 9
    lines = done.stdout.splitlines()
    assert len(lines) == len(questions) + len(names), done.stderr
    assert [line for line in lines if not re.search(TOLD, line)] == []


@pytest.mark.parametrize(
    "question",
    [
        "planned.report()",
        "planned.svg()",
        "planned.draw()",
        "program.explain()",
        "program.profile([1, 2])",
        "parts.get('passes', 'order')",
        "parts.get('commands', 'plan')",
        "build(graph, backends=('numpy',), order='order')",
    ],
)
@pytest.mark.long
def test_what_leads_to_what_is_left_out_says_so(device: Device, question: str) -> None:
    """Where the method is there and what it uses is not."""
    done = device.run("-c", ASK, MADE, question)

    assert re.search(TOLD, done.stdout), done.stdout + done.stderr


@pytest.mark.parametrize(
    "question",
    ["parts.get('passes', 'rematerialize')", "build(graph, backends=('numpy',), budget_bytes=9)"],
)
def test_computing_again_is_a_part_that_a_device_may_add(device: Device, question: str) -> None:
    """Asking for it says what to install."""
    done = device.run("-c", ASK, MADE, question)

    told = r"PartError: no pass 'rematerialize'; .*it comes with byparts-recompute: pip install"
    assert re.match(told, done.stdout), done.stdout + done.stderr


def test_files_of_arrays_are_a_part_that_a_device_may_add(device: Device) -> None:
    """Saving says what to install."""
    done = device.run("-c", ASK, MADE, "Store().save('w.npz')")

    assert re.match(r"PartError: files of arrays need byparts-weights: pip install", done.stdout)


def test_pictures_are_a_part_that_a_device_may_add(device: Device) -> None:
    """Drawing says what to install."""
    done = device.run("-c", ASK, MADE, "graph.svg()")

    assert re.match(r"PartError: no picture 'svg'; .* byparts-draw: pip install", done.stdout)


def test_the_command_line_is_one_sentence(device: Device) -> None:
    done = device.run("-m", "byparts_graph_ir", "parts")

    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(f"byparts: the command line {TOLD}\n", done.stderr)


INTERLOCKED = """
from byparts_memplan import Buffer, DoesNotFit, place
ring = [Buffer(1, 0, 5, gaps=((1, 4),)), *(Buffer(1, k - 1, k + 1) for k in range(1, 5))]
try:
    place(ring, capacity=2)
except DoesNotFit as error:
    print(error.proved, error)
"""


def test_they_place_in_greedy_orders(device: Device) -> None:
    """Without the search: what only it could prove is left open, and said so."""
    done = device.run("-c", INTERLOCKED)

    assert done.stdout.startswith("False 5 buffers do not fit in 2 bytes: no placement was found")
    assert done.stderr == ""
