"""`byparts check` of a backend of two kernels: what it prints, in which order, and what it refuses."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

MODULE = """\
from byparts_graph_ir.parts import hooks

BYPARTS_API = (1, 0)


@hooks.hookimpl
def byparts_backends():
    return [hooks.Backend("two", "two_kernels:make"), hooks.Backend("broken", "two_kernels:fail")]


def make():
    from functools import partial

    import numpy as np
    from byparts_graph_ir import Backend
    from byparts_kernels_numpy import make as numpy
    from byparts_opset import Add, Relu

    two = Backend("two", numpy().view)
    two.kernels.on(Add)(lambda op, xs, ys: partial(np.add, *xs, *ys))
    two.kernels.on(Relu)(lambda op, xs, ys: partial(np.absolute, *xs, *ys))
    return two


def fail():
    raise RuntimeError("no such device")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A distribution with a backend whose `Relu` is wrong, and one that does not start."""
    path = tmp_path_factory.mktemp("two")
    (path / "two_kernels.py").write_text(MODULE)
    info = path / "two_kernels-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: two-kernels\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[byparts.parts]\ntwo = two_kernels\n")
    return path


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "byparts_graph_ir", "check", *words]


def env(folder: Path) -> dict[str, str]:
    found = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": found}


def check(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*words), capture_output=True, text=True, check=False, env=env(folder)
    )


@pytest.fixture(scope="module")
def lines(folder: Path) -> list[str]:
    """What `byparts check two` prints."""
    done = check(folder, "two")
    assert done.returncode == 1 and done.stderr == "", done.stderr
    return done.stdout.splitlines()


def test_rows_stand_first_and_the_last_words_are_the_summary(lines: list[str]) -> None:
    """What has a kernel before what is decomposed; no dots, no percentages."""
    rows = [line.split()[0] for line in lines[:8] if re.match(r"\w+ .*(ok|via|FAIL)", line)]

    assert lines[1] == "backend two" and lines[2].startswith("op ")
    assert set(rows[:2]) == {"add", "relu"} and "identity" in rows[2:]
    assert not [line for line in lines if re.match(r"[.F]+( |$)|.*\[ *\d+%\]", line)]


def test_what_is_wrong_is_shown_again_below_the_failures(lines: list[str]) -> None:
    """A failure's words may be long, and the first table is then far above."""
    below = lines[lines.index(next(line for line in lines if "= FAILURES =" in line)) :]

    assert any(re.match(r"relu +FAIL", line) for line in below)
    assert not any(re.match(r"add +ok", line) for line in below)
    assert any(re.match(r"\d+ of \d+ ops right, .* 1 wrong \(relu\)", line) for line in below)


def test_the_table_fits_a_terminal(lines: list[str]) -> None:
    """The rows at the beginning, and the summary between pytest's lists of failures."""
    titles = [i for i, line in enumerate(lines) if line.startswith("====")]  # of pytest
    first, last = lines[: titles[0]], lines[lines.index("backend two", titles[0]) : titles[1]]

    assert max(map(len, [*first, *last])) <= 80


def test_absent_ops_are_counted_and_not_tried(lines: list[str]) -> None:
    """They are most of them."""
    (many,) = re.findall(r"absent: (\d+) ops; --everything tries and names them", "\n".join(lines))
    (passed,) = re.findall(r"(\d+) passed", lines[-1])

    assert int(many) > 100 and int(passed) < 2 * int(many)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_names_what_is_being_tried(folder: Path) -> None:
    """On its last line, which a row then takes."""
    import pty

    screen, end = pty.openpty()
    process = subprocess.Popen(command("two", "--byparts-op", "add"), stdout=end, env=env(folder))
    os.close(end)
    with open(screen, newline="") as terminal:
        said = _until_closed(terminal)
    assert process.wait() == 0

    assert re.search(r"\radd half \(row 1 of 1\) +\r", said)
    assert re.search(r"\r +\r\s*backend two\r\n.*\r\n.*\r\nadd ok ", said)


def _until_closed(terminal: Any) -> str:
    """What is written; Linux says that the other end is closed by an error."""
    lines: list[str] = []
    with suppress(OSError):
        lines.extend(iter(terminal.readline, ""))
    return "".join(lines)


def test_one_op_is_tried_with_what_it_means(folder: Path) -> None:
    """Named, an op of the op set is tried by itself too."""
    done = check(folder, "two", "--byparts-op", "add", "--byparts-op", "tanh")

    assert done.returncode == 0, done.stdout
    assert "absent: tanh\n1 of 2 ops right, 0 of them decomposed; 0 wrong, 1 absent" in done.stdout
    assert "meaning: 2 ops tried without a backend, ok" in done.stdout


WRONG = {
    "nosuch": "no backend 'nosuch'; installed: ",
    "broken": "backend 'broken' of two-kernels does not start: RuntimeError: no such device",
    "two two.py": "no backend 'two.py'; installed: ",
    "two --byparts-op softmx": "no op 'softmx'; did you mean 'softmax'?",
    "two --byparts-op zzzzzz": "no op 'zzzzzz'; is its part installed?",
    "two --byparts-op": "argument --byparts-op: expected one argument; see byparts check --help",
    "two --nonsense": "unrecognized arguments: --nonsense; see byparts check --help",
    "two --maxfail=x": "argument --maxfail: invalid int value: 'x'; see byparts check --help",
    "two -p nosuch": 'Error importing plugin "nosuch": No module named ',
}


@pytest.mark.parametrize("words", WRONG)
def test_what_there_is_not_is_refused_in_one_sentence(words: str, folder: Path) -> None:
    """On stderr, with status 2, and nothing is tried."""
    done = check(folder, *words.split())

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith(f"byparts check: {WRONG[words]}")
