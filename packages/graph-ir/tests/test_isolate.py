"""A part may not write into a command's output, nor change the process, while it is loaded."""

from __future__ import annotations

import locale
import os
import signal
import sys
import warnings

import pytest
from made_parts import GOOD, GROUP, Install, install as install

from byparts_graph_ir.parts import isolate
from byparts_graph_ir.parts.hub import Parts
from byparts_graph_ir.parts.isolate import captured

CHANGES = {
    "the working directory": "import os; os.chdir('/')",
    "sys.path": "import sys; sys.path.insert(0, '/nowhere')",
    "the warning filters": "import warnings; warnings.simplefilter('ignore')",
    "the standard streams": "import sys, io; sys.stdout = io.StringIO()",
    "signal handlers": "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)",
    "the locale": "import locale; locale.setlocale(locale.LC_ALL, 'C.UTF-8')",
}


def state() -> list[object]:
    return [
        os.getcwd(),
        list(sys.path),
        list(warnings.filters),
        (sys.stdin, sys.stdout, sys.stderr),
        signal.getsignal(signal.SIGINT),
        locale.setlocale(locale.LC_ALL),
    ]


@pytest.mark.parametrize("what", CHANGES)
def test_what_a_part_changes_is_put_back_and_told(install: Install, what: str) -> None:
    if what == "the locale" and locale.setlocale(locale.LC_ALL) == "C.UTF-8":
        pytest.skip("the locale is C.UTF-8 already")
    install("changer", CHANGES[what] + "\n" + GOOD)
    before = state()

    (part,) = Parts(GROUP).all()

    assert state() == before
    assert (part.state, part.notes) == ("ok", [f"changes {what} while it is loaded; put back"])


def test_several_changes_are_one_note_also_of_a_broken_part(install: Install) -> None:
    install("bad", f"{CHANGES['sys.path']}\n{CHANGES['the working directory']}\nraise KeyError(1)")
    before = state()

    (part,) = Parts(GROUP).all()

    assert state() == before and part.state == "broken"
    assert part.notes == ["changes the working directory, sys.path while it is loaded; put back"]


def test_a_part_that_changes_nothing_has_no_notes(install: Install) -> None:
    install("good", GOOD)

    assert Parts(GROUP).all()[0].notes == []


# What Python buffers is tested where Python's streams are the descriptors: in `test_cli.py`.
WRITES = {
    "descriptor 1": "import os; os.write(1, b'written')",
    "descriptor 2": "import os; os.write(2, b'written')",
    "child process": "import subprocess, sys; subprocess.call([sys.executable, '-c', 'print(\"written\")'])",
}


@pytest.mark.parametrize("way", WRITES)
def test_in_a_command_what_is_written_is_a_note(
    install: Install,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    way: str,
) -> None:
    monkeypatch.setattr(isolate, "capture", True)
    install("writer", WRITES[way] + "\n" + GOOD)
    (part,) = Parts(GROUP).all()

    assert capfd.readouterr() == ("", "")
    (note,) = part.notes
    assert note.startswith("writes while it is loaded: ") and "written" in note


def test_in_a_program_of_the_user_nothing_is_captured(
    install: Install, capfd: pytest.CaptureFixture[str]
) -> None:
    """Another thread may be writing."""
    install("writer", "print('printed')\n" + GOOD)
    (part,) = Parts(GROUP).all()

    assert capfd.readouterr().out == "printed\n" and part.notes == []


def test_a_long_text_is_cut(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(isolate, "capture", True)
    notes: list[str] = []
    with captured(notes):
        os.write(1, b"\xff" + b"x" * 10_000)

    assert capfd.readouterr().out == "" and len(notes[0]) < 300
