"""Number of rounds of a loop, and where it reads and writes arrays, computed before it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from byparts_frontend_tf.running.known import leaves
from byparts_frontend_tf.running.lowering import Lowering
from byparts_graph_ir import Node, Value, producers

if TYPE_CHECKING:
    from byparts_frontend_tf.running.loops import Loop

_MOST = 100_000  # rounds that are computed before a loop
_NODES = 64  # of what one of these rounds computes


class Rounds:
    """Rounds of a loop, known before it runs.

    Attributes:
        count: how many there are.
        reads: for each place where arrays are read, the rows of all rounds.
        writes: the same, where they are written.
    """

    def __init__(self, count: int, reads: Sequence[Any], writes: Sequence[Any]) -> None:
        self.count, self.reads, self.writes = count, list(reads), list(writes)


def known_rounds(loop: Loop, most: Optional[int]) -> Optional[Rounds]:
    """The rounds of a loop, if they depend on constants and feeds alone; else `None`."""
    places = [place for _, place, _ in loop.sites.reads]
    written = [place for sites in loop.sites.writes.values() for place, _ in sites]
    wanted = (loop.cond, *places, *written)
    control = _control_states(loop, wanted)
    if control is None:
        return None
    given = _given(loop, control, wanted)
    if given is None or len(given) + len(control) > _NODES:
        return None
    if any(loop.news[i].type != loop.states[i].type for i in control):
        return None
    nodes = producers((*wanted, *[loop.news[i] for i in control]))
    if len(nodes) > _NODES:
        return None
    simulation = Simulation(loop, control, wanted, list(given), tuple(nodes), most)
    found = simulation.asked(loop.lowering, [loop.starts[i] for i in control], given)
    if found is None:
        return None
    count, rows = int(found[0]), list(found[1:])
    return Rounds(count, rows[: len(places)], rows[len(places) :])


def _control_states(loop: Loop, wanted: Sequence[Value]) -> Optional[list[int]]:
    """The states that the condition and the places depend on; `None` if on more than states."""
    index = {v: i for i, v in enumerate(loop.states)}
    found: dict[int, None] = {}
    todo = list(wanted)
    while todo:
        for leaf in leaves(todo.pop()):
            at = index.get(leaf)
            if at is None:
                if leaf not in loop.body.captured:
                    return None  # a row of an array
            elif at not in found:
                found[at] = None
                todo.append(loop.news[at])
    if any(not loop.lowering.decided(loop.starts[i]) for i in found):
        return None
    return sorted(found)


def _given(
    loop: Loop, control: Sequence[int], wanted: Sequence[Value]
) -> Optional[dict[Value, Value]]:
    """The inputs of the body that these depend on, with what they are outside, if that is known."""
    states = set(loop.states)
    given: dict[Value, Value] = {}
    for value in (*wanted, *[loop.news[i] for i in control]):
        for leaf in leaves(value):
            if leaf in states:
                continue
            outside = loop.body.captured[leaf]
            if not loop.lowering.decided(outside):
                return None
            given[leaf] = outside
    return given


class Simulation:
    """The condition and the places of a loop, round after round, by NumPy."""

    def __init__(
        self,
        loop: Loop,
        control: Sequence[int],
        wanted: Sequence[Value],
        given: Sequence[Value],
        nodes: tuple[Node, ...],
        most: Optional[int],
    ) -> None:
        self._states = [loop.states[i] for i in control]
        self._news = [loop.news[i] for i in control]
        self._wanted, self._given = tuple(wanted), tuple(given)
        of_test = set(producers(wanted[:1]))
        self._test = [n for n in nodes if n in of_test]
        self._body = [n for n in nodes if n not in of_test]  # an index may be beyond the end
        self._most = _MOST if most is None else min(most, _MOST)
        self._bounded = most is not None and most <= _MOST

    def asked(
        self, lowering: Lowering, starts: Sequence[Value], given: Mapping[Value, Value]
    ) -> Optional[list[Any]]:
        """The rounds; the rest of the run is for these."""
        values = [*starts, *given.values()]
        if lowering.outer is None:
            return lowering.run.numbers.asked(self, values)
        return self(*[lowering.number(v) for v in values])

    def __call__(self, *arrays: Any) -> Optional[list[Any]]:
        """Count the rounds, and find the places of each; `None`: too many."""
        count = len(self._states)
        states = [np.asarray(a) for a in arrays[:count]]
        fixed = dict(zip(self._given, map(np.asarray, arrays[count:]), strict=True))
        rows: list[list[int]] = [[] for _ in self._wanted[1:]]
        rounds = 0
        with np.errstate(all="ignore"):
            while rounds < self._most:
                known: dict[Value, Any] = {**fixed, **dict(zip(self._states, states, strict=True))}
                _evaluate(self._test, known)
                if not bool(np.asarray(known[self._wanted[0]]).item()):
                    break
                _evaluate(self._body, known)
                for row, place in zip(rows, self._wanted[1:], strict=True):
                    row.append(int(np.asarray(known[place]).item()))
                states = [np.asarray(known[new]) for new in self._news]
                rounds += 1
            else:
                if not self._bounded:
                    return None
        return [np.int64(rounds), *[np.array(row, np.int64) for row in rows]]


def _evaluate(nodes: Sequence[Node], known: dict[Value, Any]) -> None:
    for node in nodes:
        results = node.op.evaluate(*[known[v] for v in node.inputs])
        known.update(zip(node.outputs, results, strict=True))
