"""`byparts new` of each kind: installed as it is written, it is listed as ok and its tests pass."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from byparts_graph_ir.parts.new import KINDS
from third_party.environment import NEEDS, Environment, make


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """One part of each kind, as `pip install -e` leaves them."""
    if NEEDS:
        pytest.skip(f"needs {', '.join(NEEDS)}")
    folder = tmp_path_factory.mktemp("new")
    environment = make(folder / "env")
    for kind in KINDS:
        done = environment.run("-m", "byparts_graph_ir", "new", kind, "my-own", cwd=folder)
        assert done.returncode == 0, done.stderr
    environment.install(*(root(environment, kind) for kind in KINDS), editable=True)
    return environment


def root(environment: Environment, kind: str) -> Path:
    return environment.folder.parent / f"byparts-{KINDS[kind].prefix}-my-own"


def test_all_are_listed_as_ok(started: Environment) -> None:
    done = started.run("-m", "byparts_graph_ir", "parts", "--strict")

    assert done.returncode == 0, done.stdout
    for given in KINDS.values():
        row = rf"^{given.prefix}-my-own +0\.1\.0 +ok .*{given.provides}: my-own$"
        assert re.search(row, done.stdout, re.MULTILINE), done.stdout


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_its_own_tests_pass(started: Environment, kind: str) -> None:
    """Also with warnings as errors."""
    options = ("-q", "-W", "error", "-p", "no:cacheprovider", "--noconftest", "-c", "/dev/null")
    done = started.run("-m", "pytest", *options, root(started, kind) / "tests")

    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-3000:]
    assert re.search(r"^[1-9]\d* passed", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("kind", KINDS)
def test_a_second_one_of_the_name_is_refused(started: Environment, kind: str) -> None:
    """Wherever it would be written."""
    elsewhere = started.folder.parent / "elsewhere"
    arguments = ("new", kind, "my-own", "--folder", elsewhere)
    done = started.run("-m", "byparts_graph_ir", *arguments)

    assert done.returncode == 2 and "byparts new: " in done.stderr
    assert not elsewhere.exists()


def test_they_install_as_wheels(started: Environment, tmp_path: Path) -> None:
    """What the wheel holds is enough."""
    environment = make(tmp_path / "env")
    environment.install(*(root(started, kind) for kind in KINDS))
    done = environment.run("-m", "byparts_graph_ir", "parts", "--strict")

    assert done.returncode == 0, done.stdout
    assert len(re.findall(r"^\S+-my-own +0\.1\.0 +ok ", done.stdout, re.MULTILINE)) == len(KINDS)
