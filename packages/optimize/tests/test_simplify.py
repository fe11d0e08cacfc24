"""Every rule is an equation: its left side becomes its right side, and both compute the same bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import (
    Graph,
    GraphError,
    Input,
    Node,
    Op,
    ShapeError,
    TensorType,
    Types,
    Value,
    verify,
)
from byparts_opset.evaluate import evaluate
from byparts_optimize import fold, optimize, rules, simplify

Side = Callable[..., Value]

EXACT: list[tuple[str, Side, Side]] = [
    ("x + -0 = x", lambda x, y: x + -0.0, lambda x, y: x),
    ("x - 0 = x", lambda x, y: x - 0.0, lambda x, y: x),
    ("x + -y = x - y", lambda x, y: x + -y, lambda x, y: x - y),
    ("-x + y = y - x", lambda x, y: -x + y, lambda x, y: y - x),
    ("x - -y = x + y", lambda x, y: x - -y, lambda x, y: x + y),
    ("-0 - x = -x", lambda x, y: -0.0 - x, lambda x, y: -x),
    ("x - y * -1 = x + y", lambda x, y: x - y * -1, lambda x, y: x + y),
    ("1 x = x", lambda x, y: 1 * x, lambda x, y: x),
    ("x * -1 = -x", lambda x, y: x * -1, lambda x, y: -x),
    ("-x * -y = x y", lambda x, y: -x * -y, lambda x, y: x * y),
    ("-x * 3 = x * -3", lambda x, y: -x * 3, lambda x, y: x * -3),
    ("-(x * 3) = x * -3", lambda x, y: -(x * 3), lambda x, y: x * -3),
    ("x * 2 * 3 = x * 6", lambda x, y: x * 2 * 3, lambda x, y: x * 6),
    ("x / 1 = x", lambda x, y: x / 1, lambda x, y: x),
    ("x / -1 = -x", lambda x, y: x / -1, lambda x, y: -x),
    ("-x / -y = x / y", lambda x, y: -x / -y, lambda x, y: x / y),
    ("x / 8 = x * 0.125", lambda x, y: x / 8, lambda x, y: x * 0.125),
    ("-(-x) = x", lambda x, y: ops.neg(-x), lambda x, y: x),
    ("x ** 0 = 1", lambda x, y: ops.pow(x, 0), lambda x, y: ops.ones_like(x)),
    ("x ** 1 = x", lambda x, y: ops.pow(x, 1), lambda x, y: x),
    ("||x|| = |x|", lambda x, y: abs(abs(x)), lambda x, y: abs(x)),
    ("|-x| = |x|", lambda x, y: abs(-x), lambda x, y: abs(x)),
    ("(-x)^2 = x^2", lambda x, y: ops.square(-x), lambda x, y: ops.square(x)),
    ("c ? x : x = x", lambda x, y: ops.select(x < y, x, x), lambda x, y: x),
    ("true ? x : y = x", lambda x, y: ops.select(ops.fill(True, "bool"), x, y), lambda x, y: x),
    ("false ? x : y = y", lambda x, y: ops.select(ops.fill(False, "bool"), x, y), lambda x, y: y),
    (
        "!c ? x : y = c ? y : x",
        lambda x, y: ops.select(ops.logical_not(x < y), x, y),
        lambda x, y: ops.select(x < y, y, x),
    ),
    ("max(x, x) = x", lambda x, y: ops.maximum(x, x), lambda x, y: x),
    ("relu(relu(x)) = relu(x)", lambda x, y: ops.relu(ops.relu(x)), lambda x, y: ops.relu(x)),
    (
        "!(x == y) = x != y",
        lambda x, y: ops.logical_not(ops.equal(x, y)),
        lambda x, y: ops.not_equal(x, y),
    ),
    ("identity(x) = x", lambda x, y: ops.identity(x), lambda x, y: x),
    ("x'' = x", lambda x, y: ops.transpose(ops.transpose(x)), lambda x, y: x),
    (
        "two transposes in one",
        lambda x, y: ops.transpose(
            ops.transpose(ops.broadcast_to(x, (4, 2, 3)), (1, 2, 0)), (1, 0, 2)
        ),
        lambda x, y: ops.transpose(ops.broadcast_to(x, (4, 2, 3)), (2, 1, 0)),
    ),
    (
        "view of a view",
        lambda x, y: ops.reshape(ops.expand_dims(ops.flatten(x), 0), (3, 2)),
        lambda x, y: ops.reshape(x, (3, 2)),
    ),
    ("reshape to the same", lambda x, y: ops.reshape(ops.reshape(x, (6,)), (2, 3)), lambda x, y: x),
    (
        "only ones move",
        lambda x, y: ops.transpose(ops.reshape(x, (2, 1, 3)), (1, 0, 2)),
        lambda x, y: ops.reshape(x, (1, 2, 3)),
    ),
    (
        "broadcast twice",
        lambda x, y: ops.broadcast_to(ops.broadcast_to(x, (4, 2, 3)), (5, 4, 2, 3)),
        lambda x, y: ops.broadcast_to(x, (5, 4, 2, 3)),
    ),
    (
        "broadcast is in the op",
        lambda x, y: x * ops.broadcast_to(ops.sum(y), (2, 3)),
        lambda x, y: x * ops.sum(y),
    ),
    (
        "broadcast after the op",
        lambda x, y: ops.tanh(ops.broadcast_to(x, (4, 2, 3))),
        lambda x, y: ops.broadcast_to(ops.tanh(x), (4, 2, 3)),
    ),
    (
        "lossless cast between",
        lambda x, y: ops.cast(ops.cast(x, "f64"), "f16"),
        lambda x, y: ops.cast(x, "f16"),
    ),
    ("there and back", lambda x, y: ops.cast(ops.cast(x, "f64"), "f32"), lambda x, y: x),
    ("sum -x = -sum x", lambda x, y: ops.sum(-x, 0), lambda x, y: -ops.sum(x, 0)),
    (
        "sum of one",
        lambda x, y: ops.sum(ops.expand_dims(abs(x), 1), 1),
        lambda x, y: abs(x),
    ),
    (
        "mean of one",
        lambda x, y: ops.mean(ops.expand_dims(abs(x), 1), 1),
        lambda x, y: abs(x),
    ),
    (
        "sum of ones",
        lambda x, y: x * ops.sum(ops.fill(1, "f32", (1000, 1000))),
        lambda x, y: x * 1e6,
    ),
    (
        "a' b takes a flag",
        lambda x, y: ops.matmul(ops.transpose(x), y),
        lambda x, y: ops.matmul(x, y, transpose_a=True),
    ),
    (
        "a b' takes a flag",
        lambda x, y: ops.matmul(x, ops.transpose(y)),
        lambda x, y: ops.matmul(x, y, transpose_b=True),
    ),
]

FAST: list[tuple[str, Side, Side]] = [
    ("x + 0 = x", lambda x, y: x + 0.0, lambda x, y: x),
    ("0 - x = -x", lambda x, y: 0.0 - x, lambda x, y: -x),
    ("x - x = 0", lambda x, y: x - x, lambda x, y: ops.zeros_like(x)),
    ("x * 0 = 0", lambda x, y: x * 0.0, lambda x, y: ops.zeros_like(x)),
    ("x + 1 + 2 = x + 3", lambda x, y: x + 1 + 2, lambda x, y: x + 3),
    ("x * 3 * 5 = x * 15", lambda x, y: x * 3 * 5, lambda x, y: x * 15),
    (
        "x / 3 = x * (1/3)",
        lambda x, y: x / 3,
        lambda x, y: x * float(np.float32(1) / np.float32(3)),
    ),
    ("y * (x / y) = x", lambda x, y: y * (x / y), lambda x, y: x),
    ("y * (x / y - 7) = x - y * 7", lambda x, y: y * (x / y - 7), lambda x, y: x - y * 7),
    ("-(x - y) = y - x", lambda x, y: -(x - y), lambda x, y: y - x),
    ("x ** 0.5", lambda x, y: ops.pow(x, 0.5), lambda x, y: ops.sqrt(x)),
    ("x * 2 + x = x * 3", lambda x, y: x * 2 + x, lambda x, y: x * 3),
    (
        "sum of one repeated",
        lambda x, y: ops.sum(ops.broadcast_to(ops.max(x), (2, 3))),
        lambda x, y: ops.max(x) * 6,
    ),
]


def pair(side: Side) -> Graph:
    x, y = (Input(TensorType("f32", (2, 3)), None, name) for name in "xy")
    return Graph.of([x, y], [side(x, y)])


def assert_same(want: Graph, got: Graph) -> None:
    """Equal, or both are printed."""
    assert want == got, f"expected\n{want}\ngot\n{got}"


@pytest.mark.parametrize(("before", "after"), [e[1:] for e in EXACT], ids=[e[0] for e in EXACT])
def test_exact(before: Side, after: Side) -> None:
    """By default; the bits are those of the left side, zeros and infinities among them."""
    x = np.array([[0.0, -0.0, 1.5], [-2.25, np.inf, 0.1]], np.float32)
    y = np.array([[0.0, 3.0, -0.0], [-2.25, 7.0, -0.3]], np.float32)

    assert_same(optimize(pair(after)), optimize(pair(before)))
    with np.errstate(all="ignore"):
        (want,), (got,) = evaluate(pair(before), x, y), evaluate(optimize(pair(before)), x, y)
    np.testing.assert_array_equal(got, want)
    known = ~np.isnan(want) if want.dtype.kind == "f" else want == want
    np.testing.assert_array_equal(np.signbit(got[known] * 1.0), np.signbit(want[known] * 1.0))


def test_a_square_is_rounded_once() -> None:
    """x ** 2 = x x, where a power may be a unit in the last place off (NumPy 1.26's is)."""
    x = np.array([[0.0, -0.0, 1.5], [-2.25, np.inf, 0.1]], np.float32)
    powered = pair(lambda x, y: ops.pow(x, 2))
    (want,), (got,) = evaluate(powered, x, x), evaluate(optimize(powered), x, x)

    assert_same(optimize(pair(lambda x, y: ops.square(x))), optimize(powered))
    np.testing.assert_array_equal(got, x * x)
    np.testing.assert_allclose(got, want, rtol=2.0**-22)


@pytest.mark.parametrize(("before", "after"), [e[1:] for e in FAST], ids=[e[0] for e in FAST])
def test_fast(before: Side, after: Side) -> None:
    """Only when asked for; near for ordinary numbers."""
    x = np.array([[0.5, 4.0, 1.5], [2.25, 9.0, 0.1]], np.float32)

    assert optimize(pair(after)) != optimize(pair(before))
    assert_same(optimize(pair(after), fast_math=True), optimize(pair(before), fast_math=True))
    (want,), (got,) = (
        evaluate(pair(before), x, x),
        evaluate(optimize(pair(before), fast_math=True), x, x),
    )
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_signs_and_numbers_do_not_chase_each_other() -> None:
    """A number with a sign, times a number: found by a random program, once went round for ever."""
    zero = -(ops.fill(0.0, "f64", ()))
    graph = Graph.of((), (zero * 0.5,))

    (y,) = evaluate(simplify(graph, fast_math=True))

    assert y == 0


def test_integers_obey_the_laws_of_a_ring() -> None:
    """What is fast for floats is exact for them, wrapping around included."""
    x = Input(TensorType("i8", (3,)), None, "x")
    graph = Graph.of([x], [(x + 0) * 100 * 3 - (x - x)])

    small = optimize(graph)

    at = np.array([1, 2, -128], np.int8)
    assert [n.op.name for n in small.nodes] == ["fill", "mul"]
    np.testing.assert_array_equal(evaluate(small, at)[0], evaluate(graph, at)[0])


@pytest.mark.parametrize("between", ["f16", "bf16", "i32", "bool"])
def test_a_cast_that_loses_something_stays(between: str) -> None:
    """There and back is not the same number."""
    x = Input(TensorType("f32", (3,)), None, "x")
    graph = Graph.of([x], [ops.cast(ops.cast(x, between), "f32")])

    assert optimize(graph) == graph


@pytest.mark.parametrize(
    ("dtype", "between"),
    [("i8", "f16"), ("u8", "bf16"), ("i32", "f64"), ("bool", "u8"), ("bf16", "f32"), ("u8", "i16")],
)
def test_a_cast_that_loses_nothing_goes(dtype: str, between: str) -> None:
    """There and back is nothing."""
    x = Input(TensorType(dtype, (3,)), None, "x")

    assert optimize(Graph.of([x], [ops.cast(ops.cast(x, between), dtype)])).nodes == ()


def test_a_cast_to_unsigned_loses_the_sign() -> None:
    """-1 becomes 255, and stays it."""
    x = Input(TensorType("i8", (3,)), None, "x")
    graph = Graph.of([x], [ops.cast(ops.cast(x, "u8"), "i16")])

    assert optimize(graph) == graph


@pytest.mark.parametrize(("c", "d"), [(0.25, 8.0), (2.0, 3e4), (3.0, 5.0)])
def test_factors_that_may_round_or_overflow_stay(c: float, d: float) -> None:
    """x / 4 may lose digits that x * 2 does not have to; 2 * 3e4 is near the end of f16."""
    x = Input(TensorType("f32", (3,)), None, "x")
    graph = Graph.of([x], [x * c * d])

    assert [n.op.name for n in optimize(graph).nodes] == ["fill", "mul", "fill", "mul"]


def test_an_op_that_does_not_broadcast_is_not_asked_to() -> None:
    """One that insists on equal shapes keeps its repeated operand."""
    x, b = Input(TensorType("f32", (2, 3)), None, "x"), Input(TensorType("f32", (3,)), None, "b")
    graph = Graph.of([x, b], [Paired()(x, ops.broadcast_to(b, (2, 3)))])

    assert optimize(graph) == graph


class Paired(Op):
    """z = x + y, of one shape."""

    pattern = "elementwise"

    def infer(self, x: TensorType, y: TensorType) -> Types:
        if x != y:
            raise ShapeError(f"paired: {x} is not {y}")
        return (x,)


def test_a_smaller_result_is_repeated() -> None:
    """x * 1 has the shape of the 1, if that is larger."""
    x = Input(TensorType("f32", (3,)), None, "x")

    graph = simplify(Graph.of([x], [x * ops.ones((2, 3))]))

    assert [n.op for n in graph.nodes] == [ops.BroadcastTo((2, 3))]


def test_of_unknown_rank_nothing_is_assumed() -> None:
    """x * 1 may have a larger rank than x, where nothing says that it has not."""
    x = Input(TensorType("f32", None), None, "x")
    graph = Graph.of([x], [x * ops.ones((2, 3))])

    assert simplify(graph) == graph


def test_symbols_are_kept() -> None:
    """With a dimension named but not known, rules that do not need it still hold."""
    x = Input(TensorType("f32", ("n", 3)), None, "x")

    assert simplify(Graph.of([x], [ops.neg(-x) * 1])).nodes == ()


def test_lines_of_the_user_are_kept() -> None:
    """What a rule makes carries the `where` of what it replaces."""
    x, y = (Input(TensorType("f32", (2,)), None, name) for name in "xy")
    z = x + -y

    (node,) = simplify(Graph.of([x, y], [z])).nodes

    assert z.node is not None
    assert node.op == ops.Sub()
    assert node.where == z.node.where


def test_n10_the_callers_graph_is_not_touched() -> None:
    """N10: it prints as before; what no rule replaces is shared."""
    x = Input(TensorType("f32", (2,)), None, "x")
    graph = Graph.of([x], [ops.exp(x) * 1])
    before = str(graph)

    after = simplify(graph)

    assert str(graph) == before
    assert after.nodes == graph.nodes[:1]


class Twice(Op):
    """y = f(f(x)): an op with a graph inside."""

    body: Graph

    def infer(self, x: TensorType) -> Types:
        return (x,)

    def evaluate(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        return evaluate(self.body, evaluate(self.body, x)[0])


def test_graphs_inside_ops_are_entered() -> None:
    """Every pass does, in the order given."""
    x, inner = (Input(TensorType("f32", (2,)), None, name) for name in "xy")
    body = Graph.of([inner], [inner * 1 + ops.fill(1) * ops.fill(2)])
    graph = Graph.of([x], [Twice(body)(x)])

    for run in (optimize, lambda g: simplify(fold(g))):
        (node,) = run(graph).nodes
        assert isinstance(node.op, Twice)
        assert [n.op for n in node.op.body.nodes] == [ops.Fill(2.0), ops.Add()]


class Flip(Op):
    """y = x."""

    up: bool

    def infer(self, x: TensorType) -> Types:
        return (x,)


def test_third_parties_add_rules_and_bad_ones_are_found() -> None:
    """Two rules that undo each other end in an error that names the op, not in a loop."""

    @rules.on(Flip)
    def flip(node: Node) -> Value | None:
        assert isinstance(node.op, Flip)
        return Flip(not node.op.up)(node.inputs[0])

    x = Input(TensorType("f32", (2,)))
    with pytest.raises(AssertionError, match="the rules for flip undo each other"):
        simplify(Graph.of([x], [Flip(True)(x)]))
    assert issubclass(GraphError, ValueError)
    assert verify(Graph.of([x], [Flip(True)(x)]))
