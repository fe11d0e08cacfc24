"""The command line, as a user calls it: in its own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from byparts_graph_ir.__main__ import main
from byparts_graph_ir.parts.hub import Parts


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that raises on import, found by child processes."""
    info = tmp_path / "made_bad-9.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: made-bad\nVersion: 9.9\n")
    (info / "entry_points.txt").write_text("[byparts.parts]\nbad = made_bad\n")
    (tmp_path / "made_bad.py").write_text("import not_installed_lib")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH')}")


@pytest.fixture
def shouter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part with commands, found by child processes."""
    info = tmp_path / "made_shout-9.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: made-shout\nVersion: 9.9\n")
    (info / "entry_points.txt").write_text("[byparts.parts]\nshout = made_shout\n")
    (tmp_path / "made_shout.py").write_text(SHOUT)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH')}")


SHOUT = """
from byparts_graph_ir.parts.hooks import Command, hookimpl
BYPARTS_API = (1, 1)

@hookimpl
def byparts_commands():
    names = ("shout", "stop", "endless", "gone")
    return [Command(n, f"made_shout_{n}" if n == "gone" else f"made_shout:{n}", doc=f"does {n}") for n in names]

def shout(arguments):
    print(*[a.upper() for a in arguments])
    return 1 if "--no" in arguments else 0

def stop(arguments):
    raise KeyboardInterrupt

def endless(arguments):
    while True:
        print("on and on")
"""


WRITES = """
import logging, os, sys, warnings
{}
from byparts_graph_ir.parts.hooks import Command, hookimpl
BYPARTS_API = (1, 1)

@hookimpl
def byparts_commands():
    return [Command("talk", "made_talk:talk")]

def talk(arguments):
    print("{{}}")
"""


@pytest.fixture
def talker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Make a part that does something while it is loaded."""

    def make(line: str) -> None:
        info = tmp_path / "made_talk-9.9.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: made-talk\nVersion: 9.9\n")
        (info / "entry_points.txt").write_text("[byparts.parts]\ntalk = made_talk\n")
        (tmp_path / "made_talk.py").write_text(WRITES.format(line))
        monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH')}")

    return make


