"""Kernels for all sizes of named dimensions, against `evaluate` at each size."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from families import SIZES, as_region, check, family_of, inputs_of, run

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, Node, Refused, ShapeError, TensorType, Value, with_sizes
from byparts_kernels_native import code, make
from byparts_kernels_native.regions import region_family

EMITTERS = ("c", "llvm")
FLOAT_TYPES = ("f32", "f64", "f16", "bf16")
INTEGER_TYPES = ("i4", "i8", "i16", "i32", "i64", "u8")


def given(*shape: int | str, dtype: str = "f32") -> Input:
    return Input(TensorType(dtype, shape))


@pytest.fixture(params=EMITTERS)
def emitter(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "llvm":
        pytest.importorskip("llvmlite")
    monkeypatch.setenv("BYPARTS_EMITTER", request.param)
    return str(request.param)


def softmax(x: Value) -> Value:
    e = ops.exp(x - ops.max(x, -1, keepdims=True))
    return e / ops.sum(e, -1, keepdims=True)


def normalized(x: Value) -> Value:
    centred = x - ops.mean(x, -1, keepdims=True)
    return centred / ops.sqrt(ops.mean(centred * centred, -1, keepdims=True) + 1e-3)


def of_floats(dtype: str) -> list[Graph]:
    """Regions of `n`, and of `n` and `m`."""
    x, y, z = given("n", 4, dtype=dtype), given("m", 4, dtype=dtype), given("n", dtype=dtype)
    w, q = given(1, "n", 128, dtype=dtype), given(8, "n", dtype=dtype)
    return [
        Graph.of([w], [normalized(w)]),
        Graph.of([x, z], [ops.reshape(z, ("n", 1)) * x, ops.sum(x)]),
        Graph.of([q], [ops.tanh(q) * ops.sum(q, -1, keepdims=True)]),
        Graph.of([x, y], [ops.concat([x, y], 0)]),
        Graph.of([x], [ops.mean(x, 0), ops.pad(x, ((1, 2), (0, 0)), 7)]),
        Graph.of([x], [ops.Transpose((1, 0))(x) + 1.0]),
        Graph.of([x], [ops.relu(x) + ops.reverse(x, (0,))]),
        Graph.of([x], [ops.tile(x * 2.0, (3, 1))]),
        Graph.of([x], [ops.sum(x, (0, 1)), ops.prod(x, 0)]),
    ]


@pytest.mark.parametrize("dtype", FLOAT_TYPES)
def test_regions_of_floats_at_all_sizes(dtype: str, emitter: str) -> None:
    """What is made once computes what the ops do at each size, in place where that is offered."""
    graphs = list(map(as_region, of_floats(dtype)))
    families = list(map(family_of, graphs))
    assert all(f.shared for f in families)
    for graph, family in zip(graphs, families, strict=True):
        for n in SIZES:
            check(graph, family, n=n, m=5 if n else 0)


@pytest.mark.parametrize("dtype", INTEGER_TYPES)
def test_regions_of_integers_at_all_sizes(dtype: str, emitter: str) -> None:
    x, z = given("n", 3, dtype=dtype), given("n", 1, dtype=dtype)
    graphs = [
        as_region(Graph.of([x, z], [ops.abs(x) + z, ops.sum(x, 0)])),
        as_region(Graph.of([x, z], [ops.concat([x, z], 1), ops.less(x, z)])),
    ]
    families = list(map(family_of, graphs))
    for graph, family in zip(graphs, families, strict=True):
        for n in SIZES:
            check(graph, family, n=n)


@pytest.mark.parametrize("n", [n for n in SIZES if n])
def test_softmax_over_a_named_dimension(n: int, emitter: str) -> None:
    """The exponentials of a row stand in the workspace, whose bytes depend on the size."""
    q = given(8, "n")
    graph = as_region(Graph.of([q], [softmax(q)]))
    kernel = check(graph, family_of(graph), n=n)
    assert kernel.workspace_bytes == -(-n * 4 // 64) * 64


def test_one_function_serves_all_sizes() -> None:
    """Nothing is emitted for a size that was not seen."""
    x = given("n", 11)
    graph = as_region(Graph.of([x], [ops.exp(x) * ops.mean(x, 0, keepdims=True)]))
    family = family_of(graph)
    before = len(code.sources)
    for n in (3, 5, 1000):
        check(graph, family, n=n)
    assert len(code.sources) == before


def test_a_long_sum_is_as_exact_as_one_of_a_known_length(emitter: str) -> None:
    """Ones after the 16,777,216th would be lost if they were added in turn."""
    x = given("n")
    graph = as_region(Graph.of([x], [ops.sum(x)]))
    sized = with_sizes(graph, {"n": 20_000_000})
    kernel = family_of(graph).at(sized.nodes[0].op, [sized.inputs[0].type])
    total = np.zeros((), np.float32)
    run(kernel, [np.ones(20_000_000, np.float32)], [total])
    assert total == 20_000_000


@pytest.mark.parametrize(
    "make",
    [
        lambda: ops.Slice((1,), (None,))(given("n", 4)),
        lambda: given("n", 4) + given(5, 4),
        lambda: given("n", 4) + given("m", 4),
        lambda: ops.sum(ops.broadcast_to(given(4), ("n", 4)), 0),
    ],
)
def test_what_depends_on_a_number_is_refused(make: Callable[[], Value]) -> None:
    """A slice has other bounds for small sizes; n may be 1, and broadcast; or follows from nothing."""
    y = make()
    nodes = [y.node] if y.node else []
    inputs = [v for v in nodes[0].inputs if isinstance(v, Input)] if nodes else []
    inputs = inputs or [v for v in nodes[0].inputs[0].node.inputs if isinstance(v, Input)]  # type: ignore[union-attr]
    with pytest.raises((Refused, ShapeError)):
        region_family(Graph.of(inputs, [y]))


UNARY = (ops.exp, ops.tanh, ops.neg, ops.relu, ops.sigmoid, ops.square, ops.abs)
BINARY = (ops.add, ops.sub, ops.mul, ops.maximum)


def random_region(random: Random) -> Graph:
    """Elementwise ops, broadcasts, reductions and movements of matrices of named dimensions."""
    shapes_of: list[tuple[int | str, int | str]]
    shapes_of = [("n", 5), ("n", 64), (3, "n"), ("n", "m"), (17, "2*n")]
    rows, columns = random.choice(shapes_of)
    shapes: list[tuple[int | str, ...]] = [(rows, columns), (columns,), (rows, 1), ()]
    inputs = [given(*s) for s in shapes]
    values: list[Value] = list(inputs)
    for _ in range(random.randrange(2, 10)):
        x, y = random.choice(values), random.choice(values)
        kind = random.choice(["unary", "binary", "binary", "reduce", "move", "select"])
        if kind == "unary":
            values.append(random.choice(UNARY)(x))
        elif kind == "reduce" and x.type.rank == 2:
            axes = random.choice([(0,), (1,), (0, 1)])
            values.append(random.choice([ops.sum, ops.mean])(x, axes, keepdims=True))
        elif kind == "move" and x.type.rank == 2:
            both = ops.reverse(x, (0,)), ops.concat([x, x], 0)
            values.append(random.choice(both))
        else:
            made = random.choice(BINARY)(x, y)
            if made.type.shape is None or None in made.type.shape:
                continue
            values.append(ops.select(ops.less(x, y), x, y) if kind == "select" else made)
    made_values = [v for v in values[len(inputs) :]]
    return Graph.of(inputs, made_values[-random.randrange(1, 4) :] or [ops.neg(inputs[0])])


def test_random_regions_at_all_sizes(emitter: str) -> None:
    """Most are taken for all sizes; each is right at each of them."""
    graphs = [as_region(random_region(Random(seed))) for seed in range(60)]
    families = [family_of(g) for g in graphs]
    taken = [(g, f) for g, f in zip(graphs, families, strict=True) if f.shared]
    assert len(taken) > 40
    for graph, family in taken:
        for n in SIZES:
            check(graph, family, n=n, m=n % 5)


@pytest.mark.parametrize("dtype", [*FLOAT_TYPES, "i32", "i64"])
def test_products_at_all_sizes(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any of the three extents has a name; b in panels made before, or not."""
    monkeypatch.setenv("BYPARTS_EMITTER", "c")
    graphs = []
    for left, right in ((False, False), (True, False), (False, True), (True, True)):
        for m, k, n in (("n", 19, 70), (5, "n", 33), (13, 7, "n"), ("n", "m", 40)):
            a, b = (m, k)[:: -1 if left else 1], (k, n)[:: -1 if right else 1]
            x, w = given(*a, dtype=dtype), given(*b, dtype=dtype)
            graphs.append(Graph.of([x, w], [ops.MatMul(left, right)(x, w)]))
    families = [family_of(g, c) for g in graphs for c in (frozenset[int](), frozenset([1]))]
    assert all(f.shared for f in families)
    for i, family in enumerate(families):
        for size in SIZES:
            check(graphs[i // 2], family, n=size, m=9)


def test_products_with_leading_axes_and_what_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leading axes have names, too; a sum goes into the bytes of what it is added to."""
    monkeypatch.setenv("BYPARTS_EMITTER", "c")
    x, y, c = given("n", 3, "m"), given("n", "m", 20), given("m", 20)
    u, v = given("m", 7), given(7, 20)
    graphs = [
        Graph.of([x, y], [ops.MatMul()(x, y)]),
        Graph.of([x, c], [ops.MatMul()(x, c)]),
        Graph.of([c, u, v], [ops.AddMatmul(scale=-0.5)(c, u, v)]),
    ]
    for graph in graphs:
        family = family_of(graph)
        assert family.shared
        for n, m in ((0, 2), (1, 1), (2, 0), (5, 65)):
            check(graph, family, n=n, m=m)


@pytest.mark.parametrize("causal", [False, True])
def test_attention_at_all_sizes(causal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_EMITTER", "c")
    q, k, v = (given(1, 2, "n", d) for d in (16, 16, 24))
    y = ops.attention(q, k, v, causal=causal)
    graph = Graph.of([q, k, v], y.node.outputs if y.node else [y])
    family = family_of(graph)
    assert family.shared
    for n in (1, 2, 7, 64, 257):
        check(graph, family, n=n)


def test_names_are_words_of_other_languages(emitter: str) -> None:
    """A name of C, of our own code, or of letters that C does not have."""
    for name in ("int", "in0", "i1", "größe", "a"):
        x = given(name, 3)
        graph = as_region(Graph.of([x], [ops.exp(x)]))
        check(graph, family_of(graph), **{name: 5})


def test_inputs_are_the_same_in_each_process() -> None:
    x = given(3)
    graph = Graph.of([x], [ops.exp(x)])
    np.testing.assert_array_equal(inputs_of(graph)[0], inputs_of(graph)[0])


def test_a_region_is_not_joined_where_a_name_may_be_one() -> None:
    """Nothing is refused after regions are made: what needs a number stays out of them."""
    x, y, z = given("n", 4), given(5, 4), given("n", 4)
    wants = make().wants
    assert wants is not None
    nodes = [v.node for v in (x + y, x + z, ops.Slice((1,), (None,))(x)) if v.node]
    assert [wants(node) for node in nodes] == [False, True, False]


def test_rows_are_gathered_at_all_sizes() -> None:
    """Of named dimensions NumPy does it: nothing is compiled for a size."""
    x, i = given(11, 5), Input(TensorType("i64", (2, "n")))
    graph = Graph.of([x, i], [ops.gather(x, i)])
    family = family_of(graph)
    assert family.shared
    for n in SIZES:
        check(graph, family, n=n)


@pytest.mark.parametrize("dtype", FLOAT_TYPES)
def test_draws_at_all_sizes_are_those_of_one_size(dtype: str, emitter: str) -> None:
    """Blocks are counted, so a size takes the bits that `evaluate` takes, its last block in part."""
    key, counter = (Input(TensorType("i64", ())) for _ in range(2))
    for op in (
        ops.RandomUniform(("n", 3), dtype),
        ops.RandomNormal(("2*n", 3), dtype),
        ops.TruncatedNormal((3, "n"), dtype),
        ops.Bernoulli(0.3, ("n", 3)),
    ):
        graph = Graph.of([key, counter], Node(op, (key, counter)).outputs)
        family = family_of(graph)
        for n in SIZES:
            check(graph, family, n=n)


def test_a_draw_like_an_array_of_any_size(emitter: str) -> None:
    """The shape is that of the last input, of which nothing is read."""
    op, number = ops.RandomUniform(None), TensorType("i64", ())
    family = make().family(op, [number, number, TensorType("f32", ("n", 3))], frozenset())
    for n in SIZES:
        arrays = [np.array(5), np.array(9), np.zeros((n, 3), np.float32)]
        y = np.full((n, 3), 7, np.float32)
        run(family.at(op, [number, number, TensorType("f32", (n, 3))]), arrays, [y])
        np.testing.assert_array_equal(op.evaluate(*arrays)[0], y)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_attention_of_halves_at_all_sizes(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of f32 are cast by one function for all sizes; nothing is compiled for a size."""
    monkeypatch.setenv("BYPARTS_EMITTER", "c")
    q, k, v = (given(1, 2, "n", 16, dtype=dtype) for _ in range(3))
    y = ops.attention(q, k, v)
    graph = Graph.of([q, k, v], y.node.outputs if y.node else [y])
    family = family_of(graph)
    check(graph, family, n=3)
    before = len(code.sources)
    for n in (1, 2, 7, 64):
        check(graph, family, n=n)
    assert len(code.sources) == before
