"""A build that takes long says on a terminal how far it is, and nothing anywhere else."""

from __future__ import annotations

import io
from collections.abc import Callable
from threading import Event
from typing import Any

import pytest

import byparts_runtime.building.progress as showing
from byparts_graph_ir import ArgumentError, ShapeError
from byparts_graph_ir.backend.progress import listener, report
from byparts_runtime.building.progress import Progress, shown, wanted


class Terminal(io.StringIO):
    """What `sys.stderr` is where somebody looks."""

    def __init__(self) -> None:
        super().__init__()
        self.written = Event()

    def write(self, text: str) -> int:
        self.written.set()
        return super().write(text)

    def isatty(self) -> bool:
        return True

    @property
    def line(self) -> str:
        """What can be read on its last line, which a carriage return begins again."""
        line = ""
        for text in self.getvalue().split("\r"):
            line = text + line[len(text) :]
        return line.rstrip()


class Gone(Terminal):
    """A terminal whose window was closed."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def write(self, text: str) -> int:
        raise self.error


class Clock:
    """Seconds that a test sets."""

    now = 10.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_quick_build_shows_nothing(clock: Clock) -> None:
    """Within a second nobody has begun to wonder."""
    terminal = Terminal()
    progress = Progress(terminal, clock)
    progress.report(3, 8, "files")
    clock.now += 0.9
    progress.tick()
    progress.close()

    assert terminal.getvalue() == ""


def test_a_long_build_says_how_far_it_is(clock: Clock) -> None:
    """The latest report, and the time goes on between two of them."""
    terminal = Terminal()
    progress = Progress(terminal, clock)
    progress.report(3, 8, "files of native code")
    clock.now += 2
    progress.tick()
    first = terminal.line
    clock.now += 3
    progress.tick()

    assert first == "building, 2 s: 3 of 8 files of native code"
    assert terminal.line == "building, 5 s: 3 of 8 files of native code"


def test_a_shorter_line_leaves_nothing_of_a_longer_one(clock: Clock) -> None:
    """And at the end there is no line."""
    terminal = Terminal()
    progress = Progress(terminal, clock)
    clock.now += 1
    progress.report(1, 2, "kernels; conv2d train.py:41")
    progress.tick()
    progress.report(1, 2, "files")
    progress.tick()
    assert terminal.line == "building, 1 s: 1 of 2 files"

    progress.close()
    assert terminal.line == "" and terminal.getvalue().endswith("\r")


def test_a_line_is_cut_to_the_terminal(clock: Clock) -> None:
    """A longer one would leave its first part standing."""
    terminal = Terminal()
    progress = Progress(terminal, clock)
    clock.now += 1
    progress.report(1, 2, "x" * 200)
    progress.tick()

    assert len(terminal.line) == 79


def test_nothing_to_report_is_not_shown(clock: Clock) -> None:
    """Before the first report there is nothing to say."""
    terminal = Terminal()
    progress = Progress(terminal, clock)
    clock.now += 5
    progress.tick()
    progress.close()

    assert terminal.getvalue() == ""


@pytest.mark.parametrize(
    "error",
    [OSError(5, "Input/output error"), ValueError("closed file"), RuntimeError("a widget"),
     UnicodeEncodeError("ascii", "ä", 0, 1, "no")],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_a_terminal_that_fails_is_let_alone(error: Exception, clock: Clock) -> None:
    """The build goes on."""
    progress = Progress(Gone(error), clock)
    progress.report(1, 2, "files")
    clock.now += 2

    progress.tick()
    progress.tick()
    progress.close()


WANTED: list[tuple[Callable[[], Any], dict[str, str], bool]] = [
    (Terminal, {}, True),
    (Terminal, {"CI": "true"}, False),
    (Terminal, {"TERM": "dumb"}, False),
    (Terminal, {"BYPARTS_PROGRESS": "0"}, False),
    (Terminal, {"BYPARTS_PROGRESS": "1", "CI": "true"}, True),
    (io.StringIO, {}, False),
    (io.StringIO, {"BYPARTS_PROGRESS": "1"}, True),
    (lambda: None, {"BYPARTS_PROGRESS": "1"}, False),
    (lambda: None, {}, False),
    (object, {}, False),
]


@pytest.mark.parametrize(("stream", "environ", "expected"), WANTED)
def test_progress_is_for_terminals(
    stream: Callable[[], Any], environ: dict[str, str], expected: bool
) -> None:
    """Not for pipes, notebooks and CI; a variable decides otherwise."""
    assert wanted(stream(), environ) is expected


def test_a_closed_stream_is_no_terminal() -> None:
    """`isatty` of a closed file raises."""
    terminal = io.StringIO()
    terminal.close()

    assert not wanted(terminal, {})


def test_a_variable_that_says_neither_is_refused() -> None:
    """Rather than guessed."""
    with pytest.raises(ArgumentError, match="BYPARTS_PROGRESS is 'yes'; 1 shows progress, 0 does"):
        wanted(Terminal(), {"BYPARTS_PROGRESS": "yes"})


def test_reports_of_a_build_reach_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a thread, which ends with the build."""
    terminal, seen = Terminal(), []
    monkeypatch.setattr(showing, "WAIT_S", 0.0)
    monkeypatch.setattr(showing, "EVERY_S", 0.001)
    with shown(terminal, {}):
        report(3, 8, "files")
        assert terminal.written.wait(60) and terminal.line.endswith("3 of 8 files")
        with shown(Terminal(), {}):  # a build within a build says it on the same line
            seen.append(listener.get())

    assert seen != [None] and listener.get() is None and terminal.line == ""


def test_where_nobody_looks_nobody_listens() -> None:
    """And a report costs nothing."""
    pipe = io.StringIO()
    with shown(pipe, {}):
        assert listener.get() is None
        report(1, 2, "files")

    assert pipe.getvalue() == ""


def test_an_error_of_a_build_erases_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next words stand on a line of their own."""
    terminal = Terminal()
    monkeypatch.setattr(showing, "WAIT_S", 0.0)
    monkeypatch.setattr(showing, "EVERY_S", 0.001)

    def build() -> None:
        with shown(terminal, {}):
            report(1, 2, "files")
            assert terminal.written.wait(60)
            raise ShapeError("matmul: inner dimensions differ")

    with pytest.raises(ShapeError, match="inner dimensions differ"):
        build()
    assert terminal.line == "" and listener.get() is None
