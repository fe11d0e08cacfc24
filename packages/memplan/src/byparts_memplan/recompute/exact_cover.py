"""What must go where too much would be alive: what the retention intervals say, said linearly.

The interval constraint alone tells a solver nothing about cost: it would prove little of graphs of
more than a hundred steps.  At the first run of a step, what is alive and not touched there has to
fit beside what is; whatever of it does not stay, and is read later, has to run again.  So the
cheapest cover of the excess is a bound of the cost, and the relaxation knows it.
"""

from __future__ import annotations

from typing import Any

from byparts_memplan.recompute.exact_model import ExactModel, Run

LITERALS = 4000  # so many are a help rather than a burden


def cover(made: ExactModel, budget: Any, least_bytes: int) -> None:
    """At the peaks of the plain order above `least_bytes`: what stays fits `budget`, in units.

    Adds no solution and takes none away.  O(moments * storages), of which there are few.
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
    last, left = _last_readers(made, place), LITERALS
    for j in sorted(peaks, key=lambda j: (-live[j], j)):
        if left <= 0:
            return
        left -= _cover(made, base[j], j, last, budget)


def _last_readers(made: ExactModel, place: dict[int, int]) -> dict[int, int]:
    """By storage, the place of the last step that reads it."""
    last = {v: max(place[s], 0) for v, s in made.steps.writer.items()}
    for s, j in place.items():
        for v in made.steps.reads[s]:
            last[v] = max(last.get(v, 0), j)
    last.update(dict.fromkeys(made.steps.kept, made.n))
    return last


def _cover(made: ExactModel, s: int, j: int, last: dict[int, int], budget: Any) -> int:
    """At the first run of step s, at place j.  How many literals it took."""
    steps, key, place = made.steps, j * made.n + j, made.place or {}
    touched = {*steps.reads[s], *steps.writes[s]}
    fixed = sum(steps.size[v] for v in touched) - sum(steps.size[w] for w, _ in steps.over[s])
    stays: list[Any] = []
    for v, until in last.items():
        writer = steps.writer.get(v)
        early = writer is None or place[writer] < j
        if steps.size[v] and v not in touched and early and until > j:
            if writer is None or len(made.runs[writer]) == 1:
                fixed += steps.size[v]
            else:
                stays.append(steps.size[v] // made.unit * _stays(made, v, writer, key))
    if stays:
        made.model.add(sum(stays) + fixed // made.unit <= budget)
    return len(stays)


def _stays(made: ExactModel, v: int, writer: int, key: int) -> Any:
    """Whether a storage is alive at a key; or else some later run writes it."""
    model = made.model
    alive = model.new_bool_var(f"{v} alive at {key}")
    later = [alive]
    for run, end in zip(made.runs[writer], made.ends[v], strict=True):
        if not run.number:
            model.add(end <= key).only_enforce_if(~alive)
            continue
        after = _after(made, run, key)
        model.add(end <= key).only_enforce_if(run.present, ~after, ~alive)
        later.append(after)
    model.add_bool_or(later)
    return alive


def _after(made: ExactModel, run: Run, key: int) -> Any:
    """Whether there is such a run, and after a key."""
    if run.lower > key:
        return run.present
    model = made.model
    after = model.new_bool_var(f"{run.step} {run.number} after {key}")
    model.add_implication(after, run.present)
    model.add(run.start > key).only_enforce_if(after)
    model.add(run.start < key).only_enforce_if(run.present, ~after)
    return after
