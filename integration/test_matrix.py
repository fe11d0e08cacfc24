"""The matrix plans every combination, and catches what it is there to catch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copytree
from subprocess import CompletedProcess
from sys import executable
from sysconfig import get_path

import pytest
from packaging.requirements import Requirement

from combinations.environment import (
    Environment,
    Linked,
    build_wheels,
    proof_home,
    virtual_environment as bare,
)
from combinations.facts import Part, Parts, closure, read_parts, requirements
from combinations.oldest import Pin, older_parts, pins
from combinations.plan import Combination, combinations
from combinations.third_party import Missing, Packages
from combinations.verdict import FAIL, OK, Verdict, judge, prove, summary, table
from matrix import left_out, main
from proof.spec import Answer

ROOT = Path(__file__).parent.parent
REAL = read_parts(ROOT)
SMALL = closure(["kernels-numpy", "memplan", "runtime"], REAL)


def part(name: str, *needs: str, sockets: str = "", others: str = "", version: str = "0.1") -> Part:
    return Part(
        name,
        Path(name),
        version,
        tuple(Requirement(f"byparts-{need}") for need in needs),
        tuple(map(Requirement, others.split())),
        sockets=frozenset(sockets.split()),
    )


def toy() -> dict[str, Part]:
    every = [
        part("ir"),
        part("opset", "ir", sockets="ops"),
        part("fold", "opset", sockets="passes"),
        part("runtime", "ir"),
        part("kernels-a", "opset", sockets="backends"),
        part("kernels-b", "ir", sockets="backends", others="torch>=2"),
        part("frontend-x", "runtime", "opset", sockets="frontends"),
    ]
    return {p.name: p for p in every}


def ids(parts: Parts) -> list[str]:
    return [c.id for c in combinations(parts)]


def test_every_part_is_tried_with_what_it_requires_and_nothing_else() -> None:
    tried = {c.parts for c in combinations(REAL)}

    assert {closure([name], REAL) for name in REAL} <= tried


def test_every_backend_is_tried_with_and_without_what_the_runtime_finds() -> None:
    assert {
        *("kernels-a+runtime", "fold+kernels-a+runtime"),
        *("kernels-b+opset+runtime", "fold+kernels-b+runtime"),
    } <= set(ids(toy()))


def test_every_frontend_is_tried_on_every_backend() -> None:
    assert {"frontend-x+kernels-a", "frontend-x+kernels-b"} <= set(ids(toy()))


def test_the_same_parts_are_tried_once() -> None:
    plain = [c.parts for c in combinations(REAL) if not c.zipped and not c.lacks]

    assert len(plain) == len(set(plain)) and len(ids(REAL)) == len(set(ids(REAL)))


def test_everything_is_tried_together() -> None:
    assert Combination("all", frozenset(REAL)) in combinations(REAL)


def test_what_requires_torch_is_tried_without_it() -> None:
    lacking = [(c.id, c.lacks) for c in combinations(toy()) if c.lacks]

    assert lacking == [("kernels-b - torch", frozenset({"torch"}))]


def test_a_new_part_takes_its_places() -> None:
    new = toy() | {"kernels-c": part("kernels-c", "ir", sockets="backends")}

    added = set(ids(new)) - set(ids(toy()))

    assert {"kernels-c", "kernels-c+opset+runtime", "frontend-x+kernels-c"} <= added


def test_every_subset_is_tried_on_demand() -> None:
    assert len(combinations(REAL, every_subset=True)) > len(combinations(REAL))


def test_sockets_are_read_from_the_plugins() -> None:
    assert "planners" in REAL["memplan"].sockets and REAL["runtime"].sockets == set()


def test_extras_that_parts_ask_of_each_other_are_required() -> None:
    names = {r.name for r in requirements(closure(["conformance"], REAL), REAL)}

    assert {"ml_dtypes", "pytest", "hypothesis", "numpy", "pluggy"} <= names


def test_a_workspace_without_parts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no packages/\*/pyproject.toml below"):
        read_parts(tmp_path)


def test_pins_are_what_all_who_require_it_claim_together() -> None:
    parts = {"a": part("a", others="numpy>=1.20"), "b": part("b", others="numpy<3,>=1.26 torch>=2")}

    assert pins(parts, "torch==2.13.0\n") == [Pin("numpy", "1.26"), Pin("torch", "2", "2.13.0")]


def test_a_requirement_without_oldest_version_is_refused() -> None:
    with pytest.raises(ValueError, match="numpy claims no oldest version; write numpy>="):
        pins({"a": part("a", others="numpy")}, "")


def test_a_pin_that_is_held_elsewhere_says_what_is_not_tried() -> None:
    assert "2.13.0 (constraints.txt; 2.4 is claimed" in str(Pin("torch", "2.4", "2.13.0"))


def test_parts_are_tried_on_the_oldest_release_that_they_claim() -> None:
    parts = {
        "ir": part("ir", version="0.3"),
        "a": part("a", "ir>=0.1"),
        "b": part("b", "ir<1,>=0.2"),
    }

    assert older_parts(parts) == {"ir": "0.2"}


def test_the_version_of_the_tree_is_no_older_release() -> None:
    assert older_parts({"ir": part("ir", version="0.1.0"), "a": part("a", "ir>=0.1")}) == {}


@pytest.fixture
def packages(tmp_path: Path) -> Packages:
    for name, needs in {"numpy": "", "torch": "sympy>=1", "sympy": ""}.items():
        folder = tmp_path / "site" / f"{name}-2.0.dist-info"
        folder.mkdir(parents=True)
        lines = [f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.0"]
        lines += [f"Requires-Dist: {needs}", "Requires-Dist: x; extra == 'x'"] if needs else []
        (folder / "METADATA").write_text("\n".join(lines))
        (folder / "RECORD").write_text(f"{name}.py,,\n{folder.name}/METADATA,,\n")
        (tmp_path / "site" / f"{name}.py").touch()
    return Packages([tmp_path / "site"], tmp_path / "links", (3, 10))


def test_packages_bring_what_they_require(packages: Packages) -> None:
    assert packages.closure([Requirement("torch")]) == ["sympy", "torch"]


def test_packages_can_be_left_out_with_what_they_alone_require(packages: Packages) -> None:
    wanted = [Requirement("torch"), Requirement("numpy")]

    assert packages.closure(wanted, frozenset({"torch"})) == ["numpy"]


@pytest.mark.parametrize(
    ("wanted", "said"),
    [("jax>=1", "jax>=1 is not installed here"), ("numpy>=3", "numpy>=3 is wanted, and 2.0 is")],
)
def test_a_package_that_is_not_here_is_named(packages: Packages, wanted: str, said: str) -> None:
    with pytest.raises(Missing, match=said):
        packages.closure([Requirement(wanted)])


def test_a_requirement_for_another_python_does_not_count(packages: Packages) -> None:
    assert packages.closure([Requirement("jax; python_version < '3.10'")]) == []


def test_links_hold_the_files_of_one_package(packages: Packages) -> None:
    (folder,) = packages.path(["numpy"])

    assert {path.name for path in folder.iterdir()} == {"numpy.py", "numpy-2.0.dist-info"}


def ended(status: int) -> CompletedProcess[str]:
    return CompletedProcess([], status, "out", "err")


PRESENT = Answer("presence", "here", True)


@pytest.mark.parametrize(
    ("status", "answers", "state"),
    [
        (0, [PRESENT], OK),
        (0, [PRESENT, Answer("run", "gives", False, "off by 1")], FAIL),
        (1, [PRESENT], FAIL),
        (0, [], FAIL),
        (0, [Answer("run", "gives", True)], FAIL),  # did not say what is there
    ],
)
def test_only_what_ended_well_and_said_what_is_there_is_right(
    status: int, answers: list[Answer], state: str
) -> None:
    assert judge("x", ended(status), answers, 1.0).state == state


def test_the_last_line_names_who_fails() -> None:
    rows = [Verdict("a", OK), Verdict("b", FAIL), Verdict("c", "left out")]

    assert summary(rows, 2.0) == "1 combinations ok, 1 left out, 1 failing, in 2.0 s: b"


def test_the_table_shows_where_it_fails() -> None:
    row = judge("kernels-x", ended(0), [PRESENT, Answer("run", "gives", False)], 1.0)

    assert [line.split() for line in table([row]).splitlines()][1] == [
        "kernels-x",
        "1",
        FAIL,
        "1.0",
    ]


def test_what_needs_torch_is_left_out_by_name() -> None:
    row = Combination("k", closure(["kernels-torch"], REAL))

    assert "needs torch: --without-torch was given" in str(left_out(row, REAL))


def test_what_lacks_torch_on_purpose_is_not_left_out() -> None:
    row = Combination("k", closure(["kernels-torch"], REAL), frozenset({"torch"}))

    assert left_out(row, REAL) is None


def test_a_name_that_fits_nothing_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "abacus"]) == 1
    assert capsys.readouterr().out == "no id contains 'abacus'\n"


def test_the_list_runs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert capsys.readouterr().out.splitlines() == ids(REAL)


def test_another_python_needs_packages_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--python", "python3.10"])
    assert "--python goes with --clean or --oldest" in capsys.readouterr().err


@dataclass(frozen=True)
class Workshop:
    """The parts of a small device and a leaky one, built; and what proofs need."""

    parts: Parts
    linked: Linked
    home: Path
    programs: Path

    def verdict(
        self, combination: Combination, make: Callable[[Combination], Environment] | None = None
    ) -> Verdict:
        return prove(combination, make or self.linked.make, self.home, self.programs, self.parts)


LEAKY = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "byparts-leaky"
dynamic = ["version"]
requires-python = ">=3.10"
dependencies = ["byparts-graph-ir>=0.1"]
[tool.hatch.version]
path = "src/byparts_leaky/__init__.py"
"""


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    pytest.importorskip("hatchling", reason="hatchling is not installed, which builds the wheels")
    folder = tmp_path_factory.mktemp("workshop")
    for name in (*SMALL, "autodiff", "optimize"):
        (folder / "packages").mkdir(exist_ok=True)
        (folder / "packages" / name).symlink_to(ROOT / "packages" / name)
    leaky = folder / "packages" / "leaky" / "src" / "byparts_leaky" / "__init__.py"
    leaky.parent.mkdir(parents=True)
    leaky.write_text('import packaging\n\n__version__ = "0.1.0"\n')
    (folder / "packages" / "leaky" / "pyproject.toml").write_text(LEAKY)
    parts, wheels, programs = read_parts(folder), folder / "wheels", folder / "programs"
    build_wheels(parts, wheels)
    packages = Packages([Path(get_path("purelib"))], folder / "links", (3, 10))
    linked = Linked(parts, wheels, bare(Path(executable), folder / "bare"), packages)
    made = Workshop(parts, linked, proof_home(folder / "home"), programs)
    programs.mkdir()
    every = Combination("every", frozenset(parts) - {"leaky"})
    done = linked.make(every).run("-m", "proof.record", str(programs), home=made.home)
    assert done.returncode == 0, done.stderr
    return made


