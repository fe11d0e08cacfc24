"""Give a solver a sequence to begin with: a value for every variable of a `SequenceModel`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Optional

from byparts_recompute.scheduling.cp_sat_model import Run, SequenceModel

Positions = list[list[int]]  # by step, where it runs


def hint(problem: SequenceModel, sequence: Sequence[int]) -> bool:
    """Add the values; return False, without them, where a step runs more often than in the model.

    The first runs of the sequence are in the order of the model.  O(sequence * log(runs)).
    """
    at = _positions(problem, sequence)
    if any(len(places) > len(runs) for places, runs in zip(at, problem.runs, strict=True)):
        return False
    for runs, places in zip(problem.runs, at, strict=True):
        for run in runs:
            _add(problem, run.present, run.number < len(places))
            if run.number < len(places):
                _add(problem, run.variable, places[run.number] // run.scale)
    last = _reads(problem, at)
    taken = _takes(problem, at, last)
    for v, ends in problem.ends.items():
        starts = at[problem.steps.writer[v]] if v in problem.steps.writer else [0]
        for i, (start, end) in enumerate(zip(starts, ends, strict=False)):  # some do not run
            least = start + (v in problem.steps.writer)
            until = last.get((v, i), -1) + 1 - ((v, i) in taken)
            _add(problem, end, min(max(least, until), problem.end))
    return True


def _add(problem: SequenceModel, variable: Any, value: int) -> None:
    if not isinstance(variable, int):
        problem.model.add_hint(variable, value)


def _positions(problem: SequenceModel, sequence: Sequence[int]) -> Positions:
    positions: Positions = [[] for _ in problem.runs]
    interval = 0
    for t, s in enumerate(sequence):
        position = t
        if problem.place is not None:
            position = interval * problem.n + problem.place[s]
            interval += problem.place[s] == interval
        if position not in positions[s][-1:]:  # once in an interval is enough
            positions[s].append(position)
    return positions


def _at(reader: Run, problem: SequenceModel, at: Positions) -> Optional[int]:
    if reader is problem.caller:
        return problem.end
    places = at[reader.step]
    return places[reader.number] if reader.number < len(places) else None


def _source(problem: SequenceModel, at: Positions, v: int, position: int) -> int:
    """The number of the run that computes the storage that is read at a position."""
    writer = problem.steps.writer.get(v)
    return 0 if writer is None else bisect_left(at[writer], position) - 1


def _reads(problem: SequenceModel, at: Positions) -> dict[tuple[int, int], int]:
    """Add values for who reads which run.  Returns by (storage, run) the last reading position."""
    last: dict[tuple[int, int], int] = {}
    for reader, v, literals in problem.reads:
        position = _at(reader, problem, at)
        source = None if position is None else _source(problem, at, v, position)
        for i, literal in enumerate(literals):
            _add(problem, literal, i == source)
        if position is not None and source is not None:
            last[v, source] = max(position, last.get((v, source), -1))
    return last


def _takes(
    problem: SequenceModel, at: Positions, last: dict[tuple[int, int], int]
) -> set[tuple[int, int]]:
    """Add values for what is written over what.  Returns the (storage, run) written over."""
    taken, written = set[tuple[int, int]](), set[tuple[int, int]]()
    for reader, w, v, literal in problem.takes:
        position = _at(reader, problem, at)
        able = False
        if position is not None and (w, position) not in written:
            source = v, _source(problem, at, v, position)
            able = source not in taken and last.get(source) == position
            if able:
                taken.add(source)
                written.add((w, position))
        _add(problem, literal, able)
    return taken
