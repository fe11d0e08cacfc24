"""Calls, branches and loops in programs: planned, run, trained, interrupted."""

from __future__ import annotations

import os
import signal
import threading
import time
import tracemalloc
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_conformance.cases import cases_of
from byparts_conformance.graphs import arguments, graphs
from byparts_conformance.meaning import graph_of
from byparts_conformance.reference import Reference
from byparts_graph_ir import (
    FLOATS,
    Graph,
    GraphError,
    Input,
    Op,
    ShapeError,
    TensorType,
    Value,
    nested,
)
from byparts_opset import Call, If, Scan, While, WhileGradient
from byparts_opset.dtypes import numpy_dtype
from byparts_opset.evaluate import evaluate
from byparts_runtime import Executor, Program, Variable, build

NEEDS_TORCH = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
BACKENDS = [("numpy",), pytest.param(("torch", "numpy"), marks=NEEDS_TORCH)]
Arrays = Sequence[np.ndarray]
I32 = TensorType("i32", ())


def f64(*shape: int) -> TensorType:
    return TensorType("f64", shape)


def interpreted(graph: Graph, *arrays: Any) -> list[Any]:
    """A plain Python loop over the nodes, and plain Python for what they control."""
    known = dict(zip(graph.inputs, map(np.asarray, arrays), strict=True))
    for node in graph.nodes:
        results = controlled(node.op, [known[v] for v in node.inputs])
        known.update(zip(node.outputs, map(np.asarray, results), strict=True))
    return [known[v] for v in graph.outputs]


def controlled(op: Any, xs: list[Any]) -> Sequence[Any]:
    if isinstance(op, Call):
        return interpreted(op.body, *xs)
    if isinstance(op, If):
        return interpreted(op.then if xs[0] else op.otherwise, *xs[1:])
    if isinstance(op, While):
        state, rest, rounds = xs[: op.states], xs[op.states :], 0
        while rounds != op.max_rounds and interpreted(op.cond, *state, *rest)[0]:
            state, rounds = interpreted(op.body, *state, *rest), rounds + 1
        return state
    if isinstance(op, WhileGradient):
        stack: list[list[Any]] = []
        state, carried = xs[: op.states], xs[op.states :][: op.carried]
        rest = xs[op.states + op.carried :]
        while len(stack) != op.max_rounds and interpreted(op.cond, *state, *rest)[0]:
            stack.append([state[i] for i in op.kept])
            state = interpreted(op.body, *state, *rest)
        while stack:
            carried = interpreted(op.back, *carried, *stack.pop(), *rest)
        return carried
    if isinstance(op, Scan) and (op.length is None or op.length > 0):
        s, q = op.states, op.states + op.sequences
        state, n = xs[:s], op.length if op.length is not None else len(xs[s])
        rows: list[Any] = [None] * n
        for i in range(n)[:: -1 if op.reverse else 1]:
            made = interpreted(op.body, *state, *(x[i] for x in xs[s:q]), *xs[q:])
            state, rows[i] = made[:s], made[s:]
        if n:
            return [*state, *map(np.stack, zip(*rows, strict=True))]
    return op.evaluate(*xs)  # type: ignore[no-any-return]


