"""Exercises: checks a student's file and says in a sentence what is wrong with it.

    hatch run exercise               # the seven exercises, and which are done
    hatch run exercise 5             # checks exercises/05_memory_plan/start.py
    hatch run exercise 5 mine.py     # another file
    hatch run exercise 5 --hint 1    # or 2, or 3
    hatch run exercise 5 --solution

A folder of `exercises/` has `task.md`, `start.py` to write in, `solution.py`, files `wrong_*.py`
with mistakes that students make, and `test_NN.py`.  The tests are functions of the student's
module; each docstring is a claim, and each assertion is a sentence about what breaks it.  They run
in order up to the first that fails.  `show(student)` of a test file, if there is one, measures: it
runs for students alone, never in tests, and may raise AssertionError, too.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import sys
import textwrap
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np

from byparts_graph_ir import Input, TensorType
from byparts_runtime import Program

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # exercise 7 measures on one thread
ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "exercises"
DONE = FOLDER / ".done"  # names of folders, one a line
WIDTH = 100

_HINT = re.compile(r"<summary>Hint (\d)</summary>\n\n(.*?)\n</details>", re.DOTALL)


class ExerciseError(Exception):
    """There is no such exercise, file or hint; the message says what there is."""


@dataclass(frozen=True)
class Outcome:
    """What the tests found in a file.

    Attributes:
        holds: the claims that hold, in order.
        wrong: a sentence about the first that does not; "" where all hold.
    """

    holds: tuple[str, ...]
    wrong: str


def main(words: Sequence[str]) -> int:
    """Do what the words ask for; the exit status is 0 where all is well."""
    parser = argparse.ArgumentParser(prog="exercise", description=__doc__.partition("\n")[0])
    parser.add_argument("number", type=int, nargs="?", help="1 to 7; without: the list of them")
    parser.add_argument("file", type=Path, nargs="?", help="by default start.py of the exercise")
    parser.add_argument("--hint", type=int, metavar="1|2|3", help="print a hint, each says more")
    parser.add_argument("--solution", action="store_true", help="print a solution")
    given = parser.parse_args(words)
    try:
        if given.number is None:
            print(progress())
            return 0
        folder = folder_of(given.number)
        if given.hint is not None or given.solution:
            print(hint(folder, given.hint) if given.hint is not None else solution(folder))
            return 0
        file = given.file or folder / "start.py"
        if not file.is_file():
            raise ExerciseError(f"there is no file {file}")
    except ExerciseError as error:
        print(error, file=sys.stderr)
        return 2
    return _check_aloud(folder, file.resolve())


def folder_of(number: int) -> Path:
    """The folder of an exercise.

    Raises:
        ExerciseError: there is none of that number; says which there are.
    """
    for folder in folders():
        if folder.name.startswith(f"{number:02}_"):
            return folder
    raise ExerciseError(f"there is no exercise {number}; there are\n{progress()}")


def folders() -> list[Path]:
    """The folders of all exercises, in order."""
    return sorted(FOLDER.glob("[0-9][0-9]_*"))


def hint(folder: Path, step: int) -> str:
    """One of the three hints in the task.

    Raises:
        ExerciseError: there is no hint of that number.
    """
    hints = dict(_HINT.findall((folder / "task.md").read_text(encoding="utf-8")))
    if str(step) not in hints:
        raise ExerciseError(f"there is no hint {step}; hints are {', '.join(sorted(hints))}")
    return str(hints[str(step)]).strip("\n")


def solution(folder: Path) -> str:
    """The text of the solution."""
    return (folder / "solution.py").read_text(encoding="utf-8").strip("\n")


def progress(done: Path = DONE) -> str:
    """The list of exercises with a mark at those that are done, and how many these are."""
    passed = _read_done(done)
    lines = [f"  {'done' if f.name in passed else '    '}  {_title(f)}" for f in folders()]
    return "\n".join([*lines, f"{len(passed)} of {len(lines)} done"])


def record(folder: Path, done: Path = DONE) -> None:
    """Remember that an exercise is done."""
    names = sorted(_read_done(done) | {folder.name})
    done.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")


def check(folder: Path, file: Path) -> Outcome:
    """Run the tests of an exercise on a file, up to the first that fails."""
    holds: list[str] = []
    tests = module_of(folder / f"test_{folder.name[:2]}.py")
    try:
        student = module_of(file)
    except Exception as error:  # whatever a student's file raises is for the student to read
        return Outcome((), _explained(error, file, "the file can be imported"))
    for test in _tests_of(tests):
        claim = (test.__doc__ or "").partition("\n")[0].rstrip(".")
        if wrong := _tried(test, student, file, claim):
            return Outcome(tuple(holds), wrong)
        holds.append(claim)
    return Outcome(tuple(holds), "")


def changed(file: str, *changes: tuple[str, str]) -> ModuleType:
    """The module of the solution beside a file, with pieces of its text replaced: a mistake.

    Raises:
        ExerciseError: a piece is not in the text.
    """
    text = solution(Path(file).parent)
    for old, new in changes:
        if old not in text:
            raise ExerciseError(f"{file} replaces {old!r}, which is not in the solution")
        text = text.replace(old, new)
    module = ModuleType(Path(file).stem)
    exec(compile(text, file, "exec"), vars(module))
    return module


def values(**shapes: tuple[int, ...]) -> list[Any]:
    """Inputs of f32 with these names and shapes, for a graph."""
    return [Input(TensorType("f32", shape), name=name) for name, shape in shapes.items()]


def only(name: str, given: object) -> tuple[Any, ...]:
    """What a method gives, which must be a tuple of one thing.

    Raises:
        AssertionError: it is something else; a sentence with it.
    """
    sentence = f"{name} gives {given!r:.60}: make it a tuple of one thing, (y,)"
    assert isinstance(given, tuple) and len(given) == 1, sentence
    return given


def same(before: Program, after: Program, tolerance: float = 0.0) -> None:
    """Run two programs on equal random feeds, and compare what they give.

    Raises:
        AssertionError: a result differs; a sentence with both.
    """
    random = np.random.default_rng(0)
    arrays = [
        random.normal(size=t.dims).astype("f4") / 2 if t.dtype == "f32"
        else random.integers(0, 5, t.dims)  # labels
        for t in before.feed_types
    ]  # fmt: skip
    for a, b in zip(before(*arrays), after(*arrays), strict=True):
        equal = np.allclose(a, b, rtol=tolerance, atol=tolerance)
        assert equal, f"a result of the program is {b}, and was {a} before"


def in_turns(*functions: Callable[[], object], rounds: int = 50) -> list[float]:
    """The seconds of the best call of each function; they are called one after the other."""
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for i, function in enumerate(functions):
            begin = perf_counter()
            function()
            best[i] = min(best[i], perf_counter() - begin)
    return best


def _check_aloud(folder: Path, file: Path) -> int:
    """Check a file, print what was found and what to do next, and measure what has passed."""
    print(f"{_title(folder)}: {_shown(file)}")
    outcome = check(folder, file)
    for claim in outcome.holds:
        print(_wrapped(claim, "  holds  "))
    wrong = outcome.wrong
    show = getattr(module_of(folder / f"test_{folder.name[:2]}.py"), "show", None)
    if not wrong and show is not None:
        wrong = _tried(lambda s: print(f"  {show(s)}"), module_of(file), file, "it is measured")
    if wrong:
        print(_wrapped(wrong, "  wrong  "))
        print(f"\nThe task: {_shown(folder / 'task.md')}")
        print(f"Stuck?    hatch run exercise {int(folder.name[:2])} --hint 1, then 2, then 3")
        return 1
    if file != folder / "solution.py":
        record(folder)
    print(progress().splitlines()[-1])
    return 0


def _tried(
    test: Callable[[ModuleType], object], student: ModuleType, file: Path, claim: str
) -> str:
    """What is wrong with the student's module by this test; "" if nothing is."""
    try:
        test(student)
    except (Exception, KeyboardInterrupt) as error:  # a loop without end is ended by Ctrl-C
        return _explained(error, file, claim)
    return ""


