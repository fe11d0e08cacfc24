"""Loops and branches whose steps are all native are one call of C; others are as right."""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Callable, Sequence
from functools import partial
from threading import Timer
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, GraphError, Input, Op, TensorType, Types, Value
from byparts_graph_ir.backend.kernel import in_c
from byparts_kernels_numpy.table import kernels as numpy_kernels
from byparts_op_loops.regions import columns
from byparts_opset.evaluate import evaluate
from byparts_runtime import Program, Store, build

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)
WIDTH = 5
Pair = tuple[Value, Value]
Block = Callable[[Value, Value], Pair]


def program_of(graph: Graph, **options: Any) -> Program:
    return build(graph, backends=("native", "numpy"), **options)


def calls(program: Program) -> Sequence[Any]:
    """What a call of the program runs."""
    return program._machine.cycle().runs


def check(graph: Graph, *arrays: Any, count: int | None = 1) -> Program:
    """Twice as `evaluate`; in so many calls of C, if that is said."""
    program = program_of(graph)
    wanted = evaluate(graph, *arrays)
    for _ in range(2):
        for got, want in zip(program(*arrays), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-5)
    if count is not None:
        assert len(calls(program)) == count and all(map(in_c, calls(program)))
    return program


def vector(name: str) -> Input:
    return Input(TensorType("f32", (WIDTH,)), None, name)


@st.composite
def blocks(draw: st.DrawFn, depth: int = 2) -> Block:
    """A function of two states: a step, two blocks after another, a branch, or a loop."""
    kinds = ["step", "step", "swap"] + ["both", "if", "while", "scan"] * (depth > 0)
    kind = draw(st.sampled_from(kinds))
    if kind == "step":
        return lambda x, y: (ops.tanh(x * y + 0.5), x - y * 0.25)
    if kind == "swap":
        return lambda x, y: (y, x)
    inner = draw(blocks(depth - 1))
    if kind in ("both", "if"):
        other = draw(blocks(depth - 1))
        if kind == "both":
            return lambda x, y: other(*inner(x, y))
        return lambda x, y: _two(ops.cond(ops.sum(x) > 0.1, inner, other, (x, y)))
    rounds = draw(st.integers(0, 3))
    if kind == "while":
        return lambda x, y: _while(inner, rounds, x, y)
    reverse = draw(st.booleans())
    return lambda x, y: _scan(inner, reverse, x, y)


def _two(values: Sequence[Value]) -> Pair:
    x, y = values
    return x, y


def _while(inner: Block, rounds: int, x: Value, y: Value) -> Pair:
    start = ops.fill(0, "i32")
    _, x, y = ops.while_loop(
        lambda i, x, y: i < rounds, lambda i, x, y: (i + 1, *inner(x, y)), (start, x, y)
    )
    return x, y


def _scan(inner: Block, reverse: bool, x: Value, y: Value) -> Pair:
    rows = ops.stack((x, y, x - 0.5))

    def body(s: Value, row: Value) -> tuple[Value, Value]:
        new, out = inner(s, row)
        return new, out

    last, outs = ops.scan(body, (x,), (rows,), (), reverse=reverse)
    return last, ops.sum(outs, 0)


@given(blocks())
@settings(deadline=None, max_examples=12)
def test_blocks_in_blocks(block: Block) -> None:
    x, y = vector("x"), vector("y")
    rows = np.linspace(-1, 1, 2 * WIDTH, dtype=np.float32).reshape(2, WIDTH)
    check(Graph.of((x, y), [v + 0.0 for v in block(x, y)]), *rows, count=None)


def counted(rounds: int, **how: Any) -> tuple[Graph, list[Any]]:
    """x -> tanh(x * a + 0.5), so often, and how often."""
    x, a = vector("x"), vector("a")
    count, y = ops.while_loop(
        lambda i, x, a: i < rounds,
        lambda i, x, a: (i + 1, ops.tanh(x * a + 0.5)),
        (ops.fill(0, "i32"), x),
        (a,),
        **how,
    )
    row = np.linspace(-1, 1, WIDTH, dtype=np.float32)
    return Graph.of((x, a), (count, y)), [row, row]


@pytest.mark.parametrize("rounds", [0, 1, 300])
def test_a_loop_is_one_call(rounds: int) -> None:
    check(*_flat(counted(rounds)))


def test_the_steps_around_a_loop_are_in_its_call() -> None:
    graph, arrays = counted(3)
    count, y = graph.outputs
    around = Graph.of(graph.inputs, (count, ops.softmax(ops.reshape(y, (1, WIDTH)), -1)))
    check(around, *arrays)


@pytest.mark.parametrize("rounds", [0, 1, 2, 9])
@pytest.mark.parametrize("how", [{}, {"max_rounds": 5}, {"backward": "recompute"}])
def test_gradients_of_loops(rounds: int, how: dict[str, Any]) -> None:
    """From the stack that grows, the planned one, and none."""
    graph, arrays = counted(rounds, **how)
    loss = ops.sum(graph.outputs[1])
    graded = Graph.of(graph.inputs, (loss, *gradients(loss, graph.inputs)))
    check(graded, *arrays, count=None if how.get("max_rounds") else 1)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("least", [1 << 18, 64])
