"""Programs of named dimensions: lowered and compiled once, right at every size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_conformance.programs.named import named_campaign
from byparts_graph_ir import (
    Backend,
    Graph,
    GraphError,
    Input,
    Kernel,
    KernelFamily,
    Refused,
    ShapeError,
    Table,
    TensorType,
    Value,
    specialize,
)
from byparts_graph_ir.passes.sizes import is_sized
from byparts_kernels_numpy import make
from byparts_memplan import plan
from byparts_opset.elementwise import Unary
from byparts_opset.evaluate import evaluate
from byparts_runtime import Executor, SymbolicProgram, Variable, build

SIZES = (3, 0, 1, 7, 64, 5, 3)
ROWS = Input(TensorType("f32", ("n", 4)), name="rows")


def _numbers(*shape: int) -> NDArray[Any]:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def _graph(*inputs: Value, outputs: Sequence[Value]) -> Graph:
    return Graph.of(inputs, outputs)


def _network() -> tuple[Graph, list[NDArray[Any]]]:
    """Softmax of two layers, beside the mean over all rows."""
    w, b = (Input(TensorType("f32", s), name=f"w{s}") for s in ((4, 8), (8,)))
    y = ops.softmax(ops.relu(ROWS @ w + b), axis=-1)
    return _graph(ROWS, w, b, outputs=[y, ops.mean(y)]), [_numbers(4, 8), _numbers(8)]


@pytest.mark.parametrize("backends", [("numpy",), ("native", "numpy")], ids=" ".join)
def test_one_program_serves_every_size(backends: tuple[str, ...]) -> None:
    """Also none and one; a size that was seen again."""
    graph, weights = _network()
    program = build(graph, backends=backends)

    for n in SIZES:
        feeds = [_numbers(n, 4), *weights]
        for got, want in zip(program(*feeds), evaluate(graph, *feeds), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert isinstance(program, SymbolicProgram)
    assert program.feed_types[0] == ROWS.type


def test_a_size_is_a_program_of_its_own() -> None:
    graph, weights = _network()
    program = build(graph)

    assert "512*n" not in program.explain() and "32*n bytes" in program.explain()
    sized = program.at(n=6) if isinstance(program, SymbolicProgram) else program
    assert (
        sized.why == program.why == ("compiled once for every size of f32[n,4], f32[4,8], f32[8]")
    )
    assert sized.feed_types[0] == TensorType("f32", (6, 4))
    assert sized(_numbers(6, 4), *weights)[0].shape == (6, 8)
    assert "sizes: " in program.explain(width=200) and "n = 6" in program.explain(width=200)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({}, r"at\(\): the names of this program are at\(n=\.\.\.\)"),
        ({"m": 3}, r"at\(m=3\): the names of this program are at\(n=\.\.\.\)"),
    ],
)
def test_names_that_are_wrong_are_told(sizes: dict[str, int], message: str) -> None:
    program = build(_network()[0])
    assert isinstance(program, SymbolicProgram)

    with pytest.raises(GraphError, match=message):
        program.at(**sizes)


def test_one_name_of_two_numbers_names_both_feeds() -> None:
    x, y = (Input(TensorType("f32", ("n",)), name=name) for name in "xy")
    program = build(_graph(x, y, outputs=[x + y]))

    with pytest.raises(ShapeError, match="dimension 'n' is 2 at input 'x' and 3 at input 'y'"):
        program(_numbers(2), _numbers(3))


def test_a_name_beside_a_number_may_be_one() -> None:
    """x + y of f32[n] and f32[4] holds for n = 4 and, by broadcasting, for n = 1."""
    x, y = Input(TensorType("f32", ("n",)), name="x"), Input(TensorType("f32", (4,)), name="y")
    program = build(_graph(x, y, outputs=[x + y, x * 2.0]))

    for n in (4, 1):
        np.testing.assert_array_equal(
            program(_numbers(n), _numbers(4))[0], _numbers(n) + _numbers(4)
        )
    with pytest.raises(ShapeError, match="shapes do not broadcast"):
        program(_numbers(3), _numbers(4))


def test_open_dimensions_are_named_by_equality() -> None:
    """Rows and labels of as many; then of two numbers, which only another family is for."""
    x, y = (Input(TensorType("f32", (None,)), name=name) for name in "xy")
    graph, executor = _graph(x, y, outputs=[x + y]), Executor()
    whys = []
    for sizes in ((5, 5), (9, 9), (3, 1)):
        arrays = [_numbers(n) for n in sizes]
        np.testing.assert_array_equal(executor(graph, *arrays)[0], arrays[0] + arrays[1])
        types = tuple([TensorType("f32", a.shape) for a in arrays])
        whys.append(executor.program(graph, types).why)

    assert whys[0] == whys[1] == "compiled once for every size of f32[_size_0], f32[_size_0]"
    assert "f32[?]" in whys[2] or "built for one size" in whys[2]


def test_training_on_batches_of_any_size() -> None:
    """Gradient descent on variables: the same losses as with a program for each size."""
    w = Input(TensorType("f32", (4, 1)), name="w")
    loss = ops.mean(ops.square(ROWS @ w - 1.0))
    (dw,) = gradients(loss, [w])
    graph = _graph(ROWS, w, outputs=[loss, w - 0.1 * dw])
    named, single = Variable("w", _numbers(4, 1)), Variable("w", _numbers(4, 1))
    program = build(graph, variables=[named], updates=[named])

    for n in (8, 8, 3, 1, 8):
        at_size = specialize(graph, [TensorType("f32", (n, 4)), w.type])
        alone = build(at_size, variables=[single], updates=[single])
        np.testing.assert_allclose(program(_numbers(n, 4)), alone(_numbers(n, 4)), rtol=1e-6)
    np.testing.assert_allclose(named.read(), single.read(), rtol=1e-6)


def test_a_name_inside_a_body() -> None:
    """A scan over n rows: its trip count is the name."""
    state, row = Input(TensorType("f32", (4,))), Input(TensorType("f32", (4,)))
    total = state + row
    body = Graph.of([state, row], [total, ops.tanh(total)])
    zero = ops.fill(0.0, shape=(4,))
    last, rows = ops.Scan(body, 1, 1).outputs_of(zero, ROWS)
    graph = _graph(ROWS, outputs=[last, rows])
    program = build(graph)

    for n in SIZES:
        for got, want in zip(program(_numbers(n, 4)), evaluate(graph, _numbers(n, 4)), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6)


def test_a_smaller_size_takes_the_plan_of_a_larger_one() -> None:
    """The planner is asked for 64 and for 100 rows, not for 63 to 50."""
    sizes = []

    def planner(graph: Graph, **facts: Any) -> Any:
        sizes.append(graph.inputs[0].type.dims[0])
        return plan(graph, **facts)

    graph, weights = _network()
    program = build(graph, planner=planner)
    for n in (64, 63, 50, 100, 64):
        program(_numbers(n, 4), *weights)

    assert sizes == [64, 100]


# -- the contract ---------------------------------------------------------------------------------


class _Twice(Unary):
    """y = x * 2, an op that backends of these tests compile."""

    def evaluate(self, x: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        return (x + x,)


def _compiling(compiled: list[str], symbolic: bool) -> Backend:
    """A backend with a rule that compiles `_Twice`, and notes for which types."""
    host = make()
    backend = Backend("compiling", host.view, Table("kernel"))

    def bind(inputs: Any, outputs: Any, *_: Any) -> Any:
        return lambda: np.add(inputs[0], inputs[0], out=outputs[0])

    def rule(op: Any, types: Any, constants: Any) -> Any:
        compiled.append(str(types[0]))
        if types[0].static:
            return Kernel(bind)
        if types[0].rank == 2:
            raise Refused("rows of columns")
        return KernelFamily(lambda op, types: Kernel(bind))

    backend.kernels.compiles(_Twice, symbolic=symbolic)(rule)
    return backend


@pytest.mark.parametrize(
    ("symbolic", "rank", "expected"),
    [
        (True, 1, ["f32[n]"]),
        (True, 2, ["f32[n,3]", "f32[2,3]", "f32[5,3]"]),
        (False, 1, ["f32[2]", "f32[5]"]),
    ],
    ids=["all sizes", "refused", "knows nothing of it"],
)
def test_who_is_asked_for_what(symbolic: bool, rank: int, expected: list[str]) -> None:
    """A rule for all sizes is asked once; one that refuses, and one of a stranger, at each size."""
    compiled: list[str] = []
    shape = ("n", 3)[:rank]
    x = Input(TensorType("f32", shape), name="x")
    graph = _graph(x, outputs=_Twice().outputs_of(x))
    program = build(graph, backends=(_compiling(compiled, symbolic), "numpy"))

    for n in (2, 5, 2):
        rows = _numbers(*(n, 3)[:rank])
        np.testing.assert_array_equal(program(rows)[0], rows + rows)
    assert compiled == expected


def test_a_rule_that_gives_something_else_is_named() -> None:
    backend = Backend("wrong", make().view, Table("kernel"))
    backend.kernels.compiles(_Twice, symbolic=True)(lambda *_: Kernel(lambda *_: print))
    x = Input(TensorType("f32", ("n",)), name="x")

    with pytest.raises(GraphError, match="return a KernelFamily, or raise Refused"):
        backend.family(_Twice(), [x.type])


def test_two_examples_of_a_convolution_by_steps_of_two_are_enough() -> None:
    """The shape rule says (n-1)//2, where 16 and 17 alone say n - 9."""
    run, w = Executor(backends=("numpy",)), np.ones((4, 3, 3, 3), np.float32)
    whys = []
    for n in (16, 17, 19, 64):
        x, filter = (Input(TensorType("f32", s)) for s in ((2, 3, n, 8), w.shape))
        graph = _graph(x, filter, outputs=[ops.relu(ops.conv2d(x, filter, (2, 2)))])
        program, image = run.program(graph), _numbers(2, 3, n, 8)
        (y,) = program(image, w)
        np.testing.assert_allclose(y, evaluate(graph, image, w)[0], rtol=1e-4, atol=1e-5)
        whys.append(program.why)

    said = "compiled once for every size of f32[2,3,_size_0,8], f32[4,3,3,3]"
    assert whys[1:] == [said] * 3


