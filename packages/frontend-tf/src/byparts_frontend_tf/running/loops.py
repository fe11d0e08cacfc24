"""`While`: a loop whose rounds are known is a scan, else a while loop of graph-ir.

Rounds are known where the condition depends on states that are computed from constants and feeds
alone, as a counter is.  These are computed by NumPy before the loop, and with them the places at
which arrays are read and written (`arrays.py`).  What can be no body (the host, a state that grows)
is run round after round by the host.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, Union

import byparts_opset as ops
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.running.arrays import LoopRows, Mixed, Rows, Sites
from byparts_frontend_tf.running.host_loop import run_on_host
from byparts_frontend_tf.running.lowering import Lowering
from byparts_frontend_tf.running.needed import needed_inside
from byparts_frontend_tf.running.rounds import Rounds, known_rounds
from byparts_frontend_tf.running.signals import OnHost
from byparts_frontend_tf.running.unrolled import gradient_passes, unrolled
from byparts_graph_ir import Graph, Input, ShapeError, Value
from byparts_opset import Scan, While

Lowered = Union[Value, Rows]
_UNROLLED = 4000  # operations that a loop whose shapes change becomes, at most


def lower_while(lowering: Lowering, op: Operation) -> Any:
    """The last states of a `while_loop`."""
    try:
        first = [_initial(lowering, t, op) for t in op.inputs[: len(op.outputs)]]
        most = _most_rounds(lowering, op)
        try:
            loop = Loop(lowering, op, first, None)
            rounds = known_rounds(loop, most)
            if loop.changes:
                return _unrolled(lowering, op, loop, rounds)
            if rounds is not None:
                return _store(lowering, op, loop.scanned(rounds))
            if any(isinstance(f, Rows) for f in first):
                raise Mixed
            return _store(lowering, op, loop.repeated(most))
        except Mixed:
            return _store(lowering, op, _with_buffers(lowering, op, first, most))
    except OnHost as why:
        if lowering.outer is not None:
            raise
        if gradient_passes(lowering.run, op):
            return _store(lowering, op, _one_by_one(lowering, op, why))
        run_on_host(lowering, op)
        return None


def _one_by_one(lowering: Lowering, op: Operation, why: OnHost) -> list[Lowered]:
    """Each round for its own shapes, for a gradient, which the host does not compute."""
    try:
        first = [_initial(lowering, t, op) for t in op.inputs[: len(op.outputs)]]
        return unrolled(lowering, op, first, _most_rounds(lowering, op))
    except OnHost as error:
        raise NotImplementedError(
            f"no gradient passes through the loop {op.name}, which the host runs: {why}; {error}"
        ) from error


def _initial(lowering: Lowering, tensor: Tensor, op: Operation) -> Lowered:
    known = lowering.array_of(tensor)
    if known is not None:
        if not isinstance(known, Rows):
            raise OnHost(op, "an array of an outer loop is a state of this one")
        return known
    if not tensor.dtype.own:
        raise OnHost(op, f"{tensor.name} is {tensor.dtype.name}")
    if lowering.outer is None and lowering.run.host.is_array(lowering, tensor):
        raise OnHost(op, f"{tensor.name} is an array of the host")
    return lowering.value(tensor, op)


def _most_rounds(lowering: Lowering, op: Operation) -> Optional[int]:
    most = op.attributes["maximum_iterations"]
    return None if most is None else int(lowering.number(most, op))


def _store(lowering: Lowering, op: Operation, results: Sequence[Lowered]) -> None:
    for tensor, result in zip(op.outputs, results, strict=True):
        if isinstance(result, Rows):
            lowering.env[tensor] = result
        else:
            lowering.set_one(tensor, result)


def _with_buffers(
    lowering: Lowering, op: Operation, first: Sequence[Lowered], most: Optional[int]
) -> list[Lowered]:
    """Arrays as states of the loop: all rows are there in each round."""
    kinds = [_row_type(lowering, op, first, i) for i in range(len(first))]
    started: list[Lowered] = []
    for f, kind in zip(first, kinds, strict=True):
        if isinstance(f, Rows):
            if f.dynamic:
                raise OnHost(op, "how many rows an array has depends on data")
            if kind is None:
                raise OnHost(op, "the rows of an array have no known shape")
            f = Rows(f.dtype, f.size, False, f.buffer, f.parts, kind.dims)
        started.append(f)
    loop = Loop(lowering, op, started, started)
    if loop.changes:
        raise OnHost(op, loop.changes)
    rounds = known_rounds(loop, most)
    return loop.scanned(rounds) if rounds is not None else loop.repeated(most)


def _row_type(lowering: Lowering, op: Operation, first: Sequence[Lowered], position: int) -> Any:
    """The type of the rows of an array: of one it has, or of one that the loop writes."""
    rows = first[position]
    if not isinstance(rows, Rows) or rows.row_type is not None:
        return rows.row_type if isinstance(rows, Rows) else None
    element = op.attributes["elements"][position]
    return None if element is None else Rows(rows.dtype, 0, element=element).row_type


def _unrolled(lowering: Lowering, op: Operation, loop: Loop, rounds: Optional[Rounds]) -> None:
    """Each round of a short loop, one after the other: shapes may change, gradients pass."""
    size = sum(map(op.attributes["body"].holds, op.graph.get_operations()))
    if rounds is None or rounds.count * size > _UNROLLED or lowering.outer is not None:
        raise OnHost(op, loop.changes)
    _store(lowering, op, unrolled(lowering, op, loop.first, rounds.count))


class Loop:
    """The body of a loop, lowered.

    Args:
        lowering: the level around it.
        op: the loop.
        first: what its states are before it.
        buffers: the same, if arrays are states whose rows are all there; else `None`.

    Attributes:
        states: the inputs of the body that change each round.
        news: what they are after a round.
        starts: what they are before the loop.
        cond: whether there is another round.
        changes: how the type of a state changes; "" if all keep theirs.

    Raises:
        OnHost: something in it cannot be in a body.
        Mixed: it reads arrays that it writes.
    """

    def __init__(
        self,
        lowering: Lowering,
        op: Operation,
        first: Sequence[Lowered],
        buffers: Optional[Sequence[Lowered]],
    ) -> None:
        self.lowering, self.op, self.first = lowering, op, list(first)
        self.body = Lowering(lowering.run, lowering, op)
        self.sites = Sites()
        self.body.sites = self.sites
        self._buffers = buffers is not None
        self.states: list[Value] = []
        self.starts: list[Value] = []
        for tensor, f in zip(op.attributes["states"], first, strict=True):
            self._enter(tensor, f)
        for inner in needed_inside(
            [op.attributes["cond"], *op.attributes["news"]], self.body.known, op.attributes["body"]
        ):
            self.body.lower(inner)
        self.cond = self.body.value(op.attributes["cond"])
        self.results = [self._result(t) for t in op.attributes["news"]]
        self.news = [self._new(r) for r in self.results if not isinstance(r, LoopRows)]
        self._add_variables()
        self._check()

    def _enter(self, tensor: Tensor, f: Lowered) -> None:
        if isinstance(f, Rows):
            if not self._buffers:
                position = self.op.attributes["states"].index(tensor)
                self.body.env[tensor] = LoopRows(self.sites, f, position)
                return
            start = f.stacked()
        else:
            start = f
        state = Input(start.type, None, "", "")
        self.states.append(state)
        self.starts.append(start)
        if isinstance(f, Rows):
            self.body.env[tensor] = Rows(f.dtype, f.size, False, state)
        else:
            self.body.env[tensor] = state

    def _result(self, tensor: Tensor) -> Any:
        known = self.body.array_of(tensor)
        return self.body.value(tensor) if known is None else known

    def _new(self, result: Any) -> Value:
        return result.stacked() if isinstance(result, Rows) else result

    def _add_variables(self) -> None:
        """Variables that the body writes, and counters of draws, are states, too."""
        body = self.body
        self.written = list(body.variables.writes)
        for variable in self.written:
            start = body.variables.start(variable)
            self._add_state(start, body.variables.latest(variable))
        self.drawn = list(body.counters)
        for drawing in self.drawn:
            self._add_state(body.first_counter(drawing), body.counter(drawing))

    def _add_state(self, state: Value, new: Value) -> None:
        self.states.append(state)
        self.starts.append(self.body.captured.pop(state))
        self.news.append(new)

    def _check(self) -> None:
        pairs = zip(self.states, self.news, strict=True)
        wrong = [f"a state of {s.type} becomes {n.type}" for s, n in pairs if s.type != n.type]
        self.changes = wrong[0] if wrong else ""
        for position in self.sites.writes:
            if position in self.sites.read_states:
                raise Mixed
        arrays = [r for r in self.results if isinstance(r, LoopRows)]
        positions = [i for i, r in enumerate(self.results) if isinstance(r, LoopRows)]
        if any(r.position != i for i, r in zip(positions, arrays, strict=True)):
            raise Mixed

    def _outputs(self) -> list[Value]:
        return [ops.identity(v) if v.node is None else v for v in self.news]

    def scanned(self, rounds: Rounds) -> list[Lowered]:
        """The results of a loop whose rounds are known."""
        n, sites, captured = rounds.count, self.sites, self.body.captured
        if not n:
            return list(self.first)
        sequences = [
            rows.taken(places)
            for (rows, _, _), places in zip(sites.reads, rounds.reads, strict=True)
        ]
        writes = [(at, row) for at in sites.writes for _, row in sites.writes[at]]
        rows = [ops.identity(row) if row.node is None else row for _, row in writes]
        slices = [row for _, _, row in sites.reads]
        body = Graph.of((*self.states, *slices, *captured), (*self._outputs(), *rows))
        length = None if sequences else n
        op = Scan(body, len(self.states), len(sequences), length)
        made = op.outputs_of(*self.starts, *sequences, *captured.values())
        stacked = made[len(self.states) :]
        arrays = {i: f for i, f in enumerate(self.first) if isinstance(f, Rows)}
        for (at, _), places, value in zip(writes, rounds.writes, stacked, strict=True):
            arrays[at] = arrays[at].with_rows(places, value)
        return self._results(made[: len(self.states)], arrays)

    def repeated(self, most: Optional[int]) -> list[Lowered]:
        """The results of a loop whose rounds depend on data."""
        if self.sites.reads or self.sites.writes:
            raise Mixed
        captured = self.body.captured
        inputs = (*self.states, *captured)
        test = ops.identity(self.cond) if self.cond.node is None else self.cond
        try:
            op = While(Graph.of(inputs, (test,)), Graph.of(inputs, self._outputs()), most)
            made = op.outputs_of(*self.starts, *captured.values())
        except ShapeError as error:
            raise OnHost(self.op, str(error)) from error
        return self._results(made, {})

    def _results(self, made: Sequence[Value], arrays: dict[int, Rows]) -> list[Lowered]:
        rest = iter(made)
        results: list[Lowered] = []
        for i, f in enumerate(self.first):
            if isinstance(f, Rows) and self._buffers:
                results.append(Rows(f.dtype, f.size, f.dynamic, next(rest)))
            else:
                results.append(arrays[i] if isinstance(f, Rows) else next(rest))
        for variable in self.written:
            self.lowering.variables.write(self.op, variable, next(rest))
        self.lowering.counters.update(zip(self.drawn, rest, strict=True))
        return results