def test_rows(reverse: bool, least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copied, or read and written where they are."""
    monkeypatch.setattr("byparts_runtime.building.loops._ROW_BYTES", least)
    h, xs = (Input(TensorType("f32", s), None, "") for s in ((4, 16), (7, 4, 16)))
    scanned = ops.scan(
        lambda h, x: (ops.tanh(h + x), ops.exp(x) - h), (h,), (xs,), (), reverse=reverse
    )
    random = np.random.default_rng(0)
    arrays = [random.uniform(-1, 1, v.type.dims).astype(np.float32) for v in (h, xs)]
    check(Graph.of((h, xs), scanned), *arrays)


class Twice(Op):
    """y = 2 x, of which NumPy alone has a kernel."""

    def infer(self, x: TensorType) -> Types:
        return (x,)

    def evaluate(self, x: Any) -> tuple[Any, ...]:
        return (x * 2,)


@numpy_kernels.on(Twice)
def _twice(op: Twice, inputs: Sequence[Any], outputs: Sequence[Any]) -> Callable[[], object]:
    return partial(np.multiply, inputs[0], 2, out=outputs[0])


def test_a_loop_with_a_step_of_numpy() -> None:
    """Its native steps are; the others are not in their call."""
    x = vector("x")
    ks = ops.constant(np.arange(4, dtype=np.float32))

    def body(x: Value, k: Value) -> Pair:
        return ops.tanh(Twice()(x)) + ops.tanh(x), x + k

    last, rows = ops.scan(body, (x,), (ks,))
    graph = Graph.of((x,), (last, rows))
    program = check(graph, np.linspace(0, 1, WIDTH, dtype=np.float32), count=None)
    assert not any(map(in_c, calls(program)))


def test_an_error_says_in_which_round_of_which_body() -> None:
    """Inside of one call of C."""
    x = vector("x")
    last, _ = ops.scan(
        lambda s, k, x: (s + ops.cond(k > 2, _beyond, lambda x, k: ops.sum(x), (x, k))[0], s),
        (ops.fill(0.0, "f32"),),
        (ops.constant(np.arange(9, dtype=np.int32)),),
        (x,),
    )
    program = program_of(Graph.of((x,), (last,)))
    with pytest.raises(GraphError, match=r"gather: index 8 is out of range for axis 0") as raised:
        program(np.ones(WIDTH, np.float32))
    notes: list[str] = getattr(raised.value, "__notes__", [])
    step, branch, above, round_ = notes[:4]
    assert re.match(r"in step \d of \d on 'native', gather: ", step)
    assert re.match(r"in \w+ of if", branch) and re.match(r"in step \d of \d on 'runtime'", above)
    assert round_ == "in body of scan, round 4"
    assert all(map(in_c, calls(program)))


def _beyond(x: Value, k: Value) -> Value:
    return ops.gather(x, k + 5)


def test_a_stack_has_a_limit() -> None:
    graph, arrays = counted(100)
    loss = ops.sum(graph.outputs[1])
    graded = Graph.of(graph.inputs, gradients(loss, graph.inputs))
    program = program_of(graded, max_stack_bytes=1000)
    for _ in range(2):
        with pytest.raises(MemoryError, match="after 32 rounds and cannot grow by 640") as raised:
            program(*arrays)
        assert "in body of while_gradient, round 33" in getattr(raised.value, "__notes__", ())
    assert in_c(calls(program)[0])


def test_ctrl_c_ends_a_loop_and_leaves_variables() -> None:
    """Within some milliseconds; the variable as it was, and the next run is whole."""
    w, rounds = vector("w"), Input(TensorType("i64", ()), None, "rounds")
    _, new, _ = ops.while_loop(
        lambda i, w, n: i < n,
        lambda i, w, n: (i + 1, w * 0.5 + 0.5, n),
        (ops.fill(0, "i64"), w, rounds),
    )
    store = Store()
    variable = store.create("w", np.zeros(WIDTH, np.float32))
    program = program_of(Graph.of((rounds, w), (new,)), variables=(variable,), updates=(variable,))
    timer = Timer(0.1, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        program(1 << 60)
    timer.join()
    assert variable.read().tolist() == [0] * WIDTH
    program(2)
    assert variable.read().tolist() == [0.75] * WIDTH


def _flat(given: tuple[Graph, list[Any]]) -> tuple[Any, ...]:
    return given[0], *given[1]


@pytest.mark.parametrize(
    ("a", "b", "transpose_b"),
    [((40, 9), (9, 1), False), ((3, 16, 9), (9, 1), False), ((1, 9), (40, 9), True)],
)
def test_products_with_a_column(a: tuple[int, ...], b: tuple[int, ...], transpose_b: bool) -> None:
    """They are sums along rows."""
    x, y = (Input(TensorType("f32", s), None, "") for s in (a, b))
    random = np.random.default_rng(0)
    arrays = [random.uniform(-1, 1, v.type.dims).astype(np.float32) for v in (x, y)]
    assert columns.sums_of_rows(ops.MatMul(False, transpose_b), (x.type, y.type)) is not None
    check(Graph.of((x, y), (ops.matmul(x, y, transpose_b=transpose_b),)), *arrays)


def test_a_branch_of_values_without_bytes() -> None:
    """Its memory is nowhere."""
    flag, rows = Input(TensorType("bool", ())), Input(TensorType("f32", (0, 4)))

    def turned(x: Value) -> Value:
        parts = [x[:, i : i + 1] for i in range(4)]
        return ops.concat([parts[0], 1.0 - parts[3], parts[2], 1.0 - parts[1]], 1)

    made = ops.cond(flag, turned, lambda x: x, (rows,))
    check(
        Graph.of([flag, rows], list(made)), np.array(True), np.zeros((0, 4), "float32"), count=None
    )
