"""Times each step on its own, for a table or a Chrome trace.

A measured run commits to copies of what it would commit to, so that the cost of the commit is seen
and the variables stay as they are.  Two clock readings a step (some 0.1 us) are in what is shown.
Bodies are measured step by step as well (`rounds.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from os import PathLike
from statistics import median
from typing import Any, Union

from byparts_graph_ir import Node
from byparts_graph_ir.model.frozen import Frozen
from byparts_runtime.building.context import Silent
from byparts_runtime.inspect.rounds import (
    BodyProfile,
    Measured,
    MeasuredBody,
    Span,
    body_profiles,
    measuring,
    timed,
)
from byparts_runtime.run.cycle import Cycle
from byparts_runtime.run.step import Step


class Profile(Frozen):
    """Medians over some runs.

    Attributes:
        step_s: of each step, in order.
        fetch_s: copying the fetches out.
        commit_s: copying the new values over the old ones.
        ops: of these steps.
        bodies: for each of these steps the profiles of its bodies, whose times are part of its own.
    """

    runs: int
    step_s: tuple[float, ...]
    fetch_s: float
    commit_s: float
    ops: tuple[str, ...]
    bodies: tuple[tuple[BodyProfile, ...], ...]

    @property
    def total_s(self) -> float:
        """Steps, fetches and commit."""
        return sum(self.step_s) + self.fetch_s + self.commit_s

    def __str__(self) -> str:
        lines = [f"{self.total_s * 1e6:.1f} us a run, median of {self.runs}"]
        times = (*self.step_s, self.fetch_s, self.commit_s)
        return "\n".join(
            [*lines, *_ranked((*self.ops, "(fetch)", "(commit)"), times, (*self.bodies, (), ()))]
        )


def _ranked(
    ops: Sequence[str], times: Sequence[float], bodies: Sequence[Sequence[BodyProfile]]
) -> Iterator[str]:
    """A line for each op, the slowest first; below it, indented, those of its bodies."""
    totals: dict[str, list[float]] = {}
    below: dict[str, dict[str, list[BodyProfile]]] = {}
    for op, s, of_step in zip(ops, times, bodies, strict=True):
        totals.setdefault(op, []).append(s)
        for body in of_step:
            below.setdefault(op, {}).setdefault(body.name, []).append(body)
    for op, of_op in sorted(totals.items(), key=lambda item: -sum(item[1])):
        yield f"{sum(of_op) * 1e6:10.1f} us  {len(of_op):5} x  {op}"
        for name, same in below.get(op, {}).items():
            rounds = sum(body.rounds for body in same)
            yield f"{'':15}{name}, {rounds:,} round{'s' * (rounds != 1)}:"
            inside = _ranked(
                [op for body in same for op in body.ops],
                [s for body in same for s in body.step_s],
                [of_step for body in same for of_step in body.bodies],
            )
            yield from (f"    {line}" for line in inside)


def profile(cycle: Cycle, refill: Callable[[], object], runs: int) -> Profile:
    """Run some times, `refill` bringing the feeds before each, and take medians."""
    measured, bodies = [], []
    for _ in range(max(1, runs)):
        refill()
        spans, of_run = _measure(cycle)
        measured.append([end - start for start, end in spans])
        bodies.append(of_run)
    middle = [median(column) for column in zip(*measured, strict=True)]
    ops = tuple(step.node.op.name for step in cycle.all_steps)
    times = tuple(middle[:-2]), middle[-2], middle[-1]
    return Profile(len(measured), *times, ops, body_profiles(bodies))


def chrome_trace(cycle: Cycle, path: Union[str, PathLike[str], None] = None) -> dict[str, Any]:
    """Measure a run and return it in the Trace Event Format; also write it to `path`."""
    spans, measured = _measure(cycle)
    zero = spans[0][0]
    events: list[dict[str, Any]] = []
    for i, (step, span) in enumerate(zip(cycle.all_steps, spans[:-2], strict=True)):
        events.append(_step_event(i, step, span, zero))
        for body in measured[i]:
            events[-1]["args"].setdefault("rounds", {})[body.body.name] = body.rounds
            events += _body_events(body, zero)
    events.append(_event("fetch", "runtime", spans[-2], zero, {}))
    events.append(_event("commit", "runtime", spans[-1], zero, {"into": "copies"}))
    events.sort(key=lambda e: (e["ts"], -e["dur"]))  # a round comes before the steps inside it
    trace = {"traceEvents": events, "displayTimeUnit": "ns"}
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(trace, file)
    return trace


def _body_events(body: MeasuredBody, zero: float) -> Iterator[dict[str, Any]]:
    """The rounds of a body that were kept, each with its steps."""
    for kept in body.kept:
        name = f"{body.body.name}, round {kept.number}"
        yield _event(name, "round", kept.span, zero, {"round": kept.number, "of": body.rounds})
        for i, span in enumerate(kept.steps):
            yield _step_event(i, body.body.steps[i], span, zero)
    for of_step in body.bodies:
        for inner in of_step:
            yield from _body_events(inner, zero)


def _step_event(i: int, step: Step, span: Span, zero: float) -> dict[str, Any]:
    return _event(step.node.op.name, step.backend, span, zero, _arguments(i, step.node))


def _arguments(i: int, node: Node) -> dict[str, Any]:
    inputs, outputs = ([str(v.type) for v in values] for values in (node.inputs, node.outputs))
    return {"step": i, "inputs": inputs, "outputs": outputs, "where": node.where}


def _measure(cycle: Cycle) -> tuple[list[Span], Measured]:
    """The span of each step, then that of fetching and that of the commit; and bodies, measured.

    Each is waited for, also where steps are replayed as one otherwise.  Steps that update variables
    in place do so: the caller brings the values back.
    """
    commit = cycle.plain.rehearsal()
    clock, spans = partial(timed, cycle.finish), []
    with (cycle.around or Silent)(), measuring(cycle.all_steps, cycle.finish) as bodies:
        cycle.finish()
        for i, step in enumerate(cycle.steps):
            try:
                spans.append(clock(step.run))
            except BaseException as error:
                cycle.blame(error, i)
                raise
        fetching = clock(lambda: [part() for part in (*cycle.staging, *cycle.readers)])
        spans += [clock(step.run) for step in cycle.updates]
        return [*spans, fetching, clock(commit)], bodies


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