def _explained(error: BaseException, file: Path, claim: str) -> str:
    """A sentence about an error: what happened, on which line of the student, and amid what."""
    if isinstance(error, AssertionError) and str(error):
        return str(error)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)]
    line = f", line {frames[-1].lineno}" if frames else ""
    if isinstance(error, SyntaxError):
        return f"{file.name}, line {error.lineno} is no Python: {error.msg}"
    if isinstance(error, NotImplementedError) and frames:
        return f"{file.name}{line}: `{frames[-1].name}` is not written yet; {error}"
    if isinstance(error, KeyboardInterrupt):
        return f"{file.name}{line}: stopped here by Ctrl-C, while it was tried that: {claim}"
    said = " ".join([str(error), *getattr(error, "__notes__", ())]).strip()
    what = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return f"{file.name}{line}: {what}; this came while it was tried that: {claim}"


def _tests_of(tests: ModuleType) -> list[Callable[[ModuleType], object]]:
    return [f for name, f in vars(tests).items() if name.startswith("test_")]


def module_of(file: Path) -> ModuleType:
    """The module of a file, executed anew."""
    name = f"exercise_{file.parent.name}_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None, "a file that ends in .py has a loader"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _title(folder: Path) -> str:
    """The first line of the task, e.g. "Exercise 5: a memory plan"."""
    return (folder / "task.md").read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")


def _read_done(done: Path) -> set[str]:
    names = done.read_text(encoding="utf-8").split() if done.exists() else []
    return {folder.name for folder in folders()} & set(names)


def _shown(file: Path) -> str:
    return str(file.relative_to(ROOT) if file.is_relative_to(ROOT) else file)


def _wrapped(text: str, head: str) -> str:
    """The text behind `head`; lines of its own stay lines."""
    lines = [part for line in text.split("\n") for part in textwrap.wrap(line, WIDTH - len(head))]
    return head + ("\n" + " " * len(head)).join(lines)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "benchmarks"))  # its networks are planned in exercise 5
    sys.exit(main(sys.argv[1:]))