def byparts(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "byparts_graph_ir", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_parts_lists_and_succeeds() -> None:
    done = byparts("parts")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("part ")


@pytest.mark.usefixtures("broken")
def test_a_broken_part_is_one_line_and_fails_only_when_strict() -> None:
    done = byparts("parts")

    (line,) = [line for line in done.stdout.splitlines() if line.startswith("bad ")]
    assert line.split()[:3] == ["bad", "9.9", "broken"]
    assert line.endswith("ModuleNotFoundError: No module named 'not_installed_lib'")
    assert done.returncode == 0
    assert byparts("parts", "--strict").returncode == 1


@pytest.mark.usefixtures("broken")
def test_verbose_prints_the_traceback() -> None:
    assert "Traceback" in byparts("parts", "-v").stdout
    assert "Traceback" not in byparts("parts").stdout


def test_a_switch_that_names_nothing_is_mentioned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_DISABLE", "kernels-nunpy")

    assert "BYPARTS_DISABLE names no installed part: kernels-nunpy" in byparts("parts").stdout


WRONG = {
    "": "byparts: the following arguments are required: COMMAND; see byparts --help",
    "parts --nonsense": "byparts parts: unrecognized arguments: --nonsense; see byparts parts --help",
    "parts more": "byparts parts: unrecognized arguments: more; see byparts parts --help",
    "--nonsense": "byparts: the following arguments are required: COMMAND; see byparts --help",
    "nosuch": "byparts: no command 'nosuch'; there are parts, new, ",
    "part": "; did you mean 'parts'?",
    "check": "byparts check: the following arguments are required: backend; see byparts check --h",
    "check nosuch": "byparts check: ",
    "new": "byparts new: the following arguments are required: kind, name; see byparts new --help",
    "new pass": "byparts new: the following arguments are required: name; see byparts new --help",
    "new nosuch x": "byparts new: argument kind: invalid choice: 'nosuch' (choose from ",
    "new pass X": "byparts new: 'X' is no name for a part: lower case, digits, hyphens, as in my-pass",
}


@pytest.mark.parametrize("words", WRONG)
def test_a_command_asked_wrongly_is_one_line_and_status_2(words: str) -> None:
    done = byparts(*words.split())

    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
    assert WRONG[words] in done.stderr


def test_check_without_the_kit_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("byparts_graph_ir.parts.hub.parts", Parts("no.such.group"))

    assert main(["check", "numpy"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("byparts: no command 'check'; there are parts, new; it comes with ")
    assert "byparts-conformance: pip install " in said


@pytest.mark.skipif(find_spec("byparts_conformance") is None, reason="needs byparts-conformance")
def test_check_of_an_unknown_backend_names_the_known_ones() -> None:
    done = byparts("check", "nunpy")

    assert done.returncode == 2
    assert "no backend 'nunpy'; installed:" in done.stderr


@pytest.mark.usefixtures("shouter")
def test_a_part_adds_a_command() -> None:
    """It gets the words behind its name, options too, and its number is the exit status."""
    done = byparts("shout", "--help", "me")

    assert (done.stdout, done.returncode) == ("--HELP ME\n", 0), done.stderr
    assert byparts("shout", "--no").returncode == 1


@pytest.mark.usefixtures("shouter")
def test_commands_of_parts_are_listed() -> None:
    listed = [line.split() for line in byparts("--help").stdout.splitlines()]
    assert ["shout", "does", "shout"] in listed
    assert "Command shout = made_shout:shout  does shout" in byparts("parts", "-v").stdout


@pytest.mark.usefixtures("shouter")
def test_an_unknown_command_names_the_known_ones() -> None:
    done = byparts("shoot")

    assert done.returncode == 2
    assert "no command 'shoot'; there are parts" in done.stderr and "'shout'?" in done.stderr


@pytest.mark.usefixtures("shouter")
def test_a_command_that_cannot_be_loaded_is_blamed_on_its_distribution() -> None:
    done = byparts("gone")

    assert done.returncode == 2
    assert "command 'gone' of made-shout cannot be loaded from made_shout_gone" in done.stderr


def test_a_command_of_a_part_that_is_absent_says_where_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("byparts_graph_ir.parts.hub.parts", Parts("no.such.group"))

    assert main(["plan", "model.json"]) == 2
    said = capsys.readouterr().err
    assert "no command 'plan'; " in said and "it comes with byparts-memplan: pip install " in said


@pytest.mark.skipif(find_spec("byparts_memplan") is None, reason="needs byparts-memplan")
def test_a_command_of_a_part_that_is_switched_off_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_ONLY", "none")
    done = byparts("plan", "model.json")

    assert done.returncode == 2
    assert "byparts-memplan is disabled: not in BYPARTS_ONLY" in done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "print('written')",
        "sys.stderr.write('written')",
        "os.write(1, b'written')",
        "logging.error('written')",
        "warnings.warn('written')",
        "os.system('echo written')",
    ],
)
def test_what_a_part_writes_when_loaded_is_no_output_of_a_command(
    talker: Callable[[str], None], line: str
) -> None:
    """It is a note on stderr, and in the listing."""
    talker(line)
    talk, listing = byparts("talk"), byparts("parts", "--json")

    assert talk.stdout == "{}\n"
    (note,) = talk.stderr.splitlines()
    assert note.startswith("note: talk (made-talk) writes while it is loaded: ")
    assert "written" in note
    (part,) = [p for p in json.loads(listing.stdout)["parts"] if p["name"] == "talk"]
    assert (part["state"], listing.stderr) == ("ok", "")
    assert "written" in part["notes"][0]
    assert "note: talk (made-talk 9.9) writes while it is loaded: " in byparts("parts").stdout


@pytest.mark.parametrize(
    "line", ["sys.exit(3)", "raise BaseException('no')", "raise GeneratorExit", "exit()"]
)
def test_a_part_cannot_end_a_command(talker: Callable[[str], None], line: str) -> None:
    talker(line)
    done = byparts("parts")

    (row,) = [row for row in done.stdout.splitlines() if row.startswith("talk ")]
    assert done.returncode == 0 and row.split()[2] == "broken"


@pytest.mark.usefixtures("shouter")
def test_an_interrupted_command_says_so() -> None:
    done = byparts("stop")

    assert (done.returncode, done.stderr) == (130, "interrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of Windows break otherwise")
@pytest.mark.usefixtures("shouter")
def test_a_reader_that_goes_away_ends_a_command_quietly() -> None:
    command = [sys.executable, "-m", "byparts_graph_ir", "endless"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None and running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        said = running.stderr.read()

    assert (running.returncode, said) == (141, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell that closes streams")
def test_a_closed_output_is_no_traceback() -> None:
    line = f"{sys.executable} -m byparts_graph_ir parts >&-"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)

    assert "Traceback" not in done.stderr
