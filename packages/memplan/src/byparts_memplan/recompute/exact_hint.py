"""A sequence as values of all variables of an `ExactModel`, so that the solver begins with it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Optional

from byparts_memplan.recompute.exact_model import ExactModel, Run

Positions = list[list[int]]  # by step, where it runs


def hint(made: ExactModel, sequence: Sequence[int]) -> bool:
    """Begin with a sequence; false where it has more runs of a step than the model.

    Its first runs are in the order of the model.  O(sequence * log(runs)).
    """
    at = _positions(made, sequence)
    if any(len(found) > len(runs) for found, runs in zip(at, made.runs, strict=True)):
        return False
    for runs, found in zip(made.runs, at, strict=True):
        for run in runs:
            _add(made, run.present, run.number < len(found))
            if run.number < len(found):
                _add(made, run.variable, found[run.number] // run.scale)
    last = _reads(made, at)
    taken = _takes(made, at, last)
    for v, ends in made.ends.items():
        starts = at[made.steps.writer[v]] if v in made.steps.writer else [0]
        for i, (start, end) in enumerate(zip(starts, ends, strict=False)):  # some do not run
            least = start + (v in made.steps.writer)
            until = last.get((v, i), -1) + 1 - ((v, i) in taken)
            _add(made, end, min(max(least, until), made.end))
    return True


def _add(made: ExactModel, variable: Any, value: int) -> None:
    if not isinstance(variable, int):
        made.model.add_hint(variable, value)


def _positions(made: ExactModel, sequence: Sequence[int]) -> Positions:
    found: Positions = [[] for _ in made.runs]
    stage = 0
    for t, s in enumerate(sequence):
        position = t
        if made.place is not None:
            position = stage * made.n + made.place[s]
            stage += made.place[s] == stage
        if position not in found[s][-1:]:  # once in a stage is enough
            found[s].append(position)
    return found


def _at(reader: Run, made: ExactModel, at: Positions) -> Optional[int]:
    if reader is made.caller:
        return made.end
    found = at[reader.step]
    return found[reader.number] if reader.number < len(found) else None


def _served(made: ExactModel, at: Positions, v: int, position: int) -> int:
    """Which run of its writer a storage is from at a position."""
    writer = made.steps.writer.get(v)
    return 0 if writer is None else bisect_left(at[writer], position) - 1


def _reads(made: ExactModel, at: Positions) -> dict[tuple[int, int], int]:
    """By storage and run, its last reader."""
    last: dict[tuple[int, int], int] = {}
    for reader, v, literals in made.reads:
        position = _at(reader, made, at)
        served = None if position is None else _served(made, at, v, position)
        for i, literal in enumerate(literals):
            _add(made, literal, i == served)
        if position is not None and served is not None:
            last[v, served] = max(position, last.get((v, served), -1))
    return last


def _takes(
    made: ExactModel, at: Positions, last: dict[tuple[int, int], int]
) -> set[tuple[int, int]]:
    """Storages and runs that something is written over; as `Steps.live_bytes` says it."""
    taken, written = set[tuple[int, int]](), set[tuple[int, int]]()
    for reader, w, v, literal in made.takes:
        position = _at(reader, made, at)
        able = False
        if position is not None and (w, position) not in written:
            served = v, _served(made, at, v, position)
            able = served not in taken and last.get(served) == position
            if able:
                taken.add(served)
                written.add((w, position))
        _add(made, literal, able)
    return taken