@pytest.mark.parametrize("backends", BACKENDS)
@given(graph=graphs(bodies=True, most_nodes=5), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_random_bodies_are_plain_python_loops(
    backends: tuple[str, ...], graph: Graph, seed: int
) -> None:
    """Nested loops, loops in branches, effects, loops that never run; called twice."""
    arrays = arguments(graph, seed)
    heard, said = StringIO(), StringIO()
    with redirect_stdout(said):
        wants = interpreted(graph, *arrays)
    program = build(graph, backends=backends)
    for _ in range(2):
        with redirect_stdout(heard):
            results = program(*arrays)
    assert heard.getvalue().count("first") == 2 * said.getvalue().count("first")
    rounds = any(n.op.name in ("matmul", "sum", "mean") for g in nested(graph) for n in g.nodes)
    for want, got in zip(wants, results, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        near = {"rtol": 1e-4, "atol": 1e-4} if rounds or "torch" in backends else {"rtol": 1e-5}
        np.testing.assert_allclose(np.float64(got), np.float64(want), **near)  # type: ignore[call-overload]


def cell(h: Value, x: Value, w: Value, u: Value) -> Value:
    return ops.tanh(x @ w + h @ u)


def unrolled(h: Value, xs: Value, w: Value, u: Value) -> Value:
    for t in range(xs.type.dims[0]):
        h = cell(h, xs[t], w, u)
    return h


def scanned(h: Value, xs: Value, w: Value, u: Value) -> Value:
    return ops.scan(cell, (h,), (xs,), (w, u))[0]


def looped(backward: Any, *, bounded: bool = True) -> Callable[..., Value]:
    """The trip count depends on data: as many rounds as the state's sum and the rows allow."""

    def net(h: Value, xs: Value, w: Value, u: Value) -> Value:
        n = xs.type.dims[0]
        return ops.while_loop(
            lambda i, h, *_: ops.logical_and(i < n, ops.sum(h) < 1e9),
            lambda i, h, xs, w, u: (i + 1, cell(h, ops.gather(xs, i), w, u)),
            (ops.fill(0, "i32"), h),
            (xs, w, u),
            max_rounds=n if bounded else None,
            backward=backward,
        )[1]

    return net


NETS = {
    "scan": scanned,
    "stack": looped("stack"),
    "growing": looped("stack", bounded=False),
    "recompute": looped("recompute"),
}


def trained(net: Callable[..., Value], backends: tuple[str, ...], steps: int = 5) -> list[Any]:
    """Losses and weights of some steps of gradient descent."""
    rng = np.random.default_rng(0)
    n, batch, width = 12, 4, 8
    h, xs = Input(f64(batch, width), None, "h"), Input(f64(n, batch, width), None, "xs")
    w, u = (Input(f64(width, width), None, name) for name in "wu")
    loss = ops.sum(ops.square(net(h, xs, w, u)))
    news = [v - d * 0.01 for v, d in zip((w, u), gradients(loss, (w, u)), strict=True)]
    weights = [Variable(name, rng.standard_normal((width, width)) / 3) for name in "wu"]
    program = build(
        Graph.of((h, xs, w, u), (loss, *news)),
        variables=weights,
        updates=weights,
        backends=backends,
    )
    feeds = rng.standard_normal((batch, width)), rng.standard_normal((n, batch, width))
    losses = [program(*feeds)[0] for _ in range(steps)]
    return [np.array(losses), *(v.read() for v in weights)]


@pytest.mark.parametrize("backends", BACKENDS)
@pytest.mark.parametrize("net", NETS.values(), ids=list(NETS))
def test_models_with_a_loop_train(net: Callable[..., Value], backends: tuple[str, ...]) -> None:
    """As their unrolled twins."""
    for got, want in zip(trained(net, backends), trained(unrolled, ("numpy",)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("backends", BACKENDS)
def test_rows_are_used_where_they_are(
    backends: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However small: the same numbers, in less memory."""
    copied = trained(scanned, backends)
    monkeypatch.setattr("byparts_runtime.building.loops._ROW_BYTES", 64)
    for got, want in zip(trained(scanned, backends), copied, strict=True):
        np.testing.assert_array_equal(got, want)


def counting(n: int) -> Graph:
    i, x = Input(I32, None, "i"), Input(f64(8), None, "x")
    states = ops.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, ops.sin(x)), (i, x))
    return Graph.of((i, x), states)


def test_many_rounds_in_constant_memory() -> None:
    """What is allocated at a time does not grow with the rounds."""
    program, x = build(counting(100_000)), np.ones(8)
    program(np.int32(99_990), x)
    tracemalloc.start()
    try:
        i, _ = program(np.int32(0), x)
        assert tracemalloc.get_traced_memory()[1] < 20_000
    finally:
        tracemalloc.stop()
    assert i == 100_000


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals to a thread")
def test_a_loop_is_interrupted() -> None:
    """Ctrl-C ends an endless loop, and the program runs again."""
    program, main = build(counting(2**31 - 1)), threading.main_thread().ident
    assert main is not None
    killer = threading.Thread(target=lambda: (time.sleep(0.2), os.kill(os.getpid(), signal.SIGINT)))  # type: ignore[func-returns-value]
    killer.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        program(np.int32(0), np.ones(8))
    killer.join()

    assert any("of while, round " in note for note in caught.value.__notes__)  # type: ignore[attr-defined]
    assert program(np.int32(2**31 - 3), np.ones(8))[0] == 2**31 - 1


@pytest.mark.parametrize("backends", BACKENDS)
def test_an_error_says_in_which_round(backends: tuple[str, ...]) -> None:
    """And in which step of which body."""
    x = Input(f64(6))
    sums = ops.while_loop(
        lambda i, s, x: i < 10,
        lambda i, s, x: (i + 1, s + ops.gather(x, i)),
        (ops.fill(0, "i32"), ops.fill(0.0, "f64")),
        (x,),
    )
    with pytest.raises(GraphError, match="index 6") as caught:
        build(Graph.of((x,), sums), backends=backends)(np.arange(6.0))

    notes = "\n".join(caught.value.__notes__)  # type: ignore[attr-defined]
    assert "gather: (f64[6], i32[]) -> (f64[])" in notes
    assert "in body of while, round 7" in notes


def decaying(n: int) -> tuple[Graph, Program]:
    """x * cos(x), and so on, while a feed says so; with its gradient."""
    x, rounds = Input(f64(n), None, "x"), Input(I32, None, "rounds")
    _, y = ops.while_loop(
        lambda i, x, rounds: i < rounds,
        lambda i, x, rounds: (i + 1, x * ops.cos(x)),
        (ops.fill(0, "i32"), x),
        (rounds,),
    )
    graph = Graph.of((x, rounds), (y, *gradients(y, x)))
    return graph, build(graph)


def test_the_stack_doubles_and_stays() -> None:
    """At most twice the states of the rounds there were; a second run takes no memory."""
    n, rounds = 1024, 600
    graph, program = decaying(n)
    x = np.linspace(0.1, 1, n)
    tracemalloc.start()
    try:
        program(x, np.int32(3))
        few = tracemalloc.get_traced_memory()[0]
        program(x, np.int32(40))
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        results = program(x, np.int32(rounds))
        program(x, np.int32(rounds))
        steady = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()

    assert few < 20 * n * 8
    assert steady < 100_000 + 2 * sum(r.nbytes for r in results)  # large chunks are mappings
    for got, want in zip(results, interpreted(graph, x, np.int32(rounds)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals to a thread")
def test_a_gradient_is_interrupted() -> None:
    """Ctrl-C while the stack grows; the next call is right."""
    graph, program = decaying(1)
    want = [float(y[0]) for y in interpreted(graph, np.full(1, 0.5), np.int32(9))]
    killer = threading.Thread(target=lambda: (time.sleep(0.2), os.kill(os.getpid(), signal.SIGINT)))  # type: ignore[func-returns-value]
    killer.start()
    with pytest.raises(KeyboardInterrupt):
        program(np.full(1, 0.5), np.int32(2**31 - 1))
    killer.join()

    got = [float(y[0]) for y in program(np.full(1, 0.5), np.int32(9))]
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_a_gradient_that_fails_leaves_variables_as_they_were() -> None:
    """In round 7, of which the error tells."""
    w, table, rounds = Input(f64(), None, "w"), Input(f64(6)), Input(I32)
    _, y = ops.while_loop(
        lambda i, y, w, table, rounds: i < rounds,
        lambda i, y, w, table, rounds: (i + 1, y * w + ops.gather(table, i)),
        (ops.fill(0, "i32"), w),
        (w, table, rounds),
    )
    (dw,) = gradients(y, w)
    variable = Variable("w", np.float64(0.5))
    graph = Graph.of((table, rounds, w), (w - dw, y)[::-1])
    program = build(graph, variables=(variable,), updates=(variable,))
    with pytest.raises(GraphError, match="index 6") as caught:
        program(np.arange(6.0), np.int32(9))

    notes = caught.value.__notes__  # type: ignore[attr-defined]
    assert any(note.startswith("in body of while") and "round 7" in note for note in notes)
    assert float(variable.read()) == 0.5
    program(np.zeros(6), np.int32(2))
    assert float(variable.read()) == 0.5 - 3 * 0.5**2


def test_a_stack_has_a_limit() -> None:
    """It says how far the loop came and what to do; the program goes on."""
    x = Input(f64(1000))
    (y,) = ops.while_loop(lambda x: ops.sum(x) > 0.5, lambda x: x - 0.001 * ops.square(x), (x,))
    graph = Graph.of((x,), gradients(y, x))
    program = build(graph, max_stack_bytes=1 << 20)
    for _ in range(2):
        with pytest.raises(
            MemoryError,
            match=r"while_gradient: the stack for the backward pass has 1,024,000 bytes after 128 "
            r"rounds and cannot grow by 1,024,000 \(max_stack_bytes is 1,048,576\); give the loop "
            r'max_rounds=... or backward="recompute"',
        ) as caught:
            program(np.full(1000, 1.0))
        notes = caught.value.__notes__  # type: ignore[attr-defined]
        assert "in body of while_gradient, round 129" in notes
        assert program(np.full(1000, 0.0005))[0][0] > 0.99


def growing_state() -> tuple[Graph, Graph]:
    """x and x + 1 side by side until there is enough; and the sum of that, written to w."""
    x, w = Input(TensorType("f64", (2, None)), None, "x"), Input(f64(), None, "w")
    (y,) = ops.while_loop(
        lambda x, w: ops.sum(x) < 100.0,
        lambda x, w: ops.concat((x, x + w), 1),
        (x * w,),
        (w,),
    )
    graph = Graph.of((x, w), (y, ops.sum(y * 2.0), w + 1.0))
    return graph, Graph.of((x, w), (y, ops.sum(y * 2.0)))


@pytest.mark.parametrize("backends", BACKENDS)
def test_a_state_grows(backends: tuple[str, ...]) -> None:
    """Each shape is a program of its own, kept for the next run; variables are read and written."""
    training, graph = growing_state()
    w, run = Variable("w", np.float64(1)), Executor(backends=backends)
    for n, value in ((1, 1.0), (3, 2.0), (200, 3.0)):
        x = np.ones((2, n))
        found = run(training, x, variables=(w,), updates=(w,))
        for got, want in zip(found, evaluate(graph, x, np.float64(value)), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12)
        assert float(w.read()) == value + 1

    before = run.statistics.misses
    w.write(np.float64(1))
    run(training, np.ones((2, 1)), variables=(w,), updates=(w,))
    assert run.statistics.misses == before


def test_an_error_in_a_growing_loop_says_in_which_round() -> None:
    """As in any loop."""
    x, table = Input(TensorType("f64", (None,)), None, "x"), Input(f64(3), None, "table")
    _, y = ops.while_loop(
        lambda i, x, table: i < 9,
        lambda i, x, table: (i + 1, ops.concat((x, ops.gather(table, ops.reshape(i, (1,)))))),
        (ops.fill(0, "i32"), x),
        (table,),
    )
    graph = Graph.of((x, table), (y,))
    with pytest.raises(GraphError, match="index 3") as caught:
        Executor()(graph, np.zeros(1), np.zeros(3))

    assert "in body of while, round 4" in caught.value.__notes__  # type: ignore[attr-defined]
    slope = Graph.of((x, table), gradients(ops.sum(y), x))
    with pytest.raises(ShapeError, match=r"a state keeps its type"):
        Executor()(slope, np.zeros(1), np.zeros(3))


def test_states_that_change_places() -> None:
    """A swap reads all old states before one is written."""
    a, b = Input(f64()), Input(f64())
    swap = ops.scan(lambda a, b: (b, a), (a, b), length=3)
    fibonacci = ops.scan(lambda a, b: (b, a + b, a), (a, b), length=10)

    assert [float(v) for v in build(Graph.of((a, b), swap))(0.0, 1.0)] == [1, 0]
    last = build(Graph.of((a, b), fibonacci))(0.0, 1.0)
    assert [float(v) for v in last[:2]] == [55, 89]
    assert last[2].tolist() == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]


def test_a_value_that_is_state_and_invariant_is_not_overwritten() -> None:
    """Though the state might be written over the first one."""
    x = Input(f64())
    y = x + 0.5
    (z,) = ops.scan(lambda a, b: a + b, (y,), (), (y,), length=11)

    assert float(build(Graph.of((x,), (z,)))(2.0)[0]) == 30.0


def test_invariants_are_not_copied() -> None:
    """A megabyte that every round reads costs nothing beside itself."""
    x, w = Input(f64(4)), Input(f64(256, 512))
    (y,) = ops.scan(lambda x, w: x + ops.sum(w), (x,), (), (w,), length=3)
    program = build(Graph.of((x, w), (y,)))

    assert program.plan.arena_bytes < w.type.size_bytes + 4096
    np.testing.assert_allclose(program(np.zeros(4), np.ones((256, 512)))[0], 3.0 * 256 * 512)


@pytest.mark.parametrize("backends", BACKENDS)
def test_effects_in_bodies_keep_their_order(backends: tuple[str, ...], capsys: Any) -> None:
    """Each round says what it does, in a branch in a loop."""
    i = Input(I32, None, "i")

    def body(i: Value) -> Value:
        says = [lambda i, n=n: ops.print_value(i, n) for n in ("small", "large")]
        return ops.cond(i < 2, *says, (i,))[0] + 1  # type: ignore[arg-type, call-arg]

    (last,) = ops.while_loop(lambda i: i < 4, body, (i,))
    build(Graph.of((i,), (i,), order=(last,)), backends=backends)(np.int32(0))

    words = [word for word in capsys.readouterr().out.split() if word.isalpha() or ":" in word]
    assert [w.strip(":") for w in words if w.strip(":") in ("small", "large")] == [
        *("small", "small", "large", "large")
    ]


@pytest.mark.parametrize("backends", BACKENDS)
def test_an_effect_that_no_output_needs_happens(backends: tuple[str, ...], capsys: Any) -> None:
    """In a call whose outputs nobody reads, and in a branch that is known to be chosen."""
    x = Input(f64(), None, "x")
    body = Graph.of((v := Input(f64()),), (v,), order=(ops.print_value(v, "first"),))
    called = ops.call(body, x)
    chosen = ops.cond(ops.fill(True, "bool"), body, body, (x,))
    build(Graph.of((x,), (-x,), order=(*called, *chosen)), backends=backends)(np.float64(2))

    assert capsys.readouterr().out.count("first") == 2


def test_a_loop_computes_in_the_dtype_of_its_state() -> None:
    """Every dtype of floats that NumPy has."""
    for dtype in sorted(FLOATS - {"bf16"}):
        x = Input(TensorType(dtype, (3,)))
        (y,) = ops.scan(lambda s: s * s, (x,), length=2)
        got = build(Graph.of((x,), (y,)))(np.full(3, 0.5, numpy_dtype(dtype)))[0]
        assert (got.dtype, float(got[0])) == (numpy_dtype(dtype), 0.0625)


def test_large_results_of_a_loop_are_the_callers() -> None:
    """Rows of megabytes are stacked where the caller gets them; the next call takes others."""
    x, xs = Input(f64(256)), Input(f64(1024, 256))
    last, rows = ops.scan(lambda s, x: (s + x, s + x), (x,), (xs,))
    program = build(Graph.of((x, xs), (last, rows)))

    kept = [program(np.zeros(256), np.full((1024, 256), k)) for k in (1.0, 2.0, 3.0)]

    for k, (total, sums) in zip((1.0, 2.0, 3.0), kept, strict=True):
        assert total[0] == 1024 * k
        np.testing.assert_array_equal(sums[:, 5], k * np.arange(1, 1025))


@pytest.mark.parametrize("net", NETS)
def test_a_loop_trains_in_the_memory_of_the_best_schedule(net: str) -> None:
    """One state a round, the feeds and the gradients: what the unrolled twin keeps, times 1.2."""
    h, xs, w, u = (Input(f64(*s)) for s in ((32, 32), (64, 32, 32), (32, 32), (32, 32)))

    def planned_bytes(net: Callable[..., Value]) -> int:
        loss = ops.sum(ops.square(net(h, xs, w, u)))
        graph = Graph.of((h, xs, w, u), (loss, *gradients(loss, (w, u))))
        return build(graph).plan.arena_bytes

    assert planned_bytes(NETS[net]) <= 1.2 * planned_bytes(unrolled)


@pytest.mark.parametrize("backends", BACKENDS)
@pytest.mark.parametrize(
    "op", [op for op in ops.OPS.values() if op.control is not Op.control], ids=lambda op: op.name
)
def test_each_op_that_runs_bodies_runs_in_programs(op: type[Op], backends: tuple[str, ...]) -> None:
    """On the cases of the kit, as `evaluate`; also written over its own inputs."""
    for case in cases_of(op)[::2]:
        reference = Reference(case, case.arrays())
        results = build(graph_of(case), backends=backends)(*reference.arrays)
        wrong = [reference.wrong(o, y) for o, y in enumerate(results)]
        assert wrong == [""] * len(results), str(case)
