"""Random programs, for properties that every pass, planner and backend must keep (Hypothesis).

    @given(graphs(), integers(0, 9))
    def test_merge_preserves_values(graph: Graph, seed: int) -> None:
        arrays = arguments(graph, seed)
        (before, *_), (after, *_) = evaluate(graph, *arrays), evaluate(merge(graph), *arrays)
        np.testing.assert_array_equal(after, before)

A program grows one node at a time from what is there: elementwise ops with and without
broadcasting, choices, sums, products of matrices, changes of shape, joins, splits, casts, printing;
and, where that is wanted, calls, branches and loops, in each other too, whose bodies grow likewise.
Constants are drawn from those that rules of algebra look for, and values are used again often, so
that there is something to merge, fold and simplify.  Every value carries a bound on its size and
no program reaches a million: nothing overflows, so no rounding can turn into an inf.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, TypeVar

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_graph_ir import FLOATS, Graph, Input, TensorType, Value
from byparts_opset.dtypes import numpy_dtype

Array = NDArray[Any]
T = TypeVar("T")

SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (3,), (2, 3), (1, 3), (2, 1), (2, 2, 3), (0, 3))
NUMBERS = (0, 1, -1, 2, 3, -0.0, 0.5, -2.0)
_INPUT_BOUND, _MOST = 2.0, 1e6


@st.composite
def graphs(
    draw: Callable[..., Any],
    *,
    most_nodes: int = 12,
    effects: bool = True,
    floats_only: bool = False,
    bodies: bool = False,
) -> Graph:
    """A well-formed program of static types, with one to three inputs and outputs.

    Args:
        draw: what Hypothesis calls it with; not given by the caller.
        most_nodes: growth steps; some make more than one node.
        effects: whether it may print.
        floats_only: whether all inputs are f64, as for gradients.
        bodies: whether it may call, branch and loop.
    """
    dtypes = ("f64",) if floats_only else ("f32", "f32", "f64", "i32")
    growing = _Growing(draw)
    for i in range(draw(st.integers(1, 3))):
        kind = TensorType(growing.any_of(dtypes), growing.any_of(SHAPES))
        growing.add(Input(kind, None, f"x{i}", f"x{i}"), _INPUT_BOUND)
    inputs = tuple(growing.values)
    growing.makers = _MAKERS + (_EFFECTS if effects else ()) + (_BODIES if bodies else ())
    for _ in range(draw(st.integers(0, most_nodes))):
        growing.grow()
    outputs = [growing.any_of(growing.values) for _ in range(draw(st.integers(0, 2)))]
    return Graph.of(inputs, (*outputs, growing.values[-1]), order=growing.values)


def arguments(graph: Graph, seed: int) -> tuple[Array, ...]:
    """Arrays for the inputs of a graph of static types: small numbers, both zeros among them."""
    random = np.random.default_rng(seed)
    return tuple(_array(v.type, random) for v in graph.inputs)


def _array(t: TensorType, random: np.random.Generator) -> Array:
    if t.dtype not in FLOATS:
        return random.integers(-2, 3, t.dims).astype(numpy_dtype(t.dtype))
    x = random.uniform(-_INPUT_BOUND, _INPUT_BOUND, t.dims)
    special = random.choice([0.0, -0.0, 1.0, -1.0], t.dims)
    return np.where(random.random(t.dims) < 0.3, special, x).astype(numpy_dtype(t.dtype))


@dataclass
class _Growing:
    """The values so far, and how large each may be."""

    draw: Callable[..., Any]
    bounds: dict[Value, float] = field(default_factory=dict)
    makers: tuple[Callable[[_Growing], None], ...] = ()
    depth: int = 0  # of bodies around this one

    @property
    def values(self) -> list[Value]:
        return list(self.bounds)

    def add(self, v: Value, bound: float) -> None:
        """Keep `v`, unless it could become too large."""
        if bound <= _MOST:
            self.bounds[v] = bound

    def grow(self) -> None:
        """Add a step of a random kind."""
        self.any_of(self.makers)(self)

    def any_of(self, choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def value(self, wanted: Callable[[Value], bool]) -> Optional[Value]:
        """Some value of that kind; late ones more often, so programs grow deep."""
        candidates = [v for v in self.bounds if wanted(v)]
        return self.any_of((*candidates, *candidates[-2:])) if candidates else None

    def number(self, dtype: str) -> int | float:
        """A constant that fits the dtype."""
        fits = [c for c in NUMBERS if dtype in FLOATS or isinstance(c, int)]
        return self.any_of(fits)  # type: ignore[no-any-return]


def _is_number(v: Value) -> bool:
    return v.type.dtype != "bool"


def _is_float(v: Value) -> bool:
    return v.type.dtype in FLOATS


def _unary(g: _Growing) -> None:
    x = g.value(_is_number)
    if x is not None:
        g.add(g.any_of((ops.neg, ops.neg, ops.abs, ops.relu, ops.identity))(x), g.bounds[x])


def _smooth(g: _Growing) -> None:
    x = g.value(_is_float)
    if x is not None:
        g.add(g.any_of((ops.tanh, ops.sin, ops.cos, ops.sigmoid))(x), 1.0)


def _square(g: _Growing) -> None:
    x = g.value(_is_number)
    if x is not None:
        g.add(g.any_of((ops.square, lambda x: x * x))(x), g.bounds[x] ** 2)


def _binary(g: _Growing) -> None:
    x = g.value(_is_number)
    y = None if x is None else g.value(lambda v: _broadcast(x, v))
    if x is None or y is None:
        return
    a, b = g.bounds[x], g.bounds[y]
    way: Any
    way, bound = g.any_of(
        (
            *((ops.add, a + b), (ops.sub, a + b), (ops.mul, a * b)),
            *((ops.maximum, max(a, b)), (ops.minimum, max(a, b))),
        )
    )
    g.add(way(x, y), bound)


def _with_number(g: _Growing) -> None:
    x = g.value(_is_number)
    if x is None:
        return
    c, way = g.number(x.type.dtype), g.any_of((ops.add, ops.sub, ops.mul, ops.mul))
    shape = g.any_of(((), (), x.type.dims))
    operands = (x, ops.fill(c, x.type.dtype, shape))
    g.add(way(*g.any_of((operands, operands[::-1]))), max(g.bounds[x], 1) * 3 + 3)


def _divide(g: _Growing) -> None:
    x = g.value(_is_float)
    if x is not None:
        g.add(x / g.any_of((1.0, -1.0, 2.0, 4.0, 3.0, -0.5)), 2 * g.bounds[x])


def _choose(g: _Growing) -> None:
    x = g.value(_is_number)
    y = None if x is None else g.value(lambda v: _broadcast(x, v))
    if x is None or y is None:
        return
    c = g.any_of((ops.greater, ops.less_equal, ops.equal))(x, y)
    c = g.any_of((lambda c: c, ops.logical_not))(c)
    g.add(c, 1.0)
    g.add(
        ops.select(c, *g.any_of(((x, y), (y, x), (x, x), (x, 0), (0, y)))),
        g.bounds[x] + g.bounds[y],
    )


def _reduce(g: _Growing) -> None:
    x = g.value(lambda v: _is_float(v) and v.type.size > 0)
    if x is None:
        return
    axes = g.draw(st.sets(st.sampled_from(range(len(x.type.dims))))) if x.type.dims else set()
    way = g.any_of((ops.sum, ops.mean, ops.max))
    g.add(way(x, tuple(axes), keepdims=g.any_of((False, True))), g.bounds[x] * x.type.size)


def _matmul(g: _Growing) -> None:
    a = g.value(lambda v: _is_float(v) and len(v.type.dims) >= 2)
    if a is None:
        return
    b = g.any_of((a, ops.transpose(a, _turned(a))))
    fits = [
        op
        for op in (ops.MatMul(ta, tb) for ta in (False, True) for tb in (False, True))
        if a.type.dims[-2 if op.transpose_a else -1] == b.type.dims[-1 if op.transpose_b else -2]
    ]
    if fits:
        g.add(g.any_of(fits)(a, b), g.bounds[a] ** 2 * 3)


def _reshape(g: _Growing) -> None:
    x = g.value(lambda v: True)
    assert x is not None, "there is an input at least"
    dims = x.type.dims
    targets = [(x.type.size,), (1, *dims), (*dims, 1), dims[::-1]]
    views = (ops.flatten, lambda v: ops.expand_dims(v, 0), ops.squeeze)
    way = g.any_of(
        (*(lambda v, t=t: ops.reshape(v, t) for t in targets), *views[0 if dims else 1 :])
    )
    g.add(way(x), g.bounds[x])


def _transpose(g: _Growing) -> None:
    x = g.value(lambda v: True)
    assert x is not None, "there is an input at least"
    order = g.draw(st.permutations(range(len(x.type.dims))))
    g.add(ops.transpose(x, g.any_of((None, tuple(order)))), g.bounds[x])


def _repeat(g: _Growing) -> None:
    x = g.value(lambda v: len(v.type.dims) < 4)
    if x is not None:
        dims = tuple(g.any_of((1, 2)) if d == 1 else d for d in x.type.dims)
        lead = g.any_of(((), (2,)))
        g.add(ops.broadcast_to(x, (*lead, *dims)), g.bounds[x])


def _join(g: _Growing) -> None:
    x = g.value(lambda v: len(v.type.dims) >= 1)
    y = None if x is None else g.value(lambda v: v.type == x.type)
    if x is not None and y is not None:
        g.add(ops.concat((x, y), 0), max(g.bounds[x], g.bounds[y]))


def _split(g: _Growing) -> None:
    x = g.value(lambda v: len(v.type.dims) >= 1 and v.type.dims[0] >= 2)
    if x is not None:
        for part in ops.split(x, (1, x.type.dims[0] - 1)):
            g.add(part, g.bounds[x])


def _cast(g: _Growing) -> None:
    x = g.value(lambda v: True)
    assert x is not None, "there is an input at least"
    g.add(ops.cast(x, g.any_of(("f32", "f64", "i32"))), g.bounds[x])


def _print(g: _Growing) -> None:
    x = g.value(lambda v: True)
    assert x is not None, "there is an input at least"
    g.add(ops.print_value(x, g.any_of(("first", "second"))), g.bounds[x])


_MOST_DEPTH = 2  # bodies inside each other


def _body(g: _Growing, taken: Sequence[tuple[TensorType, float]]) -> _Growing:
    """A body that has grown a little on inputs of these types and bounds."""
    inner = _Growing(g.draw, {}, g.makers, g.depth + 1)
    if inner.depth >= _MOST_DEPTH:
        inner.makers = tuple(maker for maker in g.makers if maker not in _BODIES)
    for kind, bound in taken:
        inner.bounds[Input(kind, None, "", "")] = bound
    for _ in range(g.draw(st.integers(0, 3))):
        inner.grow()
    return inner


def _of_type(g: _Growing, kind: TensorType, bound: float) -> Value:
    """Some value of this type, cut to the bound."""
    x = g.value(lambda v: v.type == kind)
    assert x is not None, "an input has the type"
    if kind.dtype == "bool" or g.bounds[x] <= bound:
        return x
    return ops.maximum(ops.minimum(x, int(bound)), -int(bound))


def _taken(g: _Growing, most: int = 2) -> list[Value]:
    """At least one value, some of them twice."""
    count = g.draw(st.integers(1, most))
    return [g.any_of(g.values) for _ in range(count)]


def _inputs(g: _Growing) -> tuple[Value, ...]:
    """The inputs of a body: values that no node has made."""
    return tuple([v for v in g.values if v.node is None])


def _call(g: _Growing) -> None:
    given = _taken(g)
    inner = _body(g, [(v.type, g.bounds[v]) for v in given])
    outputs = inner.values[-2:]
    body = Graph.of(_inputs(inner), outputs, order=inner.values)
    for y, inside in zip(ops.Call(body).outputs_of(*given), outputs, strict=True):
        g.add(y, inner.bounds[inside])


def _branch(g: _Growing) -> None:
    x = g.value(lambda v: _is_number(v) and v.type.size > 0)
    if x is None:
        return
    given = _taken(g)
    kind, bound = given[0].type, max(g.bounds[given[0]], 2.0)
    branches = []
    for _ in range(2):
        inner = _body(g, [(v.type, g.bounds[v]) for v in given])
        outputs = (_of_type(inner, kind, bound),)
        branches.append(Graph.of(_inputs(inner), outputs, order=inner.values))
    (y,) = ops.If(*branches).outputs_of(ops.greater(ops.max(x), 0), *given)
    g.add(y, bound)


def _loop_body(g: _Growing, given: Sequence[Value], states: int) -> Graph:
    """A body that keeps the types and the bounds of its states."""
    bounds = [max(2.0, np.ceil(g.bounds[v])) for v in given]
    inner = _body(g, [(v.type, b) for v, b in zip(given, bounds, strict=True)])
    new = [_of_type(inner, v.type, b) for v, b in zip(given[:states], bounds, strict=False)]
    rows = inner.values[-1:] if g.any_of((False, True)) else []
    return Graph.of(_inputs(inner), (*new, *rows), order=inner.values)


def _scan(g: _Growing) -> None:
    given = _taken(g, 3)
    states = g.draw(st.integers(0, len(given)))
    body, length = _loop_body(g, given, states), g.any_of((0, 1, 3))
    op = ops.Scan(body, states, 0, length, g.any_of((False, True)))
    for i, y in enumerate(op.outputs_of(*given)):
        g.add(y, max(2.0, np.ceil(g.bounds[given[i]])) if i < states else _MOST)


def _sequence(g: _Growing) -> None:
    xs = g.value(lambda v: len(v.type.dims) >= 1)
    if xs is None:
        return
    state = g.any_of(g.values)
    row = TensorType(xs.type.dtype, xs.type.dims[1:])
    bound = max(2.0, np.ceil(g.bounds[state]))
    inner = _body(g, [(state.type, bound), (row, g.bounds[xs])])
    outputs = (_of_type(inner, state.type, bound), inner.values[-1])
    body = Graph.of(_inputs(inner), outputs, order=inner.values)
    op = ops.Scan(body, 1, 1, None, g.any_of((False, True)))
    for y, b in zip(op.outputs_of(state, xs), (bound, inner.bounds[outputs[1]]), strict=True):
        g.add(y, b)


def _while(g: _Growing) -> None:
    given = _taken(g)
    states = g.draw(st.integers(1, len(given)))
    bounds = [max(2.0, np.ceil(g.bounds[v])) for v in given]
    cond, body = _counting(g, given, states)
    op = ops.While(cond, body, g.any_of((None, 2)), g.any_of(("stack", "recompute")))
    for y, b in zip(op.outputs_of(ops.fill(0, "i32"), *given)[1:], bounds, strict=False):
        g.add(y, b)


def _while_gradient(g: _Growing) -> None:
    """A loop of one state beside its counter, and any body backwards that reads this state."""
    (x, *rest), carried = _taken(g), _taken(g)
    cond, body = _counting(g, (x, *rest), 1)
    back = _loop_body(g, (*carried, x, *rest), len(carried))
    back = Graph(back.inputs, back.nodes, back.outputs[: len(carried)])
    op = ops.WhileGradient(cond, body, back, (1,), g.any_of((None, 2)))
    for y, v in zip(op.outputs_of(ops.fill(0, "i32"), x, *carried, *rest), carried, strict=True):
        g.add(y, max(2.0, np.ceil(g.bounds[v])))


def _counting(g: _Growing, given: Sequence[Value], states: int) -> tuple[Graph, Graph]:
    """`cond` and `body` of a loop whose first state counts some rounds."""
    body = _loop_body(g, given, states)
    i, j = (Input(TensorType("i32", ()), None, "", "") for _ in range(2))
    inputs = [Input(v.type, None, "", "") for v in given]
    cond = Graph.of((i, *inputs), (ops.less(i, g.any_of((0, 1, 3))),))
    order = [v for node in body.nodes for v in node.outputs]
    return cond, Graph.of((j, *body.inputs), (j + 1, *body.outputs[:states]), order=order)


def _broadcast(x: Value, y: Value) -> bool:
    """Whether an elementwise op takes both."""
    pairs = zip(reversed(x.type.dims), reversed(y.type.dims), strict=False)
    return x.type.dtype == y.type.dtype and all(a == b or 1 in (a, b) for a, b in pairs)


def _turned(x: Value) -> tuple[int, ...]:
    rank = len(x.type.dims)
    return (*range(rank - 2), rank - 1, rank - 2)


_MAKERS = (
    *(_unary, _smooth, _square, _binary, _binary, _with_number, _with_number, _divide, _choose),
    *(_reduce, _matmul, _reshape, _transpose, _repeat, _join, _split, _cast),
)
_EFFECTS = (_print,)
_BODIES = (_call, _branch, _scan, _sequence, _while, _while_gradient)
