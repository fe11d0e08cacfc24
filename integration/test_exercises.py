"""The exercises: solutions pass, starts fail, and each wrong file gets a sentence of its own."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import exercise

FOLDERS = exercise.folders()
WRONG = [file for folder in FOLDERS for file in sorted(folder.glob("wrong_*.py"))]
MOST_LINES = 1000  # of the whole folder: what there is to read for who does the exercises


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_the_solution_passes(folder: Path) -> None:
    """All claims hold, and there are some; exercise 7 counts loops, and measures nothing."""
    outcome = exercise.check(folder, folder / "solution.py")

    assert outcome.wrong == ""
    assert len(outcome.holds) >= 4


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_the_start_fails_with_a_sentence(folder: Path) -> None:
    """The sentence says which function is to be written, and where the task is."""
    wrong = exercise.check(folder, folder / "start.py").wrong

    assert wrong.startswith("start.py, line ")
    assert wrong.endswith(" is not written yet; the task is in task.md")


@pytest.mark.parametrize("file", WRONG, ids=lambda f: f"{f.parent.name}/{f.stem}")
def test_a_wrong_file_is_told_what_is_wrong(file: Path) -> None:
    """The sentence is the one in its docstring, and no other wrong file of the exercise has it."""
    says, wrong = said_by(file), exercise.check(file.parent, file).wrong

    assert says != "" and says in wrong
    assert says not in [said_by(other) for other in file.parent.glob("wrong_*.py") if other != file]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_every_exercise_has_what_it_needs(folder: Path) -> None:
    """Three hints, two wrong files or more, and a solution to show."""
    assert all(len(exercise.hint(folder, step)) > 80 for step in (1, 2, 3))
    assert len([file for file in WRONG if file.parent == folder]) >= 2
    assert "def " in exercise.solution(folder)


def test_the_folder_stays_short() -> None:
    """A thousand lines are a promise about how much somebody has to read."""
    files = [f for f in exercise.FOLDER.rglob("*.*") if f.suffix in (".md", ".py")]

    assert sum(len(f.read_text(encoding="utf-8").splitlines()) for f in files) <= MOST_LINES


def test_progress(tmp_path: Path) -> None:
    """An exercise that is done is marked, once."""
    for folder in (FOLDERS[4], FOLDERS[4], FOLDERS[0]):
        exercise.record(folder, tmp_path / "done")

    lines = exercise.progress(tmp_path / "done").splitlines()
    assert lines[-1] == "2 of 7 done"
    assert [line[2:6] for line in lines[:-1]].index("done") == 0
    assert "done  Exercise 5: a memory plan" in lines[4]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def merge(graph:\n", "mine.py, line 1 is no Python: "),
        ("x = 1 / 0\n", "mine.py, line 1: ZeroDivisionError: division by zero; this came while it"),
        (
            "import not_there\n",
            "No module named 'not_there'; this came while it was tried that: the",
        ),
        ("def other(graph):\n    pass\n", "has no attribute 'merge'; this came while it was tried"),
        ("def merge(graph):\n    return None\n", "this came while it was tried that: Equal nodes"),
        (
            "def merge(graph):\n    raise KeyboardInterrupt\n",
            "line 2: stopped here by Ctrl-C, while",
        ),
    ],
)
def test_what_a_file_raises_is_a_sentence(text: str, says: str, tmp_path: Path) -> None:
    """With the line of the student's file, where it has one."""
    file = tmp_path / "mine.py"
    file.write_text(text, encoding="utf-8")

    assert says in exercise.check(FOLDERS[2], file).wrong


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """It prints hints and solutions, and says what there is where there is nothing."""
    assert exercise.main(["3", "--hint", "1"]) == 0
    assert "a dict" in capsys.readouterr().out
    assert exercise.main(["3", "--solution"]) == 0
    assert "seen.setdefault" in capsys.readouterr().out
    assert exercise.main(["3", str(FOLDERS[2] / "wrong_effects.py")]) == 1
    assert "  wrong  1 print is left of 2: " in capsys.readouterr().out
    for words, says in (
        (["9"], "there is no exercise 9"),
        (["3", "--hint", "4"], "hints are 1, 2, 3"),
    ):
        assert exercise.main(words) == 2
        assert says in capsys.readouterr().err


def test_regions_are_generated_code_where_there_is_a_compiler() -> None:
    """Exercise 4 shows it to students, as a count of kernels."""
    assert "kernels" in shown(4)[0]


def test_half_the_speed_of_blas_is_asked_of_students_alone() -> None:
    """Exercise 7 shows a ratio; here the seconds are given, and nothing is measured."""
    said, tests = shown(7, in_turns=lambda *_: [1.0, 0.6])
    assert said.startswith("0.60 of the speed of NumPy's BLAS, 0 GFLOP/s")

    tests.in_turns = lambda *_: [1.0, 0.4]
    with pytest.raises(AssertionError, match=r"^0.40 of the speed .*; half of it is asked for$"):
        tests.show(exercise.module_of(FOLDERS[6] / "solution.py"))


def shown(number: int, **changes: Any) -> tuple[str, Any]:
    """What an exercise shows of its solution, and the module of its tests."""
    folder = exercise.folder_of(number)
    tests: Any = exercise.module_of(folder / f"test_{number:02}.py")
    vars(tests).update(changes)
    return tests.show(exercise.module_of(folder / "solution.py")), tests


def said_by(file: Path) -> str:
    """What a wrong file says that it is told."""
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return docstring.partition("Says: ")[2].strip(" .\n")
