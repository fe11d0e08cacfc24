"""What became of a combination, and the table of all of them."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from combinations.environment import Environment
from combinations.facts import Parts
from combinations.plan import Combination
from combinations.third_party import Missing
from proof.__main__ import GROUPS
from proof.spec import Answer, Spec, read_answers, write

OK, FAIL, LEFT_OUT = "ok", "FAIL", "left out"


@dataclass(frozen=True)
class Verdict:
    """One row.

    Attributes:
        id: of the combination.
        state: "ok", "FAIL" or "left out".
        seconds: to make the environment and to prove it.
        answers: of its checks.
        said: what is wrong, or why it was left out.
    """

    id: str
    state: str
    seconds: float = 0.0
    answers: tuple[Answer, ...] = ()
    said: str = ""

    def __str__(self) -> str:
        if self.state == LEFT_OUT:
            return f"{self.state:8}  {self.id:52} {self.said}"
        right = f"{sum(a.right for a in self.answers)}/{len(self.answers)}"
        return f"{self.state:8}  {self.id:52} {right:>7} right  {self.seconds:5.1f} s"


def prove(
    combination: Combination,
    make: Callable[[Combination], Environment],
    home: Path,
    programs: Path,
    parts: Parts,
) -> Verdict:
    """Make the environment, run the proof in it, judge.  Never raises for what is wrong in it."""
    start = time.perf_counter()
    try:
        environment = make(combination)
    except Missing as error:
        return Verdict(combination.id, FAIL, time.perf_counter() - start, said=str(error))
    spec = Spec(
        parts=tuple(sorted(combination.parts)),
        every=tuple(sorted(parts)),
        packages=environment.packages,
        lacks=tuple(sorted(combination.lacks)),
        programs=str(programs),
    )
    with TemporaryDirectory() as folder:
        asked, answered = Path(folder, "spec.json"), Path(folder, "answers.json")
        write(asked, spec)
        arguments = ("-W", "error", "-m", "proof", str(asked), str(answered))
        try:
            done = environment.run(*arguments, home=home)
        except subprocess.TimeoutExpired as error:
            return Verdict(combination.id, FAIL, time.perf_counter() - start, said=str(error))
        answers = read_answers(answered) if answered.exists() else []
    return judge(combination.id, done, answers, time.perf_counter() - start)


def judge(
    id: str, done: subprocess.CompletedProcess[str], answers: Sequence[Answer], seconds: float
) -> Verdict:
    """Right only if it ended well, said what is there, and nothing it said is wrong."""
    wrong = [f"{a.group}: {a.claim}\n{a.said.rstrip()}" for a in answers if not a.right]
    if done.returncode or not any(a.group == "presence" for a in answers):
        wrong.append(
            f"ended with {done.returncode}, {len(answers)} answers\n{done.stdout}{done.stderr}"
        )
    state = FAIL if wrong else OK
    return Verdict(id, state, seconds, tuple(answers), "\n".join(wrong).rstrip())


def table(verdicts: Sequence[Verdict]) -> str:
    """A row for each combination, a column for each group of checks: how many are right."""
    width = max(len(v.id) for v in verdicts)
    lines = [" ".join([f"{'':{width}}", *(f"{g:>8}" for g in GROUPS), f"{'s':>6}"])]
    for v in (v for v in verdicts if v.state != LEFT_OUT):
        cells = " ".join(f"{_cell(v, group):>8}" for group in GROUPS)
        lines.append(f"{v.id:{width}} {cells} {v.seconds:6.1f}".rstrip())
    return "\n".join(lines)


def declined(verdicts: Sequence[Verdict]) -> list[str]:
    """Why devices were not used, and in how many combinations."""
    said = Counter(
        a.said for v in verdicts for a in v.answers if a.right and a.said.startswith("declined: ")
    )
    return [f"{text} ({count} combinations)" for text, count in said.items()]


def summary(verdicts: Sequence[Verdict], seconds: float) -> str:
    """The last line: how many, how long, and the names of those that fail."""
    ids = {state: [v.id for v in verdicts if v.state == state] for state in (OK, FAIL, LEFT_OUT)}
    said = (
        f"{len(ids[OK])} combinations ok, {len(ids[LEFT_OUT])} left out, {len(ids[FAIL])} failing"
    )
    return f"{said}, in {seconds:.1f} s" + (f": {', '.join(ids[FAIL])}" if ids[FAIL] else "")


def _cell(verdict: Verdict, group: str) -> str:
    mine = [a for a in verdict.answers if a.group == group]
    if any(not a.right for a in mine):
        return FAIL
    return str(len(mine)) if mine else ""
