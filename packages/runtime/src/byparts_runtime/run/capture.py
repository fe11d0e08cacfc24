"""Capture of many runs as one, where a backend can: a CUDA graph, a loop of C.

What is captured are the steps between feeds and fetches: all at once where they are one backend's
on a GPU, else stretch by stretch of consecutive steps of one backend; and apart from them the
commit.  Feeds are written before and fetches read after, so
nothing that the host sees is inside.  A backend may run the steps once to warm up: they write
nothing that is anybody's value.  Updates would, so they are captured without being run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Optional

from byparts_graph_ir import Backend, CaptureRefused, has_effect
from byparts_graph_ir.backend.kernel import Run
from byparts_graph_ir.model.frozen import Frozen
from byparts_runtime.building.options import CaptureArgument
from byparts_runtime.run.commit import Commit
from byparts_runtime.run.lines import lines_of_step
from byparts_runtime.run.step import Step


class Captured(Frozen):
    """The runs of a cycle, and the note on them.

    Attributes:
        runs: of the steps before the commit, then `staging`.
        spans: for each run but those of `staging`, the steps that it is: from, to (half-open).
        commit: what comes after.
        note: which steps are one run, or why they are not; "" where there is nothing to say.
    """

    runs: tuple[Run, ...]
    spans: tuple[tuple[int, int], ...]
    commit: Commit
    note: str = ""


def capture(
    wanted: CaptureArgument,
    backends: Sequence[Backend],
    steps: Sequence[Step],
    staging: Sequence[Run],
    updates: Sequence[Step],
    commit: Commit,
) -> Captured:
    """Make one run of each stretch of steps where a backend can; leave the other steps as they are.

    Args:
        wanted: with "auto" the steps stay single runs where a backend refuses; `True` raises.
        backends: of the program.
        steps: those before the commit, in order.
        staging: copies that are made after them, before the commit.
        updates: the steps of the commit.
        commit: called after the fetches.

    Raises:
        CaptureRefused: `wanted` is True, and something forbids it.
    """
    each = tuple((i, i + 1) for i in range(len(steps)))
    plain = Captured((*[step.run for step in steps], *staging), each, commit)
    able = {b.name: b for b in backends if b.capture is not None}
    if wanted is False or not (wanted is True or able):
        return plain
    try:
        whole = _only(backends, (*steps, *updates))
        if whole is not None and (not whole.stretches or whole.space.name != "host"):
            try:
                return _captured(whole, steps, staging, updates, commit)
            except CaptureRefused:
                if not whole.stretches:
                    raise
        return _stretched(able, steps, staging, updates, commit, wanted is True)
    except CaptureRefused as error:
        if wanted is True:
            raise
        return Captured(plain.runs, each, commit, f"not captured: {error}")


def _captured(
    backend: Backend,
    steps: Sequence[Step],
    staging: Sequence[Run],
    updates: Sequence[Step],
    commit: Commit,
) -> Captured:
    """All steps in one recording of one backend, and the commit in another."""
    record = _recorder(backend)
    for step in (*steps, *updates):
        if has_effect(step.node.op):
            raise CaptureRefused(f"{step.node.op.name} is an effect, which a replay cannot repeat")
    runs = (*[step.run for step in steps], *staging)
    body = (record(runs, True),) if runs else ()
    if device_runs := commit.device_runs():
        commit = Commit((), (), (partial(record(device_runs, False)),), commit.counters)
    kind = backend.space.name.partition(":")[0].upper()
    note = f"{len(steps) + len(updates)} steps replayed as one {kind} graph"
    return Captured(body, ((0, len(steps)),) * len(body), commit, note)


def _stretched(
    able: dict[str, Backend],
    steps: Sequence[Step],
    staging: Sequence[Run],
    updates: Sequence[Step],
    commit: Commit,
    required: bool,
) -> Captured:
    """Each stretch of consecutive steps of one backend as one run; single steps stay runs.

    A loop counts as a step of the backend that all steps of its bodies belong to.
    """
    stretches = {name: b for name, b in able.items() if b.stretches}
    runs, spans = _joined(stretches, steps, True)
    tail, _ = _joined(stretches, updates, False)
    if len(runs) == len(steps) and len(tail) == len(updates):
        if required and runs == tuple([step.run for step in steps]):
            names = ", ".join(repr(name) for name in dict.fromkeys(s.backend for s in steps))
            raise CaptureRefused(f"nothing is captured of {len(steps)} steps on {names or 'none'}")
        return Captured((*runs, *staging), spans, commit)
    again = Commit(
        commit.targets, commit.sources, tuple(map(partial, tail)), commit.counters, commit.duplicate
    )
    count = len(steps) + len(updates)
    note = f"{count} steps in {len(runs) + len(tail)} calls"
    return Captured((*runs, *staging), spans, again, note)


def in_stretches(
    wanted: CaptureArgument, backends: Sequence[Backend], steps: Sequence[Step]
) -> tuple[tuple[Run, ...], tuple[tuple[int, int], ...]]:
    """The runs of the steps of a body, and for each the steps that it is: from, to (half-open)."""
    able = {b.name: b for b in backends if b.capture is not None and b.stretches}
    return _joined(able if wanted is not False else {}, steps, True)


def _joined(
    able: dict[str, Backend], steps: Sequence[Step], warm: bool
) -> tuple[tuple[Run, ...], tuple[tuple[int, int], ...]]:
    runs: list[Run] = []
    spans: list[tuple[int, int]] = []
    for backend, start, end in _stretches(able, steps):
        if backend is None or (end - start == 1 and steps[start].backend == backend.name):
            runs += [step.run for step in steps[start:end]]
            spans += [(i, i + 1) for i in range(start, end)]
        else:
            lines = [line for s in steps[start:end] for line in lines_of_step(s, backend) or ()]
            runs.append(_recorder(backend)(lines, warm))
            spans.append((start, end))
    return tuple(runs), tuple(spans)


def _stretches(
    able: dict[str, Backend], steps: Sequence[Step]
) -> Iterator[tuple[Optional[Backend], int, int]]:
    """Backend, start and end (half-open) of consecutive steps that may become one run."""
    start = 0
    for backend, group in groupby(steps, partial(_recording, able)):
        end = start + len(list(group))
        yield backend, start, end
        start = end


def _recording(able: dict[str, Backend], step: Step) -> Optional[Backend]:
    """The backend that may make one run of this step and others.

    `None` for an effect, and for what is bound to other memory from call to call.
    """
    own = able.get(step.backend)
    if hasattr(step.run, "lines"):
        loops = [b for b in able.values() if b.loops]
        return next((b for b in loops if lines_of_step(step, b) is not None), None)
    return own if own is not None and lines_of_step(step, own) is not None else None


def _only(backends: Sequence[Backend], steps: Sequence[Step]) -> Optional[Backend]:
    """The backend that all steps belong to, if there is one; the runtime's own are of none.

    Raises:
        CaptureRefused: there are several, and none that takes stretches.
    """
    names = dict.fromkeys(step.backend for step in steps)
    if len(names) > 1:
        if any(b.stretches for b in backends):
            return None
        i = next(i for i, step in enumerate(steps) if step.backend != steps[0].backend)
        which = f"step {i + 1} of {len(steps)}, {steps[i].node.op.name},"
        first = f"the first to {steps[0].backend!r}"
        raise CaptureRefused(f"{which} belongs to {steps[i].backend!r}, {first}")
    name = next(iter(names), backends[0].name)
    return next((b for b in backends if b.name == name), None)  # it is the runtime's


def _recorder(backend: Backend) -> Callable[[Sequence[Any], bool], Run]:
    if backend.capture is None:
        raise CaptureRefused(f"backend {backend.name!r} cannot record what it runs")
    return backend.capture
