"""Linear constraints from which the solver sees that too few bytes cost recomputation.

The intervals of the model alone bound the cost only after much search, on graphs of more than a
hundred steps hardly at all.  But at the first run of a step, the storages that are alive and not
touched must fit together with those that are touched; a storage that does not stay, and is read
later, has to be computed again.  So the cheapest way to cover the excess bounds the cost, which the
linear relaxation knows once it is stated (a knapsack cover).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from byparts_recompute import tuning
from byparts_recompute.scheduling.cp_sat_model import Run, SequenceModel


def cover(problem: SequenceModel, budget: Any, least_bytes: int) -> None:
    """Add the constraints at the local peaks of the plain order above `least_bytes`.

    `budget` is a number or a variable, in the model's units.  The solutions stay the same.
    O(peaks * reads), at most `COVER_LITERALS` literals.
    """
    place = problem.place
    if place is None:
        return
    base = sorted(place, key=lambda s: place[s])
    live = problem.steps.live_bytes(base)
    around = [0, *live, 0]
    peaks = [
        j
        for j, now in enumerate(live)
        if now > least_bytes and now >= around[j] and now >= around[j + 2]
    ]
    readers: dict[int, list[Run]] = {v: [] for v in problem.ends}
    for reader, v, _ in problem.reads:
        if v in readers:
            readers[v].append(reader)
    left = tuning.COVER_LITERALS
    for j in sorted(peaks, key=lambda j: (-live[j], j)):
        if left <= 0:
            return
        left -= _Moment(problem, base[j], j).limit(readers, budget)


class _Moment:
    """The first run of step `s`, which is at place `j` of the order."""

    def __init__(self, problem: SequenceModel, s: int, j: int) -> None:
        self.problem, self.s, self.key = problem, s, j * problem.n + j
        self.known: dict[tuple[int, int], Any] = {}

    def limit(self, readers: Mapping[int, Sequence[Run]], budget: Any) -> int:
        """Require that what stays fits the budget.  Returns the number of literals added."""
        problem, steps, s = self.problem, self.problem.steps, self.s
        touched = {*steps.reads[s], *steps.writes[s]}
        fixed = sum(steps.size[v] for v in touched) - sum(steps.size[w] for w, _ in steps.over[s])
        stays: list[Any] = []
        for v, readers_of_v in readers.items():
            writer = steps.writer.get(v)
            runs = [] if writer is None else problem.runs[writer]
            late = any(reader.upper > self.key for reader in readers_of_v)
            if v in touched or not late or (runs and runs[0].upper > self.key):
                continue
            if len(runs) > 1:
                stays.append(steps.size[v] // problem.unit * self._stays(v, runs, readers_of_v))
            elif any(reader.lower > self.key for reader in readers_of_v):
                fixed += steps.size[v]
        if stays:
            problem.model.add(sum(stays) + fixed // problem.unit <= budget)
        return len(stays)

    def _stays(self, v: int, runs: Sequence[Run], readers: Sequence[Run]) -> Any:
        """A literal: the storage is alive, because a later reader reads an earlier run."""
        model, key = self.problem.model, self.key
        alive = model.new_bool_var(f"{v} alive at {key}")
        for run, end in zip(runs, self.problem.ends[v], strict=True):
            before = [] if not run.number else [run.present, ~self._after(run)]
            model.add(end <= key).only_enforce_if(*before, ~alive)
        there = [alive, self._again(runs)]
        for step in dict.fromkeys(reader.step for reader in readers if reader.upper > key):
            first, *more = [self.problem.caller] if step < 0 else self.problem.runs[step]
            needed = [] if first.lower > key else [~self._again([first, *more])]
            model.add_bool_or(*there, *needed)
        return alive

    def _again(self, runs: Sequence[Run]) -> Any:
        """A literal: a step whose first run is before the moment has another run after it."""
        step = runs[0].step, -1
        if step not in self.known:
            model, after = self.problem.model, [self._after(run) for run in runs[1:]]
            self.known[step] = model.new_bool_var(f"{step} again after {self.key}")
            model.add_bool_or(*after, ~self.known[step])
            for one in after:
                model.add_implication(one, self.known[step])
        return self.known[step]

    def _after(self, run: Run) -> Any:
        """A literal: this run is present, and after the moment."""
        if run.lower > self.key:
            return run.present
        if (run.step, run.number) not in self.known:
            model = self.problem.model
            after = model.new_bool_var(f"{run.step} {run.number} after {self.key}")
            model.add_implication(after, run.present)
            model.add(run.start > self.key).only_enforce_if(after)
            model.add(run.start < self.key).only_enforce_if(run.present, ~after)
            self.known[run.step, run.number] = after
        return self.known[run.step, run.number]
