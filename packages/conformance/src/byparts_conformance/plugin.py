"""Pytest plugin of the kit: chooses ops and backends, and prints the table at the end.

Loaded by `-p byparts_conformance.plugin`, not through an entry point: a plugin that every pytest
run of an environment loads could break all of these runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import pytest

from byparts_conformance.backend_rules import BACKEND_RULES
from byparts_conformance.cases import COLUMNS
from byparts_conformance.meaning import differentiable
from byparts_graph_ir import Op
from byparts_graph_ir.formats.attributes import OWN
from byparts_graph_ir.parts.hub import parts

Record = Callable[[str], None]
Cells = dict[tuple[str, str, str], str]  # backend, op, column -> what the table says

CELLS = pytest.StashKey[Cells]()
ALSO = pytest.StashKey[dict[tuple[str, str], str]]()  # backend, rule -> "ok" or what is wrong


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--byparts-backend NAME` and `--byparts-op NAME`; both may be given several times."""
    group = parser.getgroup("byparts")
    group.addoption("--byparts-backend", action="append", default=[], help="backend to try")
    group.addoption("--byparts-op", action="append", default=[], help="only these ops")


def pytest_configure(config: pytest.Config) -> None:
    """Begin an empty table."""
    config.stash[CELLS], config.stash[ALSO] = {}, {}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each op, backend and column; one for each backend and rule."""
    config, names = metafunc.config, metafunc.fixturenames
    if "rule" in names:
        metafunc.parametrize("backend_name", config.getoption("--byparts-backend"))
        metafunc.parametrize("rule", BACKEND_RULES)
    if "op" not in names:
        return
    ops = _chosen(config)
    if metafunc.function.__name__ == "test_gradient":
        ops = {name: op for name, op in ops.items() if differentiable(op)}
    metafunc.parametrize("op", [pytest.param(op, id=name) for name, op in ops.items()])
    if "backend" in names:
        backends = config.getoption("--byparts-backend")
        metafunc.parametrize("backend_name", backends)
        metafunc.parametrize("column", COLUMNS)


@pytest.fixture
def backend_name() -> str:
    """Filled by the parametrisation above."""
    raise AssertionError("backend_name is parametrised")


@pytest.fixture
def backend(backend_name: str) -> Any:
    """The backend, loaded once."""
    return _backend(backend_name)


@pytest.fixture
def record(request: pytest.FixtureRequest, op: type[Op], backend_name: str, column: str) -> Record:
    """Writes one cell of the table."""
    cells = request.config.stash[CELLS]

    def write(said: str) -> None:
        cells[backend_name, op.name, column] = said

    return write


@pytest.fixture
def ops(request: pytest.FixtureRequest) -> list[type[Op]]:
    """All chosen ops."""
    return list(_chosen(request.config).values())


@pytest.fixture
def said(request: pytest.FixtureRequest, backend_name: str, rule: str) -> Record:
    """Writes one row under the table."""
    return partial(request.config.stash[ALSO].__setitem__, (backend_name, rule))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print for each backend the table of ops by columns, and the rules that it keeps."""
    cells, also = config.stash[CELLS], config.stash[ALSO]
    for name in dict.fromkeys((*(key[0] for key in cells), *(key[0] for key in also))):
        rows = {op: {} for b, op, _ in cells if b == name}  # type: dict[str, dict[str, str]]
        for (b, op, column), said in cells.items():
            if b == name:
                rows[op][column] = said
        rules = {rule: said for (b, rule), said in also.items() if b == name}
        for line in (*(table(name, rows) if rows else ()), *also_rows(rules)):
            terminalreporter.write_line(line)


def table(name: str, rows: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The lines of one backend's table, and a sentence with the totals."""
    wide = {c: max(len(c), *(len(row.get(c, "")) for row in rows.values())) for c in COLUMNS}
    width = max(len("op"), *map(len, rows))
    lines = [
        "",
        f"backend {name}",
        " ".join([f"{'op':{width}}", *(f"{c:>{wide[c]}}" for c in COLUMNS)]),
    ]
    for op, row in rows.items():
        cells = (f"{row.get(c, ''):>{wide[c]}}" for c in COLUMNS)
        lines.append(" ".join([f"{op:{width}}", *cells]).rstrip())
    return [*lines, _sentence(rows)]


def also_rows(rules: Mapping[str, str]) -> list[str]:
    """One line for each rule."""
    width = max(map(len, rules), default=0)
    return [f"also: {rule:{width}}  {said}" for rule, said in rules.items()]


def _sentence(rows: Mapping[str, Mapping[str, str]]) -> str:
    kinds = {op: _kind(set(row.values())) for op, row in rows.items()}
    wrong = [op for op, kind in kinds.items() if kind == "FAIL"]
    counts = Counter(kinds.values())
    named = f" ({', '.join(wrong)})" if wrong else ""
    made_of_others = counts["via decompose"] + counts["via bodies"]
    return (
        f"{counts['ok'] + counts['some'] + made_of_others} of {len(rows)} ops right, "
        f"{made_of_others} of them decomposed; {len(wrong)} wrong{named}, "
        f"{counts['-']} absent"
    )


def _kind(said: set[str]) -> str:
    """The worst outcome of an op.  "-" counts only if the op is absent everywhere."""
    return next(
        (k for k in ("FAIL", "ok", "some", "via bodies", "via decompose", "-") if k in said), "-"
    )


def _chosen(config: pytest.Config) -> dict[str, type[Op]]:
    every, wanted = {**parts.ops(), **OWN}, config.getoption("--byparts-op")
    unknown = [name for name in wanted if name not in every]
    if unknown:
        raise pytest.UsageError(f"no op {unknown[0]!r}; installed: {', '.join(sorted(every))}")
    return {name: op for name, op in every.items() if not wanted or name in wanted}


@cache
def _backend(name: str) -> Any:
    return parts.backend(name)