def test_a_region_of_names_between_ends_of_numbers_is_for_all_sizes() -> None:
    """A sum over what a number was broadcast to; the ends of its region have no name."""
    total = ops.sum(ops.broadcast_to(ops.sum(ROWS), ("n", 2)) * 0.5)
    program = build(_graph(ROWS, outputs=[total]), backends=("native", "numpy"))

    assert program.why == "compiled once for every size of f32[n,4]"
    for n in SIZES:
        x = _numbers(n, 4)
        np.testing.assert_allclose(program(x)[0], n * x.sum(), rtol=1e-4, atol=1e-4)


# -- random programs ------------------------------------------------------------------------------


@pytest.mark.parametrize("backends", [("numpy",), ("native", "numpy")], ids=" ".join)
def test_random_programs_of_a_named_dimension(backends: tuple[str, ...]) -> None:
    """Each at six sizes, 0 and 1 among them, whichever comes first."""
    report = named_campaign(backends, 30 if backends == ("numpy",) else 5)

    assert not report.failures, str(report)
    assert report.shared or backends != ("numpy",)


@pytest.mark.long
@pytest.mark.parametrize("backends", [("numpy",), ("native", "numpy")], ids=" ".join)
def test_hundreds_of_programs_of_a_named_dimension(backends: tuple[str, ...]) -> None:
    report = named_campaign(backends, 500 if backends == ("numpy",) else 100, 1000)

    assert not report.failures, str(report)