def test_a_combination_proves_itself(workshop: Workshop) -> None:
    """End to end: wheels, an environment, every check."""
    whole = closure(["kernels-numpy", "memplan", "optimize", "runtime"], workshop.parts)

    verdict = workshop.verdict(Combination("small", whole))

    assert (verdict.state, verdict.said) == (OK, "")
    assert {"graph", "plan", "meaning", "passes", "run"} <= {a.group for a in verdict.answers}


def test_wheels_run_from_the_path_without_unpacking(workshop: Workshop) -> None:
    """`PYTHONPATH=a.whl:b.whl` is an installation: a device needs no pip."""
    zipped = Combination("zipped", SMALL, zipped=True)

    answers = {a.claim: a.right for a in workshop.verdict(zipped).answers}

    assert all(str(p).endswith(".whl") for p in workshop.linked.make(zipped).path[: len(SMALL)])
    assert answers["mlp loss on numpy: gives the recorded answers"]


def test_a_planted_undeclared_dependency_is_caught(workshop: Workshop) -> None:
    """Although `packaging` is installed in the environment that lends its packages."""
    verdict = workshop.verdict(Combination("leaky", frozenset({"leaky", "graph-ir"})))

    assert verdict.state == FAIL and "No module named 'packaging'" in verdict.said


