"""Generated C, seen by a user who installed it, and by one without gcc."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from threading import Timer
from typing import Any

import numpy as np
import pytest
from acme_byparts_c import compiler
from acme_byparts_c.backend import make
from acme_byparts_c.loops import Loops
from acme_byparts_c.space import Space
from hypothesis import given, settings, strategies as st

import byparts_opset as ops
from byparts_conformance.graphs import arguments, graphs
from byparts_graph_ir import (
    Fused,
    Graph,
    GraphError,
    Input,
    MissingRule,
    Refused,
    TensorType,
    Value,
    stays_whole,
)
from byparts_graph_ir.backend.kernel import in_c
from byparts_kernels_numpy import make as make_numpy
from byparts_opset.evaluate import evaluate
from byparts_optimize import fuse, legalize, merge, optimize
from byparts_runtime import Store, build

C, NUMPY = make(), make_numpy()


def given_value(*dims: int) -> Input:
    return Input(TensorType("f32", dims))


def fitted(graph: Graph) -> Graph:
    """As a program of this backend and NumPy runs it."""
    legal = merge(legalize(optimize(graph), lambda n: stays_whole(n, [C, NUMPY])))
    return fuse(legal, C.wants, C.joins)  # type: ignore[arg-type]


def ops_of(graph: Graph) -> list[list[str]]:
    """Of each node; constants are computed once, before."""
    found = [n for n in graph.nodes if n.inputs]
    return [
        [m.op.name for m in n.op.graph.nodes] if isinstance(n.op, Fused) else [n.op.name]
        for n in found
    ]


def run(graph: Graph, *arrays: Any) -> list[Any]:
    """Node by node; what is not for C is for NumPy."""
    known: dict[Value, Any] = dict(zip(graph.inputs, arrays, strict=True))
    for node in graph.nodes:
        outputs = [aligned(v.type) for v in node.outputs]
        inputs = [known[v] for v in node.inputs]
        try:
            step = C.bind(node, inputs, outputs)
        except MissingRule:
            step = NUMPY.bind(node, inputs, outputs)
        with np.errstate(all="ignore"):
            step()
        known.update(zip(node.outputs, outputs, strict=True))
    return [known[v] for v in graph.outputs]


def aligned(type: TensorType) -> Any:
    return C.view(C.space.allocate(type.size_bytes), 0, type)


def random(*dims: int) -> Any:
    return np.random.default_rng(len(dims)).standard_normal(dims).astype("float32")


def softmax(x: Value) -> Value:
    return ops.softmax(x, -1)


def test_a_softmax_is_one_region_of_three_passes() -> None:
    """Though NumPy, behind it, has softmax whole."""
    x = given_value(50, 37)
    graph = fitted(Graph.of((x,), (softmax(x),)))

    assert ops_of(graph) == [["max", "sub", "exp", "sum", "div"]]
    assert Loops(graph.nodes[0].op.graph).body().count("omp simd") == 3  # type: ignore[attr-defined]


@pytest.mark.parametrize("dims", [(50, 37), (1, 5), (4, 1), (7,), (2, 3, 5), (5, 5), (1, 1), ()])
@pytest.mark.parametrize(
    "program",
    [
        lambda x: ops.relu(x * 2) + x,
        lambda x: x * ops.sum(x) + ops.sum(x, axis=0 if x.ndim else None),
        lambda x: ops.mean(ops.square(x - ops.mean(x, axis=-1 if x.ndim else None, keepdims=True))),
        lambda x: ops.sum(x, axis=-1 if x.ndim else None) * 2 - 1,
        lambda x: ops.max(x) - ops.min(x, axis=0 if x.ndim else None),
        lambda x: ops.where(x > 0, ops.exp(x), ops.tanh(x)) / ops.sum(ops.abs(x)),
    ],
)
def test_reductions_and_broadcasts_of_all_shapes(program: Any, dims: tuple[int, ...]) -> None:
    x = given_value(*dims)
    graph = Graph.of((x,), (program(x),))
    (want,) = evaluate(graph, random(*dims))

    # The reference adds up in f64; fifty f32 added in turn lose a few units of their sizes.
    np.testing.assert_allclose(run(fitted(graph), random(*dims))[0], want, rtol=2e-5, atol=1e-5)


@given(graph=graphs(most_nodes=20, effects=False), seed=st.integers(0, 9))
@settings(deadline=None, max_examples=60)
def test_random_programs(graph: Graph, seed: int) -> None:
    arrays = arguments(graph, seed)

    for got, want in zip(run(fitted(graph), *arrays), evaluate(graph, *arrays), strict=True):
        np.testing.assert_allclose(np.float64(got), np.float64(want), rtol=2e-4, atol=1e-3)


def test_the_loss_of_a_classifier_and_its_gradient_are_one_region() -> None:
    x, t = given_value(50, 10), given_value(50, 10)
    graph = Graph.of((x, t), ops.SoftmaxCrossEntropy().outputs_of(x, t))
    arrays = (random(50, 10), np.eye(50, 10, dtype="float32"))

    assert len(ops_of(fitted(graph))) == 1
    for got, want in zip(run(fitted(graph), *arrays), evaluate(graph, *arrays), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_what_is_known_after_the_last_row_ends_a_region() -> None:
    """The sum of the columns is an output; what reads it is another region."""
    x = given_value(30, 70)
    y = ops.sum(ops.tanh(x), axis=0)
    fused = fitted(Graph.of((x,), (ops.exp(y) - y,)))

    assert ops_of(fused) == [["tanh", "sum"], ["exp", "sub"]]


def test_siblings_read_their_input_once() -> None:
    x = given_value(30, 70)

    assert ops_of(fitted(Graph.of((x,), (ops.tanh(x), ops.exp(x))))) == [["tanh", "exp"]]


def test_numbers_for_a_row_are_computed_before_it_and_numbers_of_a_row_with_it() -> None:
    x, rate = given_value(8), given_value()
    before = fitted(Graph.of((x, rate), (x * ops.exp(rate) + x,)))
    behind = fitted(Graph.of((x, rate), (x - ops.log(ops.sum(ops.exp(x))),)))

    assert ops_of(before) == [["exp"], ["mul", "add"]]
    assert ops_of(behind) == [["exp", "sum", "log", "sub"]]


def test_a_region_has_a_most() -> None:
    x = given_value(8)
    y: Value = x
    for _ in range(100):
        y = ops.tanh(y)

    assert [len(r) for r in ops_of(fitted(Graph.of((x,), (y,))))] == [64, 36]


def test_what_is_no_row_of_one_space_is_refused() -> None:
    """By the rule itself, whoever asks."""
    x, y = given_value(3, 4), given_value(5)
    graph = Graph.of((x, y), (ops.tanh(x), ops.exp(y)))

    with pytest.raises(Refused, match=r"exp of f32\[5\] does not go by rows of \[3, 4\]"):
        C.compile(Fused(graph), [v.type for v in graph.inputs])
    with pytest.raises(Refused, match="only f32 and bool, not f64"):
        C.compile(ops.Tanh(), [TensorType("f64", (3,))])


@pytest.mark.parametrize(
    ("dims", "letter"),
    [((3, 5), "F"), ((3, 1), "R"), ((3,), "R"), ((5,), "C"), ((1, 5), "C"), ((), "S"), ((4,), "")],
)
def test_how_values_lie_in_a_space(dims: tuple[int, ...], letter: str) -> None:
    assert Space((3, 5)).letter(dims) == letter


def kernel_of(graph: Graph) -> Any:
    (node,) = fitted(graph).nodes
    return C.compile(node.op, [v.type for v in node.inputs])


def test_a_row_of_workspace_for_what_a_later_pass_reads() -> None:
    x = given_value(50, 37)

    assert kernel_of(Graph.of((x,), (softmax(x),))).workspace_bytes == 4 * 48
    assert kernel_of(Graph.of((x,), (ops.tanh(x) + x,))).workspace_bytes == 0


def test_an_output_may_overwrite_what_is_read_no_more() -> None:
    """x is read in the last pass of x / sum(x), and y in the first only: of x - y * sum(x y)."""
    x, y = given_value(5, 8), given_value(5, 8)
    scaled = x / ops.sum(x, axis=-1, keepdims=True)
    both = x - ops.sum(x * y, axis=-1, keepdims=True)

    assert kernel_of(Graph.of((x,), (scaled,))).inplace == ((0, 0),)
    assert kernel_of(Graph.of((x, y), (both,))).inplace == ((0, 0), (1, 0))
    assert kernel_of(Graph.of((x,), (ops.sum(x, axis=0),))).inplace == ()
    first = Graph.of((x,), (ops.tanh(x), scaled))
    assert kernel_of(first).inplace == ((0, 1),)  # tanh x is written while x is still to be read


def test_a_region_is_right_in_place() -> None:
    x = given_value(50, 37)
    (node,) = fitted(Graph.of((x,), (softmax(x),))).nodes
    array = aligned(x.type)
    array[...] = random(50, 37)
    C.bind(node, [array], [array])()

    np.testing.assert_allclose(array, softmax_of(random(50, 37)), rtol=1e-5)


def softmax_of(x: Any) -> Any:
    return ops.Softmax(-1).evaluate(x)[0]


X, W = TensorType("f32", (20, 300)), TensorType("f32", (300, 10))


def test_a_constant_matrix_is_packed_once() -> None:
    """Persistent memory where it is a constant, workspace where it is not."""
    plain, packed = C.compile(ops.MatMul(), [X, W]), C.compile(ops.MatMul(), [X, W], frozenset({1}))

    assert (plain.workspace_bytes, plain.persistent_bytes) == (12000, 0)
    assert (packed.workspace_bytes, packed.persistent_bytes) == (0, 12000)
    x, w, y = random(20, 300), random(300, 10), np.empty((20, 10), "float32")
    block = np.zeros(12000, "u1")
    run = packed.bind([x, w], [y], None, block)
    np.testing.assert_array_equal(block.view("f4").reshape(10, 300), w.T)
    run()
    np.testing.assert_allclose(y, x @ w, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("w", [(300, 17), (2, 300, 10)])
def test_other_products_are_left_to_others(w: tuple[int, ...]) -> None:
    with pytest.raises(Refused, match="only products"):
        C.compile(ops.MatMul(), [X, TensorType("f32", w)])


def test_every_run_is_one_call_of_c() -> None:
    x = given_value(3)
    kernel = kernel_of(Graph.of((x,), (ops.exp(ops.tanh(x)),)))
    array = random(3)

    assert kernel.atomic and in_c(kernel.bind([array], [array], None, None))


def training(backends: tuple[Any, ...]) -> tuple[list[float], list[Any]]:
    """Losses and weights of a small classifier that Adam trains."""
    x, t, w, b = given_value(32, 20), given_value(32, 4), given_value(20, 4), given_value(4)
    loss, dlogits = ops.SoftmaxCrossEntropy().outputs_of(x @ w + b, t)
    state = [w, b]
    moments = [Input(v.type) for v in (w, b, w, b)]
    rate, step = Input(TensorType("f32", ())), Input(TensorType("f32", ()))
    gradients = [ops.matmul(x, dlogits, transpose_a=True), ops.sum(dlogits, axis=0)]
    new = ops.Adam(2).outputs_of(*state, *moments, *gradients, rate, step)
    inputs = (x, t, rate, step, *state, *moments)
    store = Store()
    rng = np.random.default_rng(3)
    for i, v in enumerate((*state, *moments)):
        start = rng.standard_normal(v.type.dims) if i < 2 else np.zeros(v.type.dims)
        store.create(f"v{i}", start.astype("float32"))
    variables = tuple(store)
    program = build(
        Graph.of(inputs, (ops.mean(loss), *new)),
        backends=backends,
        variables=variables,
        updates=variables,
    )
    images, labels = random(32, 20), np.eye(4, dtype="float32")[np.arange(32) % 4]
    if backends[0] is C:
        assert "0 bytes copied a run" in explained(program)  # all variables are updated in place
    numbers = [np.float32(i + 1) for i in range(30)]
    losses = [float(program(images, labels, np.float32(0.1), i)[0]) for i in numbers]
    return losses, [v.read() for v in store]


def test_training_is_training_on_numpy() -> None:
    (ours, weights), (theirs, wanted) = training((C, NUMPY)), training((NUMPY,))

    assert ours[-1] < ours[0] / 3
    np.testing.assert_allclose(ours, theirs, rtol=1e-4)
    for got, want in zip(weights, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)


def test_adam_updates_all_in_place() -> None:
    """In one region for each weight: w, m and v go over the old ones."""
    w, m, v, d = (given_value(9, 5) for _ in range(4))
    rate, step = given_value(), given_value()
    graph = Graph.of((w, m, v, d, rate, step), ops.Adam(1).outputs_of(w, m, v, d, rate, step))
    regions = [n for n in fitted(graph).nodes if len(n.outputs) == 3]

    (node,) = regions
    kernel = C.compile(node.op, [x.type for x in node.inputs])
    pairs = {(node.inputs[i], o) for i, o in kernel.inplace}
    assert {(w, o) for o in range(3)} & pairs and kernel.atomic


def counting(array: Any) -> Any:
    """A run that adds one to each element."""
    x = Input(TensorType("f32", array.shape))
    kernel = C.compile(ops.Add(), [x.type, x.type])
    return kernel.bind([array, np.ones_like(array)], [array], None, None)


@pytest.mark.parametrize("warm", [True, False])
def test_a_stretch_is_one_call(warm: bool) -> None:
    array = np.zeros(3, "float32")
    run = C.capture([counting(array) for _ in range(10)], warm)  # type: ignore[misc]

    assert C.stretches and in_c(run) and array.tolist() == [0, 0, 0]  # nothing was run
    run()
    run()
    assert array.tolist() == [20, 20, 20]


def press_ctrl_c_during(run: Any) -> None:
    timer = Timer(0.05, lambda: signal.raise_signal(signal.SIGINT))

    def run_and_wait() -> None:
        timer.start()
        run()
        timer.join()

    with pytest.raises(KeyboardInterrupt):
        run_and_wait()
    timer.join()


def test_ctrl_c_ends_a_long_stretch() -> None:
    """After some milliseconds, and not after all its seconds."""
    array = np.zeros(1 << 20, "float32")

    press_ctrl_c_during(C.capture([counting(array)] * 100_000, True))  # type: ignore[misc]

    assert 0 < array[0] < 100_000 and (array == array[0]).all()


def test_ctrl_c_does_not_come_between_updates() -> None:
    """All variables get their new values, and then the signal is told."""
    array = np.zeros(1 << 20, "float32")

    press_ctrl_c_during(C.capture([counting(array)] * 500, False))  # type: ignore[misc]

    assert (array == 500).all()


def explained(program: Any) -> str:
    text: str = program.explain(width=200)
    return text


def test_programs_have_stretches() -> None:
    """A wide product is NumPy's; before and behind it, two regions each are one call."""
    x, w = given_value(40, 40), given_value(40, 40)
    y = ops.sum(ops.tanh(x), axis=0) * x
    z = y @ w
    graph = Graph.of((x, w), (ops.sum(ops.exp(z), axis=0) - z,))
    program = build(graph, backends=(C, NUMPY), order=None)
    arrays = random(40, 40) / 9, random(40, 40) / 9

    (want,) = evaluate(graph, *arrays)
    assert [step.backend for step in program.steps] == ["c", "c", "numpy", "c", "c"]
    assert "5 steps in 3 calls" in explained(program)
    for _ in range(2):
        np.testing.assert_allclose(program(*arrays)[0], want, rtol=1e-4, atol=1e-5)


