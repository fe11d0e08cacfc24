"""Where the time goes: each step timed on its own, as a table or as a Chrome trace.

A measured run commits to copies of what it would commit to, so that the cost of the commit is seen
and the variables stay as they are.  Two clock readings a step (some 0.1 us) are in what is shown.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from os import PathLike
from statistics import median
from time import perf_counter
from typing import Any, Union

from byparts_graph_ir import Node
from byparts_graph_ir.kernel import Run
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_runtime.building.context import Silent
from byparts_runtime.run.cycle import Cycle

Span = tuple[float, float]  # start and end of something, in seconds


@dataclass(frozen=True)
class Profile:
    """Medians over some runs.

    Attributes:
        step_s: of each step, in order.
        fetch_s: copying the fetches out.
        commit_s: copying the new values over the old ones.
    """

    runs: int
    step_s: tuple[float, ...]
    fetch_s: float
    commit_s: float
    ops: tuple[str, ...]

    @property
    def total_s(self) -> float:
        """Steps, fetches and commit."""
        return sum(self.step_s) + self.fetch_s + self.commit_s

    def __str__(self) -> str:
        totals: dict[str, list[float]] = {}
        times = (*self.step_s, self.fetch_s, self.commit_s)
        for op, s in zip((*self.ops, "(fetch)", "(commit)"), times, strict=True):
            totals.setdefault(op, []).append(s)
        ranked = sorted(totals.items(), key=lambda item: -sum(item[1]))
        lines = [f"{self.total_s * 1e6:.1f} us a run, median of {self.runs}"]
        lines += [f"{sum(of) * 1e6:10.1f} us  {len(of):5} x  {op}" for op, of in ranked]
        return "\n".join(lines)


def profile(cycle: Cycle, refill: Callable[[], object], runs: int) -> Profile:
    """Run some times, `refill` bringing the feeds before each, and take medians."""
    measured = []
    for _ in range(max(1, runs)):
        refill()
        measured.append([end - start for start, end in _measure(cycle)])
    middle = [median(column) for column in zip(*measured, strict=True)]
    ops = tuple(step.node.op.name for step in cycle.all_steps)
    return Profile(len(measured), tuple(middle[:-2]), middle[-2], middle[-1], ops)


def chrome_trace(cycle: Cycle, path: Union[str, PathLike[str], None] = None) -> dict[str, Any]:
    """One run in the Trace Event Format; also written to `path`."""
    spans = _measure(cycle)
    zero = spans[0][0]
    events = [
        _event(step.node.op.name, step.backend, span, zero, _arguments(i, step.node))
        for i, (step, span) in enumerate(zip(cycle.all_steps, spans[:-2], strict=True))
    ]
    events.append(_event("fetch", "runtime", spans[-2], zero, {}))
    events.append(_event("commit", "runtime", spans[-1], zero, {"into": "copies"}))
    trace = {"traceEvents": events, "displayTimeUnit": "ns"}
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(trace, file)
    return trace


def _arguments(i: int, node: Node) -> dict[str, Any]:
    inputs, outputs = ([str(v.type) for v in values] for values in (node.inputs, node.outputs))
    return {"step": i, "inputs": inputs, "outputs": outputs, "where": node.where}


def _measure(cycle: Cycle) -> list[Span]:
    """The span of each step, then that of fetching and that of the commit.

    Each is waited for, also where steps are replayed as one otherwise.  Steps that update variables
    in place do so: the caller brings the values back.
    """
    commit = cycle.plain.rehearsal()
    timed, spans = partial(_timed, cycle.finish), []
    with (cycle.around or Silent)():
        cycle.finish()
        for i, step in enumerate(cycle.steps):
            try:
                spans.append(timed(step.run))
            except BaseException as error:
                cycle.blame(error, i)
                raise
        fetching = timed(lambda: [part() for part in (*cycle.staging, *cycle.readers)])
        spans += [timed(step.run) for step in cycle.updates]
        return [*spans, fetching, timed(commit)]


def _timed(finish: Run, part: Callable[[], object]) -> Span:
    start = perf_counter()
    part()
    finish()
    return start, perf_counter()


def _event(
    name: str, category: str, span: Span, zero: float, arguments: dict[str, Any]
) -> dict[str, Any]:
    return {
        "name": name,
        "cat": category,
        "ph": "X",
        "ts": (span[0] - zero) * 1e6,
        "dur": (span[1] - span[0]) * 1e6,
        "pid": 0,
        "tid": 0,
        "args": arguments,
    }