def test_a_planted_extra_part_is_caught(workshop: Workshop) -> None:
    extra = workshop.linked.make(Combination("extra", frozenset({"graph-ir", "memplan"})))

    verdict = workshop.verdict(Combination("ir", frozenset({"graph-ir"})), lambda _: extra)

    assert verdict.state == FAIL and "AssertionError: too much: memplan" in verdict.said


def test_a_missing_part_is_caught(workshop: Workshop) -> None:
    less = workshop.linked.make(Combination("less", frozenset({"graph-ir"})))
    both = Combination("both", frozenset({"graph-ir", "memplan"}))

    verdict = workshop.verdict(both, lambda _: less)

    assert verdict.state == FAIL and "AssertionError: missing: memplan" in verdict.said


def test_a_planted_wrong_answer_is_caught(workshop: Workshop, tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    programs = copytree(workshop.programs, tmp_path / "programs")
    with numpy.load(programs / "mlp_loss.npz") as file:
        arrays = dict(file)
    numpy.savez(programs / "mlp_loss.npz", **arrays | {"answer_00": arrays["answer_00"] + 1})

    verdict = replace(workshop, programs=programs).verdict(
        Combination("ops", closure(["opset"], workshop.parts))
    )

    assert verdict.state == FAIL and "AssertionError: output 0: off by 1.0" in verdict.said


def test_a_package_that_is_missing_fails_the_combination(workshop: Workshop) -> None:
    def make(_: Combination) -> Environment:
        raise Missing("torch>=2.4 is not installed here")

    verdict = workshop.verdict(Combination("x", frozenset({"graph-ir"})), make)

    assert (verdict.state, verdict.said) == (FAIL, "torch>=2.4 is not installed here")
