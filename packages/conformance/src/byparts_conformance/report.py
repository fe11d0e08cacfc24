"""Writes what the kit finds: each row when its op has been tried, and a summary at the end.

On a terminal the last line names what is being tried and says how far the run is; in a pipe the
rows alone are written.  Letters and percentages of pytest are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from byparts_conformance import table

KERNEL = ("test_kernel", "test_kernel_absent")  # the tests that fill rows
Words = dict[str, str]  # column or rule -> what was found


class Report:
    """A plugin of pytest that writes the rows of each backend, and what was found besides.

    Args:
        config: of the run.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.rows: dict[str, dict[str, Words]] = {}  # backend -> op -> row
        self.rules: dict[str, Words] = {}  # backend -> rule -> what was found
        self.names: dict[str, list[str]] = {}  # backend -> ops that get a row
        self.meaning: dict[str, bool] = {}  # op -> whether all tests of what it means passed
        self._items: dict[str, tuple[str, Mapping[str, Any]]] = {}  # id -> test, parameters
        self._left: Counter[tuple[str, str]] = Counter()  # tests of (backend, op) to come
        self._ops = 0
        self._titled = ""  # the backend whose header was written last

    @pytest.hookimpl
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the tests of each row."""
        for item in session.items:
            given = getattr(item, "callspec", None)
            name = getattr(item, "originalname", item.name)
            self._items[item.nodeid] = name, given.params if given else {}
            if name == "test_kernel":
                self._left[self._key(item.nodeid)] += 1
        self._ops = len(self._left)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Leave out the letter of a test that ran; the word is for pytest's list of failures."""
        words = {"passed": "", "failed": "FAILED"}
        ran = report.when == "call" and report.outcome in words
        return (report.outcome, "", words[report.outcome]) if ran else None

    @pytest.hookimpl
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Name on a terminal what is tried now."""
        name, given = self._items.get(nodeid, ("", {}))
        what = given.get("column") or given.get("rule") or name.removeprefix("test_")
        words = [given["op"].name, what] if "op" in given else [what]
        if name == "test_kernel":
            left = sum(1 for tests in self._left.values() if tests)
            words.append(f"(row {self._ops - left + 1} of {self._ops})")
        if name != "test_kernel_absent":
            self._show(" ".join(words))

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember what was found of what an op means."""
        name, given = self._items.get(report.nodeid, ("", {}))
        if "op" in given and name not in KERNEL:
            op = given["op"].name
            self.meaning[op] = self.meaning.get(op, True) and report.passed

    @pytest.hookimpl
    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Write the row whose last test this was."""
        name, _ = self._items.get(nodeid, ("", {}))
        if name != "test_kernel":
            return
        backend, op = self._key(nodeid)
        self._left[backend, op] -= 1
        row = self.rows.get(backend, {}).get(op, {})
        if not self._left[backend, op] and table.kind(row) != "-":
            title = [] if self._titled == backend else self._title(backend)
            self._write([*title, table.line(op, row, self._width(backend))])
            self._titled = backend

    @pytest.hookimpl
    def pytest_terminal_summary(self) -> None:
        """Write for each backend how many ops are right, and the rules that it keeps."""
        everything = self.config.getoption("--everything")
        backends = dict.fromkeys((*self.rows, *self.rules))
        for name in backends:
            rows = self.rows.get(name, {})
            wrong = {op: row for op, row in rows.items() if table.kind(row) == "FAIL"}
            again = [table.line(op, row, self._width(name)) for op, row in wrong.items()]
            several = ["", f"backend {name}"] if len(backends) > 1 else []
            self._write([*self._title(name), *again] if again else several)
            if rows:
                shown = {op: row for op, row in rows.items() if table.kind(row) != "-"}
                gone = table.absent(rows, everything)
                self._write([*table.legend(shown), *gone, table.sentence(rows)])
            self._write(table.also(self.rules.get(name, {})))
        wrong_ops = [op for op, right in self.meaning.items() if not right]
        self._write(table.meaning(self.meaning, wrong_ops))

    def writer(self, backend: str, op: str, column: str) -> Callable[[str], None]:
        """A function that fills one cell."""
        row = self.rows.setdefault(backend, {}).setdefault(op, {})
        return lambda found: row.__setitem__(column, found)

    def rule_writer(self, backend: str, rule: str) -> Callable[[str], None]:
        """A function that says what was found of a rule."""
        rules = self.rules.setdefault(backend, {})
        return lambda found: rules.__setitem__(rule, found)

    def _title(self, backend: str) -> list[str]:
        return ["", f"backend {backend}", *table.header(self._width(backend))]

    def _width(self, backend: str) -> int:
        return max(map(len, self.names.get(backend, ())), default=2)

    def _key(self, nodeid: str) -> tuple[str, str]:
        given = self._items[nodeid][1]
        return given["backend_name"], given["op"].name

    @property
    def _terminal(self) -> Any:
        return self.config.pluginmanager.get_plugin("terminalreporter")

    def _show(self, text: str) -> None:
        """Replace the last line of a terminal."""
        terminal = self._terminal
        if terminal is not None and terminal.isatty:
            terminal.rewrite(text[: table.LONGEST], erase=True)

    def _write(self, lines: list[str]) -> None:
        terminal = self._terminal
        if terminal is None or not lines:  # there is none in a worker of pytest-xdist
            return
        if terminal.isatty:
            terminal.rewrite("", erase=True)
            terminal.write("\r")
        for line in lines:
            terminal.write_line(line)
