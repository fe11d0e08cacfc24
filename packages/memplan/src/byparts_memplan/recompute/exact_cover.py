"""What must go where too much would be alive: what the retention intervals say, said linearly.

The interval constraint alone tells a solver nothing about cost: it would prove little of graphs of
more than a hundred steps.  At the first run of a step, what is alive and not touched there has to
fit beside what is; whatever of it does not stay, and is read later, has to run again.  So the
cheapest cover of the excess is a bound of the cost, and the relaxation knows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from byparts_memplan.recompute.exact_model import ExactModel, Run

LITERALS = 4000  # so many are a help rather than a burden


def cover(made: ExactModel, budget: Any, least_bytes: int) -> None:
    """At the peaks of the plain order above `least_bytes`: what stays fits `budget`, in units.

    Adds no solution and takes none away.  O(moments * reads), of which moments are few.
    """
    place = made.place
    if place is None:
        return
    base = sorted(place, key=lambda s: place[s])
    live = made.steps.live_bytes(base)
    around = [0, *live, 0]
    peaks = [
        j
        for j, now in enumerate(live)
        if now > least_bytes and now >= around[j] and now >= around[j + 2]
    ]
    readers: dict[int, list[Run]] = {v: [] for v in made.ends}
    for reader, v, _ in made.reads:
        if v in readers:
            readers[v].append(reader)
    left = LITERALS
    for j in sorted(peaks, key=lambda j: (-live[j], j)):
        if left <= 0:
            return
        left -= _Moment(made, base[j], j).limit(readers, budget)


class _Moment:
    """The first run of step s, at place j."""

    def __init__(self, made: ExactModel, s: int, j: int) -> None:
        self.made, self.s, self.key = made, s, j * made.n + j
        self.known: dict[tuple[int, int], Any] = {}

    def limit(self, readers: Mapping[int, Sequence[Run]], budget: Any) -> int:
        """What stays fits the budget.  How many literals that took."""
        made, steps, s = self.made, self.made.steps, self.s
        touched = {*steps.reads[s], *steps.writes[s]}
        fixed = sum(steps.size[v] for v in touched) - sum(steps.size[w] for w, _ in steps.over[s])
        stays: list[Any] = []
        for v, found in readers.items():
            writer = steps.writer.get(v)
            runs = [] if writer is None else made.runs[writer]
            late = any(reader.upper > self.key for reader in found)
            if v in touched or not late or (runs and runs[0].upper > self.key):
                continue
            if len(runs) > 1:
                stays.append(steps.size[v] // made.unit * self._stays(v, runs, found))
            elif any(reader.lower > self.key for reader in found):
                fixed += steps.size[v]
        if stays:
            made.model.add(sum(stays) + fixed // made.unit <= budget)
        return len(stays)

    def _stays(self, v: int, runs: Sequence[Run], readers: Sequence[Run]) -> Any:
        """Whether a storage is alive, which it is where a later reader reads an earlier run."""
        model, key = self.made.model, self.key
        alive = model.new_bool_var(f"{v} alive at {key}")
        for run, end in zip(runs, self.made.ends[v], strict=True):
            before = [] if not run.number else [run.present, ~self._after(run)]
            model.add(end <= key).only_enforce_if(*before, ~alive)
        there = [alive, self._again(runs)]
        for step in dict.fromkeys(reader.step for reader in readers if reader.upper > key):
            first, *more = [self.made.caller] if step < 0 else self.made.runs[step]
            needed = [] if first.lower > key else [~self._again([first, *more])]
            model.add_bool_or(*there, *needed)
        return alive

    def _again(self, runs: Sequence[Run]) -> Any:
        """Whether a step that has run runs again after the moment, however often."""
        step = runs[0].step, -1
        if step not in self.known:
            model, after = self.made.model, [self._after(run) for run in runs[1:]]
            self.known[step] = model.new_bool_var(f"{step} again after {self.key}")
            model.add_bool_or(*after, ~self.known[step])
            for one in after:
                model.add_implication(one, self.known[step])
        return self.known[step]

    def _after(self, run: Run) -> Any:
        """Whether there is such a run, and after the moment."""
        if run.lower > self.key:
            return run.present
        if (run.step, run.number) not in self.known:
            model = self.made.model
            after = model.new_bool_var(f"{run.step} {run.number} after {self.key}")
            model.add_implication(after, run.present)
            model.add(run.start > self.key).only_enforce_if(after)
            model.add(run.start < self.key).only_enforce_if(run.present, ~after)
            self.known[run.step, run.number] = after
        return self.known[run.step, run.number]
