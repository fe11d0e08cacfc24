"""If, Loop and Scan: graphs inside nodes as bodies of ops.

A body takes in what it reads of the graph around it: values, and known arrays that are large enough
to be weights.  Smaller arrays and sizes are known inside, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from onnx import GraphProto

import byparts_opset as ops
from byparts_frontend_onnx.node import Item, OnnxNode, axis_in, rank_of
from byparts_frontend_onnx.order import captured
from byparts_frontend_onnx.rules import rules
from byparts_graph_ir import ShapeError, Value

_MOST_WRITTEN_OUT = 64  # rounds of a loop


class Body:
    """Graphs inside a node, and what they read of the graph around it.

    Attributes:
        values: what the op that has the graphs as bodies must be given.
    """

    def __init__(self, node: OnnxNode, graphs: Sequence[GraphProto]) -> None:
        self.walk, self.scope = node.walk, node.scope
        names = sorted({n for g in graphs for n in captured(g) if n in node.scope})
        items = {n: node.scope[n] for n in names}
        self.names = [n for n, item in items.items() if isinstance(item, Value)]
        arrays = [i for i in items.values() if isinstance(i, np.ndarray)]
        own = [a for g in graphs for a in self.walk.inner_arrays(g)]
        self.arrays = list({id(a): a for a in (*arrays, *own) if self.walk.is_weight(a)}.values())
        self.values = [node.value(self.scope[n]) for n in self.names]
        self.values += [node.value(a) for a in self.arrays]

    def run(self, graph: GraphProto, inputs: Sequence[Item], values: Sequence[Value]) -> list[Item]:
        """The outputs of a graph on its inputs, in a body that was given `values`."""
        k = len(self.names)
        scope = {**self.scope, **dict(zip(self.names, values[:k], strict=True))}
        scope |= dict(zip((i.name for i in graph.input), inputs, strict=True))
        local = {id(a): v for a, v in zip(self.arrays, values[k:], strict=True)}
        with self.walk.body(local):
            return self.walk.graph(graph, scope)

    def values_of(
        self, graph: GraphProto, inputs: Sequence[Item], values: Sequence[Value]
    ) -> list[Value]:
        """The same, as values."""
        k = len(self.names)
        local = {id(a): v for a, v in zip(self.arrays, values[k:], strict=True)}
        outputs = self.run(graph, inputs, values)
        with self.walk.body(local):
            return [self.walk.value(o) for o in outputs]


def _outputs_here(node: OnnxNode, graph: GraphProto, inputs: Sequence[Item]) -> list[Item]:
    """The outputs of a graph that is written out where its node stands."""
    scope = {**node.scope, **dict(zip((i.name for i in graph.input), inputs, strict=True))}
    return node.walk.graph(graph, scope)


@rules.on("If", raw=True)
def if_(node: OnnxNode, condition: Item) -> Any:
    """A choice of two graphs; where the condition is known, the other is not looked at."""
    then, otherwise = node.get("then_branch"), node.get("else_branch")
    if isinstance(condition, np.ndarray):
        return tuple(_outputs_here(node, then if condition.reshape(-1)[0] else otherwise, ()))
    body = Body(node, (then, otherwise))
    test = ops.reshape(node.value(condition), ())
    try:
        return ops.cond(
            test,
            lambda *v: body.values_of(then, (), v),
            lambda *v: body.values_of(otherwise, (), v),
            body.values,
        )
    except ShapeError:  # branches of different ranks: the condition decides shapes
        known = node.known(0)
        assert isinstance(known, np.ndarray), "a condition has no size in it"
        return tuple(_outputs_here(node, then if known.reshape(-1)[0] else otherwise, ()))


@rules.on("Loop", raw=True)
def loop(node: OnnxNode, trips: Item = None, condition: Item = None, *states: Item) -> Any:
    """Rounds that are written out where their number is small and known, a scan or a loop else."""
    body: GraphProto = node.get("body")
    rows = len(body.output) - 1 - len(states)
    if rows:  # so many as there are rounds, which decides a shape
        trips = node.known(0)
        condition = node.known(1)
    count = _known_number(trips)
    first = np.asarray(True) if condition is None else condition
    if count is not None and count <= _MOST_WRITTEN_OUT:
        written = _written_out(node, body, count, first, states)
        if written is not None:
            return written
    if rows and (count is None or not _always(body, first)):
        raise node.refuse("a loop that computes when it ends and stacks rows")
    if rows and count is not None:
        return _as_scan(node, body, count, first, states)
    return _as_while(node, body, trips, first, states)


def _known_number(item: Item) -> int | None:
    return int(item.reshape(-1)[0]) if isinstance(item, np.ndarray) and item.size else None


def _always(body: GraphProto, first: Item) -> bool:
    """Whether a loop goes on until its count is reached, as far as can be seen."""
    if not (isinstance(first, np.ndarray) and first.reshape(-1)[0]):
        return False
    name = body.output[0].name
    for node in reversed(body.node):
        if name in node.output and node.op_type == "Identity":
            name = node.input[0]
    return name == body.input[1].name or any(
        name in node.output and node.op_type == "Constant" for node in body.node
    )


def _written_out(
    node: OnnxNode, body: GraphProto, count: int, condition: Item, states: Sequence[Item]
) -> tuple[Item, ...] | None:
    """All rounds behind each other; `None` where a round computes whether there is another."""
    k = len(states)
    rows: list[list[Item]] = [[] for _ in body.output[1 + k :]]
    for i in range(count):
        if not isinstance(condition, np.ndarray):
            return None
        if not condition.reshape(-1)[0]:
            break
        condition, *outputs = _outputs_here(
            node, body, (np.asarray(i, np.int64), condition, *states)
        )
        states = outputs[:k]
        for row, item in zip(rows, outputs[k:], strict=True):
            row.append(item)
    if any(not row for row in rows):
        raise node.refuse("rows of no rounds")
    stacked = [ops.stack([node.value(v) for v in row], 0) for row in rows]
    return (*states, *stacked)


def _as_scan(
    node: OnnxNode, graph: GraphProto, count: int, condition: Item, states: Sequence[Item]
) -> tuple[Value, ...]:
    body = Body(node, (graph,))
    k = len(states)

    def one(*values: Value) -> list[Value]:
        inputs = (values[k], condition, *values[:k])
        return body.values_of(graph, inputs, values[k + 1 :])[1:]

    steps = ops.arange(0, count, dtype="i64")
    return ops.scan(one, [node.value(s) for s in states], [steps], body.values)


def _as_while(
    node: OnnxNode, graph: GraphProto, trips: Item, condition: Item, states: Sequence[Item]
) -> tuple[Value, ...]:
    body = Body(node, (graph,))
    n = 2 + len(states)
    end = None if trips is None else ops.reshape(node.value(trips), ())
    extra = [] if end is None else [end]

    def goes_on(*values: Value) -> Value:
        i, going = values[:2]
        return going if end is None else ops.logical_and(going, ops.less(i, values[-1]))

    def one(*values: Value) -> list[Value]:
        outside = values[n : n + len(body.values)]
        results = body.values_of(graph, values[:n], outside)
        return [values[0] + 1, ops.reshape(results[0], ()), *results[1:]]

    start = [ops.fill(0, "i64"), ops.reshape(node.value(condition), ())]
    start += [node.value(s) for s in states]
    return ops.while_loop(goes_on, one, start, [*body.values, *extra])[2:]


@rules.on("Scan", raw=True)
def scan(node: OnnxNode, *items: Item) -> Any:
    """A graph applied to slices of sequences, along any axes, in either direction."""
    graph: GraphProto = node.get("body")
    count = node.get("num_scan_inputs")
    if node.version < 9:
        return _scan_of_batches(node, graph, items, count)
    split = len(items) - count
    states = [node.value(i) for i in items[:split]]
    sequences = [node.value(i) for i in items[split:]]
    return tuple(_scanned(node, graph, states, sequences))


def _scanned(
    node: OnnxNode, graph: GraphProto, states: list[Value], sequences: list[Value]
) -> Iterator[Value]:
    split, body = len(states), Body(node, (graph,))
    taken = [
        _turned(_to_front(x, axis), reverse)
        for x, axis, reverse in zip(
            sequences,
            _per(node, "scan_input_axes", len(sequences)),
            _per(node, "scan_input_directions", len(sequences)),
            strict=True,
        )
    ]
    inputs = split + len(sequences)
    results = ops.scan(
        lambda *v: body.values_of(graph, v[:inputs], v[inputs:]), states, taken, body.values
    )
    rows = results[split:]
    yield from results[:split]
    for y, axis, reverse in zip(
        rows,
        _per(node, "scan_output_axes", len(rows)),
        _per(node, "scan_output_directions", len(rows)),
        strict=True,
    ):
        yield _from_front(_turned(y, reverse), axis)


def _per(node: OnnxNode, name: str, count: int) -> list[int]:
    return list(node.get(name) or [0] * count)


def _turned(x: Value, reverse: int) -> Value:
    return ops.reverse(x, 0) if reverse else x


def _to_front(x: Value, axis: int) -> Value:
    axis = axis_in(axis, rank_of(x))
    order = [axis, *(a for a in range(rank_of(x)) if a != axis)]
    return ops.transpose(x, order) if axis else x


def _from_front(x: Value, axis: int) -> Value:
    axis = axis_in(axis, rank_of(x))
    order = [*range(1, axis + 1), 0, *range(axis + 1, rank_of(x))]
    return ops.transpose(x, order) if axis else x


def _scan_of_batches(
    node: OnnxNode, graph: GraphProto, items: Sequence[Item], count: int
) -> tuple[Value, ...]:
    """Opset 8: an input of lengths first, and a batch before the axis that is scanned."""
    if items[0] is not None:
        raise node.refuse("a scan with lengths")
    values = [node.value(i) for i in items[1:]]
    batch = node.dims(values[0])[0]
    split = len(values) - count
    made = []
    for b in range(batch):
        one = [ops.squeeze(ops.getitem(v, slice(b, b + 1)), 0) for v in values]
        made.append(list(_scanned(node, graph, one[:split], one[split:])))
    return tuple(ops.stack(list(rows), 0) for rows in zip(*made, strict=True))