LOSSES = {
    "mean of squares": lambda y: ops.mean((y - 0.5) ** 2),
    "sum of squares": lambda y: ops.sum(y * y),
    "softmax over rows": lambda y: ops.sum(ops.softmax(y, axis=0) ** 2),
    "mean of columns": lambda y: ops.sum(ops.mean(y, (1,)) ** 3),
    "reshaped": lambda y: ops.mean(ops.reshape(y, (-1,)) ** 2),
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("backends", [("numpy",), ("native", "numpy")], ids=" ".join)
def test_a_step_of_training_is_for_every_batch(loss: str, backends: tuple[str, ...]) -> None:
    """Gradients read shapes and counts of what has names ("broadcast as that", "how many")."""
    w = Input(TensorType("f32", (4, 3)), name="w")
    value = LOSSES[loss](ops.relu(ROWS @ w) + ROWS[:, :1])
    (dw,) = gradients(value, [w])
    graph = _graph(ROWS, w, outputs=[value, w - dw * 0.1])
    weight, wanted = Variable("w", _numbers(4, 3)), _numbers(4, 3)
    program = build(graph, variables=[weight], updates=[weight], backends=backends)

    assert program.why == "compiled once for every size of f32[n,4]"
    for n in (3, 1, 7, 64, 3):
        (got,) = program(_numbers(n, 4))
        at_n = specialize(graph, [TensorType("f32", (n, 4)), w.type])
        total, wanted = evaluate(at_n, _numbers(n, 4), wanted)
        np.testing.assert_allclose(got, total, rtol=1e-5)
        np.testing.assert_allclose(weight.read(), wanted, rtol=1e-4, atol=1e-6)


def test_a_node_that_is_refused_for_all_sizes_goes_to_the_next_backend() -> None:
    """And not the whole program: `why` says that nothing is compiled again."""
    asked = []

    def refuses(op: Any, types: Any, constants: Any) -> Any:
        asked.append(types)
        if not types[0].static:
            raise Refused("numbers alone")
        return Kernel(lambda inputs, outputs, *_: lambda: np.exp(inputs[0], out=outputs[0]))

    some = Backend("some", make().view, Table("kernel"))
    some.kernels.compiles(ops.Exp, symbolic=True)(refuses)
    graph = _graph(ROWS, outputs=[ops.exp(ROWS * 2.0)])
    program = build(graph, backends=(some, "numpy"))

    np.testing.assert_allclose(program(_numbers(5, 4))[0], np.exp(_numbers(5, 4) * 2))
    assert program.why == "compiled once for every size of f32[n,4]"
    assert len(asked) == 1
    alone = build(_graph(ROWS, outputs=[ops.exp(ROWS)]), backends=(some,))
    np.testing.assert_array_equal(alone(_numbers(5, 4))[0], np.exp(_numbers(5, 4)))
    assert alone.why.startswith(
        "compiled once for every size of f32[n,4], but for each size anew exp: (f32[n,4])"
    )


def test_names_of_the_runtime_are_refused() -> None:
    x = Input(TensorType("f32", ("_size_0", 4)), name="x")
    graph = _graph(x, outputs=[x * 2.0])

    message = "dimension '_size_0' of f32.* names that begin with '_size_' are given by the runtime"
    with pytest.raises(GraphError, match=message):
        build(graph, backends=("numpy",))
    with pytest.raises(GraphError, match=message):
        Executor(backends=("numpy",))(graph, _numbers(2, 4))


def test_a_number_inside_a_body_may_be_an_expression_of_names() -> None:
    """The types in the body are those of one number; the number of rows is a field of an op."""
    y = Input(TensorType("f32", ()), name="y")
    body = Graph.of([y], [y * ops.Fill("_size_0")()])
    node = ops.Call(body)(Input(TensorType("f32", ()))).node

    assert node is not None and not is_sized(node)


def test_a_pass_that_fails_on_names_is_told() -> None:
    """Not in silence, since each size is compiled then."""

    def numbers_alone(graph: Graph) -> Graph:
        graph.inputs[0].type.shape[0] + 0  # type: ignore[operator,index]
        return graph

    with pytest.warns(
        RuntimeWarning, match="each size is built by itself, .* there is a TypeError"
    ):
        program = build(_graph(ROWS, outputs=[ROWS * 2.0]), passes=(numbers_alone,))
    np.testing.assert_array_equal(program(_numbers(2, 4))[0], _numbers(2, 4) * 2)


@pytest.mark.parametrize("backends", [("numpy",), ("native", "numpy")], ids=" ".join)
def test_tokens_are_decoded_by_one_program(backends: tuple[str, ...]) -> None:
    """Attention over the first rows of a cache, how many is a value; from Python, and in a loop."""
    rows, width, count = 16, 4, 12
    token = Input(TensorType("f32", (1, width)), name="token")
    n = Input(TensorType("i64", ()), name="n")
    cache = Input(TensorType("f32", (rows, width)), name="cache")

    def step(x: Value, n: Value, cache: Value) -> tuple[Value, Value, Value]:
        cache = ops.scatter(cache, ops.reshape(n, (1,)), x)
        seen = ops.arange(0, rows, dtype="i64") <= n
        scores = ops.where(seen, x @ ops.transpose(cache, (1, 0)), ops.fill(-np.inf))
        return ops.tanh(ops.softmax(scores, -1) @ cache + x), n + 1, cache

    first, written = _numbers(1, width), np.zeros((rows, width), np.float32)
    y, _, new = step(token, n, cache)
    graph, variable = _graph(token, n, cache, outputs=[y, new]), Variable("cache", written)
    run, x, past = Executor(backends=backends), first, np.empty((0, width), np.float32)
    for i in range(count):
        past = np.concatenate([past, x])
        weights = np.exp(x @ past.T)
        wanted = np.tanh(weights @ past / weights.sum() + x)
        (x,) = run(graph, x, np.int64(i), variables=[variable], updates=[variable])
        np.testing.assert_allclose(x, wanted, rtol=1e-5)
    assert run.statistics.misses == 1

    whole = ops.while_loop(lambda x, n, cache: n < count, step, (token, ops.fill(0, "i64"), cache))
    looped = build(_graph(token, cache, outputs=[whole[0], whole[2]]), backends=backends)
    last, filled = looped(first, written)
    np.testing.assert_allclose(last, x, rtol=1e-4)
    np.testing.assert_allclose(filled, variable.read(), rtol=1e-4)


def test_a_size_that_is_called_often_is_compiled_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a fixed call; the other sizes stay as they are."""
    monkeypatch.setattr("byparts_runtime.run.change.estimate", lambda loaded: (2, 3))
    graph, weights = _network()
    program = build(graph, backends=("native", "numpy"))
    assert isinstance(program, SymbolicProgram)

    for n in (5, 5, 9, 5):
        feeds = [_numbers(n, 4), *weights]
        for got, want in zip(program(*feeds), evaluate(graph, *feeds), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    alone = "changed to 'native' for this size alone, at call 3 or when bound"
    assert str(program.at(n=5).change) == alone
    assert "at call 3 (from call 2 on" in str(program.at(n=9).change)
    x, w, b = (np.ascontiguousarray(a) for a in (_numbers(9, 4), *weights))
    np.testing.assert_allclose(program.bind(x, w, b)()[0], evaluate(graph, x, w, b)[0], rtol=1e-5)
    assert str(program.at(n=9).change) == alone


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_programs_that_are_compiled_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each size three times, the third time on kernels of numbers; updates and draws go on."""
    monkeypatch.setattr("byparts_runtime.run.change.estimate", lambda loaded: (2, 3))
    report = named_campaign(("native", "numpy"), 15, 9000, times=3)

    assert not report.failures, str(report)
    assert report.shared > report.sizes // 3


@pytest.mark.parametrize("backends", [("numpy",), ("native", "numpy")], ids=" ".join)
def test_draws_are_those_of_one_size(backends: tuple[str, ...]) -> None:
    """To the bit: dropout in the shape of an input, and numbers of a shape with a name."""
    counter = Input(TensorType("i64", ()), name="counter")
    normal = ops.random_normal(3, counter, ("n", 4))
    dropped = ops.dropout(ROWS, 7, counter, 0.5)
    graph = _graph(ROWS, counter, outputs=[dropped, normal * ROWS])
    program = build(graph, backends=backends)

    assert program.why == "compiled once for every size of f32[n,4], i64[]"
    for n in (3, 0, 1, 65):
        alone = build(
            specialize(graph, [TensorType("f32", (n, 4)), counter.type]), backends=backends
        )
        for k in (0, 5):
            feeds = _numbers(n, 4), np.int64(k)
            for got, want in zip(program(*feeds), alone(*feeds), strict=True):
                np.testing.assert_array_equal(got, want)
