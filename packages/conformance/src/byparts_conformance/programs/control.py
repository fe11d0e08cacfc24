"""Makers of nodes with bodies: calls, branches, loops, scans, in each other too.

A body is grown on arrays like the program around it: those of its inputs are what it is called
with first.  What goes round a loop is held within bounds, so that no number of rounds makes it
large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import byparts_opset as ops
from byparts_conformance.programs.growing import Growing, is_float, is_number
from byparts_graph_ir import FLOATS, UNSIGNED, Graph, Input, TensorType, Value

_MOST_DEPTH = 2
_BOUND = 7  # of what goes round a loop; i4 holds it


def _inside(g: Growing, given: Sequence[Value]) -> tuple[Growing, list[Value]]:
    """A body in the making, whose inputs hold what the given values do; a few nodes have grown."""
    inner = replace(g, known={}, inputs=[], variables=[], used=set(), depth=g.depth + 1)
    inner.makers = [m for m in g.makers if m not in MAKERS or inner.depth < _MOST_DEPTH]
    places: list[Value] = [Input(v.type, None, "", "") for v in given]
    for place, v in zip(places, given, strict=True):
        inner.known[place] = g.array(v)
    return inner, places


def _grow(inner: Growing, places: Sequence[Value]) -> None:
    """A few nodes; what they want as new inputs becomes a constant, for a body captures nothing."""
    for _ in range(inner.random.randrange(1, 5)):
        inner.any_of(inner.makers)(inner)


def _body(inner: Growing, places: Sequence[Value], outputs: Sequence[Value]) -> Graph:
    by: dict[Value, Value] = {v: ops.constant(inner.array(v)) for v in inner.inputs}
    order = [v for v in inner.known if v.node is not None]
    graph = Graph.of((*places, *inner.inputs), outputs, order=order)
    nodes = {node: tuple([by.get(v, v) for v in node.inputs]) for node in graph.nodes}
    if not by:
        return graph
    made: dict[Value, Value] = dict(by)
    for node in nodes:
        copy = type(node)(node.op, tuple([made.get(v, v) for v in node.inputs]), node.where)
        made.update(zip(node.outputs, copy.outputs, strict=True))
    results = [made.get(v, v) for v in outputs]
    return Graph.of(places, results, order=[made.get(v, v) for v in order])


def _held(inner: Growing, kind: TensorType) -> Value | None:
    """A value of this type within bounds, made in the body."""
    x = inner.value(lambda v: v.type == kind)
    if x is None or kind.dtype == "bool":
        return x
    made = inner.add(lambda: ops.clip(x, -_BOUND if kind.dtype not in UNSIGNED else 0, _BOUND))
    if made is None or kind.dtype not in FLOATS:
        return made
    return inner.add(lambda: ops.select(ops.is_nan(made), ops.fill(1, kind.dtype), made))


def _taken(g: Growing, most: int) -> list[Value]:
    """Some values, small ones."""
    picked = [g.value(lambda v: v.type.size < 600) for _ in range(g.random.randrange(1, most + 1))]
    return [v for v in picked if v is not None]


def call(g: Growing) -> None:
    """The body as it is."""
    given = _taken(g, 2)
    if given:
        inner, places = _inside(g, given)
        _grow(inner, places)
        outputs = list(inner.known)[-2:]
        body = _body(inner, places, outputs)
        g.add(lambda: ops.Call(body).outputs_of(*given))


def branch(g: Growing) -> None:
    """Add a branch: one of two bodies runs, as some values say."""
    x, given = g.value(lambda v: is_number(v) and v.type.size > 0), _taken(g, 2)
    if x is None or not given:
        return
    kind, branches = given[0].type, []
    for _ in range(2):
        inner, places = _inside(g, given)
        _grow(inner, places)
        y = _held(inner, kind)
        if y is None:
            return
        branches.append(_body(inner, places, [y]))
    zero = ops.fill(0, x.type.dtype)
    g.add(lambda: ops.If(*branches).outputs_of(ops.greater(ops.max(x), zero), *given))


def loop(g: Growing) -> None:
    """A while loop of some rounds, that may stop sooner by what its state is."""
    given = _taken(g, 3)
    if not given:
        return
    states = g.random.randrange(1, len(given) + 1)
    inner, places = _inside(g, given)
    _grow(inner, places)
    news = [_held(inner, v.type) for v in given[:states]]
    if any(v is None for v in news):
        return
    step = _body(inner, places, [v for v in news if v is not None])
    rounds = g.random.randrange(5)
    count, at = Input(TensorType("i32", ())), Input(TensorType("i32", ()))
    others = [Input(v.type) for v in given]
    condition = ops.less(count, ops.fill(rounds, "i32"))
    if is_number(given[0]) and is_float(given[0]) and given[0].type.size and g.chance(0.4):
        limit = ops.fill(3.0, given[0].type.dtype)
        condition = ops.logical_and(condition, ops.less(ops.max(others[0]), limit))
    cond = Graph.of((count, *others), (condition,))
    order = [v for node in step.nodes for v in node.outputs]
    next_at = ops.add(at, ops.fill(1, "i32"))
    body = Graph.of((at, *step.inputs), (next_at, *step.outputs), order=order)
    limit_rounds = g.any_of((None, None, 2))
    g.add(lambda: ops.While(cond, body, limit_rounds).outputs_of(ops.fill(0, "i32"), *given))


def scan(g: Growing) -> None:
    """A state carried along the rows of a sequence, or for some rounds; each round gives a row."""
    given = _taken(g, 2)
    xs = g.value(lambda v: len(v.type.dims) > 0 and v.type.size < 600)
    if not given:
        return
    states, sequences = g.random.randrange(len(given) + 1), []
    if xs is not None and xs.type.dims[0] and g.chance(0.6):
        sequences = [xs]
    rows = [ops.getitem(v, 0) for v in sequences]
    for v, a in zip(rows, g.evaluated(rows), strict=True):
        g.known[v] = a
    carried, kept = given[:states], given[states:]
    inner, places = _inside(g, [*carried, *rows, *kept])
    for v in rows:
        del g.known[v]
    _grow(inner, places)
    news = [_held(inner, v.type) for v in carried]
    if any(v is None for v in news):
        return
    last = inner.value(lambda v: v.type.size < 600)
    extra = [last] if last is not None and (g.chance(0.6) or not carried) else []
    if not (news or extra):
        return
    body = _body(inner, places, [*[v for v in news if v is not None], *extra])
    length = None if sequences else g.any_of((0, 1, 3))
    op = ops.Scan(body, states, len(sequences), length, g.chance(0.3))
    g.add(lambda: op.outputs_of(*carried, *sequences, *kept))


MAKERS = (call, branch, *(loop,) * 2, *(scan,) * 2)
