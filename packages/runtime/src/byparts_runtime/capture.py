"""One run instead of many, where the backend can record them: a CUDA graph, replayed by one call.

What is recorded are the steps between feeds and fetches, and apart from them the commit.  Feeds are
written before and fetches read after, so nothing that the host sees is inside.  The steps are run
once to warm up: they write nothing that is anybody's value.  Updates would, so they are recorded
without being run; those in place have had their rehearsal (`in_place.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal, Union

from byparts_graph_ir import Backend, CaptureRefused
from byparts_graph_ir.backend import Run
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_runtime.bind import Step
from byparts_runtime.commit import Commit

CaptureArgument = Union[bool, Literal["auto"]]


@dataclass(frozen=True)
class Captured:
    """What a cycle calls, and what to say of it; "" where there was nothing to say."""

    runs: tuple[Run, ...]
    commit: Commit
    note: str = ""
    replayed: bool = False


def capture(
    wanted: CaptureArgument,
    backends: Sequence[Backend],
    steps: Sequence[Step],
    runs: Sequence[Run],
    commit: Commit,
) -> Captured:
    """One run in the place of `runs`, and one in that of the commit's; or these as they are.

    Args:
        wanted: "auto" goes on without where a backend refuses, `True` does not.
        backends: of the program.
        steps: all of them, those of the commit too.
        runs: of the steps before the commit, in order.
        commit: what comes after.

    Raises:
        CaptureRefused: it is wanted by all means, and something forbids it.
    """
    plain = Captured(tuple(runs), commit)
    if wanted is False or not (wanted is True or any(b.capture for b in backends)):
        return plain
    try:
        return _captured(backends, steps, runs, commit)
    except CaptureRefused as error:
        if wanted is True:
            raise
        return Captured(plain.runs, commit, f"not captured: {error}")


def _captured(
    backends: Sequence[Backend], steps: Sequence[Step], runs: Sequence[Run], commit: Commit
) -> Captured:
    backend = _only(backends, steps)
    record = backend.capture
    if record is None:
        raise CaptureRefused(f"backend {backend.name!r} cannot record what it runs")
    body = (record(runs, True),) if runs else ()
    updates = commit.device_runs()
    if updates:
        replay = record(updates, False)
        commit = Commit((), ..., (), (replay if isinstance(replay, partial) else partial(replay),))
    kind = backend.space.name.partition(":")[0].upper()
    return Captured(body, commit, f"{len(steps)} steps replayed as one {kind} graph", True)


def _only(backends: Sequence[Backend], steps: Sequence[Step]) -> Backend:
    """The backend that all steps belong to, if none of them has an effect."""
    for i, step in enumerate(steps):
        which = f"step {i + 1} of {len(steps)}, {step.node.op.name},"
        if step.backend != steps[0].backend:
            first = f"the first to {steps[0].backend!r}"
            raise CaptureRefused(f"{which} belongs to {step.backend!r}, {first}")
        if step.node.op.effect:
            raise CaptureRefused(f"{which} is an effect, which a replay would not repeat")
    name = steps[0].backend if steps else backends[0].name
    return next(b for b in backends if b.name == name)