def test_programs_keep_packed_constants() -> None:
    w = random(300, 10)
    x = given_value(20, 300)
    program = build(Graph.of((x,), (x @ ops.constant(w),)), backends=(C, NUMPY))

    assert re.search(r"persistent 12,0\d\d bytes", explained(program))
    np.testing.assert_allclose(
        program(random(20, 300))[0], random(20, 300) @ w, rtol=1e-3, atol=1e-4
    )


def test_functions_are_compiled_by_one_call_of_gcc(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All kernels of a program that are not there yet; and kept on disk for the next process."""
    monkeypatch.setenv("ACME_BYPARTS_C_CACHE", str(tmp_path))
    x = given_value(4, 6)
    programs = [ops.log1p(ops.erf(x)), ops.expm1(ops.erf(x)), ops.erf(ops.erf(ops.erf(x)))]
    kernels = [kernel_of(Graph.of((x,), (y,))) for y in programs]
    for kernel in kernels:
        kernel.bind([random(4, 6)], [random(4, 6)], None, None)

    assert len(list(tmp_path.glob("*.so"))) == 1


def test_without_gcc_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(compiler.MissingCompiler, match="no 'gcc' on PATH: install gcc, or set CC"):
        make()


def test_the_hub_tells_so_too() -> None:
    code = "from byparts_graph_ir.parts.hub import parts; parts.backend('c')"
    variables = {**os.environ, "PATH": "/nowhere"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False
    )

    assert "PartError" in done.stderr and "install gcc" in done.stderr


def test_c_that_gcc_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GraphError, match="refuses generated C"):
        compiler.shared_library("void f(void) { nonsense }")
