"""Pytest plugin of the kit: chooses ops and backends; `report.py` says what was found.

Loaded by `-p byparts_conformance.plugin`, not through an entry point: a plugin that every pytest
run of an environment loads could break all of these runs.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from typing import Any

import pytest

from byparts_conformance.backend_rules import BACKEND_RULES
from byparts_conformance.cases import COLUMNS
from byparts_conformance.kernel import ABSENT, BODIES, OK, VIA
from byparts_conformance.meaning import differentiable
from byparts_conformance.presence import presence
from byparts_conformance.report import Report
from byparts_graph_ir import Op
from byparts_graph_ir.formats.attributes import OWN
from byparts_graph_ir.parts.hub import PartError, parts
from byparts_opset import OPS

Record = Callable[[str], None]
Ops = dict[str, type[Op]]

REPORT = pytest.StashKey[Report]()
ORDER = (OK, VIA, BODIES)  # of rows


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--byparts-backend`, `--byparts-op`, which may be given several times, `--everything`."""
    group = parser.getgroup("byparts")
    group.addoption("--byparts-backend", action="append", default=[], help="backend to try")
    only = "only this op, on all its cases, and what it means"
    group.addoption("--byparts-op", action="append", default=[], help=only)
    group.addoption(
        "--everything",
        action="store_true",
        help="also what each op means, absent ops, and all cases of ops that are made of others",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin an empty report; refuse what is not installed or does not start."""
    try:
        _refuse_unknown_ops(config.getoption("--byparts-op"))
        for name in config.getoption("--byparts-backend"):
            _backend(name)
    except PartError as error:
        raise pytest.UsageError(str(error)) from error
    config.stash[REPORT] = Report(config)
    config.pluginmanager.register(config.stash[REPORT], "byparts-report")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test for each backend, op and column, and a test for each backend and rule.

    What the backend has stands first.
    """
    config, names = metafunc.config, metafunc.fixturenames
    if "rule" in names:
        metafunc.parametrize("backend_name", config.getoption("--byparts-backend"))
        metafunc.parametrize("rule", BACKEND_RULES)
    elif "backend" in names:
        _of_backends(metafunc)
    elif "op" in names:
        ops = _chosen(config)
        if not _completely(config):  # what the op set means does not depend on a backend
            names = config.getoption("--byparts-backend")
            there = {op for name in names for op in _tried_and_absent(config, name)[0]}
            ops = {k: op for k, op in ops.items() if op in there and op not in _tried_elsewhere()}
        if metafunc.function.__name__ == "test_gradient":
            ops = {name: op for name, op in ops.items() if differentiable(op)}
        metafunc.parametrize("op", [pytest.param(op, id=name) for name, op in ops.items()])


def _of_backends(metafunc: pytest.Metafunc) -> None:
    """Each op that a backend has, in each column; or, of each other op, that it is absent."""
    of_columns, tests = "column" in metafunc.fixturenames, []
    for name in metafunc.config.getoption("--byparts-backend"):
        tried, absent = _tried_and_absent(metafunc.config, name)
        for op in tried if of_columns else absent:
            for more in [(column,) for column in COLUMNS] if of_columns else [()]:
                words = "-".join((name, op.name, *more))
                tests.append(pytest.param(name, op, *more, id=words))
    metafunc.parametrize("backend_name, op, column" if of_columns else "backend_name, op", tests)


def _tried_and_absent(config: pytest.Config, backend: str) -> tuple[list[type[Op]], ...]:
    """The ops whose cases are run, those with kernels first, and those that are only counted."""
    names = config.stash[REPORT].names
    ops = _chosen(config)
    if backend not in names:
        ways = {name: presence(_backend(backend), op) for name, op in ops.items()}
        there = [name for name, how in ways.items() if how != ABSENT]
        names[backend] = sorted(there, key=lambda name: ORDER.index(ways[name]))
    tried = [ops[name] for name in names[backend]]
    absent = [op for name, op in ops.items() if name not in names[backend]]
    return ([*tried, *absent], []) if config.getoption("--everything") else (tried, absent)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out tests of no ops, which pytest would skip."""
    items[:] = [item for item in items if not _of_nothing(item)]


def _of_nothing(item: pytest.Item) -> bool:
    given = getattr(item, "callspec", None)
    return given is not None and not isinstance(given.params.get("op", Op), type)


@pytest.fixture
def backend_name() -> str:
    """Filled by the parametrisation above."""
    raise AssertionError("backend_name is parametrised")


@pytest.fixture
def backend(backend_name: str) -> Any:
    """The backend, loaded once."""
    return _backend(backend_name)


@pytest.fixture
def everything(request: pytest.FixtureRequest) -> bool:
    """Whether ops without a kernel are tried on all their cases, too."""
    return _completely(request.config)


@pytest.fixture
def record(request: pytest.FixtureRequest, op: type[Op], backend_name: str) -> Record:
    """Writes one cell of the table."""
    column = request.node.callspec.params.get("column", COLUMNS[0])
    return request.config.stash[REPORT].writer(backend_name, op.name, column)


@pytest.fixture
def ops(request: pytest.FixtureRequest) -> list[type[Op]]:
    """All chosen ops."""
    return list(_chosen(request.config).values())


@pytest.fixture
def said(request: pytest.FixtureRequest, backend_name: str, rule: str) -> Record:
    """Writes one row under the table."""
    return request.config.stash[REPORT].rule_writer(backend_name, rule)


def _completely(config: pytest.Config) -> bool:
    """Whether to try also what ops mean, and all cases of ops that are made of others."""
    return bool(config.getoption("--everything") or config.getoption("--byparts-op"))


def _refuse_unknown_ops(wanted: list[str]) -> None:
    every = {**parts.ops(), **OWN}
    for name in wanted:
        if name not in every:
            near = get_close_matches(name, every, 1)
            hint = f"did you mean {near[0]!r}?" if near else "is its part installed?"
            raise pytest.UsageError(f"no op {name!r}; {hint}")


def _chosen(config: pytest.Config) -> Ops:
    every, wanted = {**parts.ops(), **OWN}, config.getoption("--byparts-op")
    return {name: op for name, op in every.items() if not wanted or name in wanted}


@cache
def _tried_elsewhere() -> frozenset[type[Op]]:
    return frozenset((*OPS.values(), *OWN.values()))


@cache
def _backend(name: str) -> Any:
    return parts.backend(name)
