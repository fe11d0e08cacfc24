"""A sequence of steps as a problem for CP-SAT: when each step runs, how long its results are kept.

The retention intervals of Moccasin (Bartan et al. 2023, https://arxiv.org/abs/2304.14463): a step
has a first run and some more that may be left out, and each run keeps what it writes from its own
position until the last reader that reads it.  Bytes are a cumulative constraint.  The differences:
a storage is a value that owns bytes, not a node; a storage that is written over ends one position
earlier; steps run as often as could help, where that is known; and an order need not be given.

With an order, positions are keys as in `editable_schedule.py`: the first run of the step at place j
has the key `j * n + j`, and a run in interval k the key `k * n + j`.  Without an order, positions
are numbers below the count of all runs, and no two are equal.  Bytes and cost are exactly those of
`Steps`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import gcd
from typing import Any, Optional

from byparts_graph_ir.model.frozen import Frozen
from byparts_memplan.steps import Steps


class Run(Frozen):
    """A possible computation of a step: its position, and whether it takes place.

    Attributes:
        step: in the numbers of `Steps`; -1 for the caller, who reads the outputs.
        number: among the runs of the step, from 0.
        start: position, an expression of the solver; between `lower` and `upper`, both inclusive.
        present: literal; 1 for the first run.
        variable, scale: the start is the variable times the scale, and a constant below it.
    """

    step: int
    number: int
    start: Any
    lower: int
    upper: int
    present: Any = 1
    variable: Any = 0
    scale: int = 1


class SequenceModel:
    """Variables and constraints; the objective is added by `cp_sat.py`.

    Attributes:
        model: of CP-SAT.
        place: by step, its place in the order; `None` without one.
        runs: by step, its runs from first to last.
        ends: by storage, for each run of its writer, the first position that does not need it.
        reads: (reader, storage, literals by run): which run of the writer a reader reads.
        takes: (reader, written storage, storage that it is written over, literal).
        unit: common divisor of all sizes, in bytes.
    """

    def __init__(
        self, cp: Any, steps: Steps, most: Sequence[int], base: Optional[Sequence[int]] = None
    ) -> None:
        """At most `most[s]` runs of step s; first runs in the order of `base`, or in any.

        O(reads * runs^2).
        """
        self.model, self.steps, self.most = cp.CpModel(), steps, most
        self.place = None if base is None else {s: j for j, s in enumerate(base)}
        self.n = len(steps.nodes) + 1
        self.end = sum(most) if base is None else self.n**2 - 1  # where the caller reads
        self.caller = Run(-1, 0, self.end, self.end, self.end)
        self.unit = gcd(*steps.size) or 1
        self.reads: list[tuple[Run, int, list[Any]]] = []
        self.takes: list[tuple[Run, int, int, Any]] = []
        last = self._last_intervals()
        self.runs = [self._runs(s, last) for s in range(len(steps.nodes))]
        self.ends = {v: self._ends(v) for v in (*steps.feeds, *steps.writer) if steps.size[v]}
        if base is None:
            self._any_order()
        for runs in self.runs:
            for run in runs:
                self._read(run)
        for v in sorted(steps.kept):
            self._link(self.caller, v, 1)  # no position comes after it

    def limit_bytes(self, most: Any) -> None:
        """At most `most` units are alive at any position: a number, or a variable."""
        intervals, sizes = [], []
        for v, ends in self.ends.items():
            for i, end in enumerate(ends):
                run = self._writing(v, i)
                intervals.append(self._interval(run.start, end, run.present))
                sizes.append(self.steps.size[v] // self.unit)
        self.model.add_cumulative(intervals, sizes, most)

    def repeated_runs(self) -> list[Run]:
        """All runs but the first ones."""
        return [run for runs in self.runs for run in runs[1:]]

    def sequence(self, solver: Any) -> list[int]:
        """The steps in the order in which the solution runs them."""
        every = [run for runs in self.runs for run in runs]
        present = [(solver.value(r.start), r.step) for r in every if solver.value(r.present)]
        return [s for _, s in sorted(present)]

    def _last_intervals(self) -> list[int]:
        """By step, the last interval in which a reader of its results may run."""
        steps, place = self.steps, self.place
        if place is None:
            return []
        last = [place[s] for s in range(len(steps.nodes))]
        for v in steps.kept & steps.writer.keys():
            last[steps.writer[v]] = self.n - 1
        for c in sorted(place, key=lambda s: -place[s]):
            reach = last[c] if steps.again[c] else place[c]
            for v in steps.reads[c]:
                if v in steps.writer:
                    last[steps.writer[v]] = max(last[steps.writer[v]], reach)
        return last

    def _runs(self, s: int, last: Sequence[int]) -> list[Run]:
        model, n, runs = self.model, self.n, list[Run]()
        j = 0 if self.place is None else self.place[s]
        for i in range(self.most[s] if self.place is None else min(self.most[s], 1 + last[s] - j)):
            present = model.new_bool_var(f"runs {s} {i}") if i else 1
            if self.place is None:
                start = model.new_int_var(0, self.end - 1, f"start {s} {i}")
                runs.append(Run(s, i, start, 0, self.end - 1, present, start))
            elif i:
                interval = model.new_int_var(j + i, last[s], f"interval {s} {i}")
                lower, upper = (j + i) * n + j, last[s] * n + j
                runs.append(Run(s, i, interval * n + j, lower, upper, present, interval, n))
            else:
                runs.append(Run(s, i, j * n + j, j * n + j, j * n + j))
            if i > 1:
                model.add_implication(present, runs[i - 1].present)
        return runs

    def _ends(self, v: int) -> list[Any]:
        """By run, the end of its results: after its own position, at most at the next run's."""
        steps, model = self.steps, self.model
        if v not in steps.writer:
            read = v in steps.kept or any(v in reads for reads in steps.reads)
            return [model.new_int_var(0 if read else 1, self.end, f"end {v}")]
        ends: list[Any] = []
        for i, run in enumerate(self.runs[steps.writer[v]]):
            end = model.new_int_var(run.lower + 1, self.end, f"end {v} {i}")
            model.add(end >= run.start + 1).only_enforce_if(run.present)
            if i:
                model.add(run.start >= ends[-1]).only_enforce_if(run.present)
            ends.append(end)
        return ends

    def _any_order(self) -> None:
        """No two positions are equal, one is 0, and dependencies hold, of effects too."""
        model, runs = self.model, [run for runs in self.runs for run in runs]
        model.add_no_overlap([self._interval(r.start, r.start + 1, r.present) for r in runs])
        model.add_min_equality(0, [runs[0].start for runs in self.runs])
        for before, after in pairwise(runs):
            if before.step == after.step:
                model.add(after.start > before.start).only_enforce_if(after.present)
        for s, needed in enumerate(self.steps.before):
            for early in needed:
                model.add(self.runs[s][0].start > self.runs[early][0].start)

    def _read(self, run: Run) -> None:
        """Require that what a run reads is kept until then; until just before, if written over."""
        taken = self._take(run)
        for v in self.steps.reads[run.step]:
            if self.steps.size[v]:
                self._link(run, v, sum(taken.get(v, [])))

    def _take(self, run: Run) -> dict[int, list[Any]]:
        """By storage, the literals that say that an output is written over it.

        The choice among several candidates is that of `Steps.live_bytes`.
        """
        reads, taken = self.steps.reads[run.step], dict[int, list[Any]]()
        over = [(w, [v for v in of if v in reads]) for w, of in self.steps.over[run.step]]
        alone = sum(len(candidates) for _, candidates in over) == 1
        literals: dict[tuple[int, int], Any] = {}
        for at, (w, candidates) in enumerate(over):
            for v in candidates:
                take = 1 if alone else self.model.new_bool_var(f"{run.step}: {w} over {v}")
                literals[w, v] = take
                taken.setdefault(v, []).append(take)
                self.takes.append((run, w, v, take))
                for u, others in over[:at]:  # an earlier output takes the first that is free
                    if v in others:
                        rather = [literals[u, x] for x in others[: others.index(v)]]
                        self.model.add_bool_or(rather).only_enforce_if(take)
            self.model.add_at_most_one(literals[w, v] for v in candidates)
        return taken

    def _link(self, reader: Run, v: int, taken: Any) -> None:
        """Require that a reader reads one of the runs before it, which is kept until then."""
        model, ends, literals = self.model, self.ends.get(v, []), list[Any]()
        least = reader.start + 1 - taken
        self.reads.append((reader, v, literals))
        if v not in self.steps.writer:
            for end in ends:
                model.add(end >= least).only_enforce_if(reader.present)
            return
        for i, end in enumerate(ends):
            run = self._writing(v, i)
            if run.lower >= reader.upper:
                break
            read = model.new_bool_var(f"{reader.step} {reader.number} reads {v} {i}")
            literals.append(read)
            model.add_implication(read, run.present)
            model.add(end >= least).only_enforce_if(read)
            if run.upper >= reader.lower:
                model.add(run.start < reader.start).only_enforce_if(read)
        if ends:
            model.add_bool_or(literals).only_enforce_if(reader.present)

    def _writing(self, v: int, i: int) -> Run:
        """The run that writes a storage; for an input, a run before all others."""
        writer = self.steps.writer.get(v)
        return Run(-1, 0, 0, 0, 0) if writer is None else self.runs[writer][i]

    def _interval(self, start: Any, end: Any, present: Any) -> Any:
        size = self.model.new_int_var(0, self.end, "")
        return self.model.new_optional_interval_var(start, size, end, present, "")
