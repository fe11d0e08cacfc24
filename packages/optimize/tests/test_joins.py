"""Regions that a backend lets grow or not, siblings, and what happens to those that it refuses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Optional

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import byparts_opset as ops
from byparts_conformance.graphs import arguments, graphs
from byparts_graph_ir import (
    Backend,
    Fused,
    Graph,
    GraphError,
    Input,
    Kernel,
    Node,
    Refused,
    Region,
    TensorType,
    parted,
    stays_whole,
    verify,
)
from byparts_opset.evaluate import evaluate
from byparts_optimize import fuse, legalize
from byparts_optimize.grow import Joins


def given_value(name: str, *dims: int) -> Input:
    return Input(TensorType("f32", dims or (2, 2)), None, name)


def elementwise(node: Node) -> bool:
    return node.op.pattern == "elementwise"


def regions(graph: Graph) -> list[list[str]]:
    """The ops of each region."""
    found = (n.op for n in graph.nodes if isinstance(n.op, Fused))
    return [[n.op.name for n in op.graph.nodes] for op in found]


def up_to(most: int) -> Joins:
    """Regions of so many nodes, all of the same type, which the summary keeps."""

    def joins(a: Region, b: Region) -> Optional[Region]:
        space, other = a.summary or a.nodes[0].outputs[0].type, b.summary or type_of(b)
        return a.joined(b, space) if space == other and a.size + b.size <= most else None

    return joins


def type_of(region: Region) -> TensorType:
    return region.nodes[0].outputs[0].type


def chain(length: int) -> Graph:
    x = given_value("x")
    y = ops.tanh(x)
    for _ in range(length - 1):
        y = ops.tanh(y)
    return Graph.of((x,), (y,))


def test_a_backend_limits_the_size() -> None:
    limited = verify(fuse(chain(7), elementwise, up_to(3)))

    assert [len(r) for r in regions(limited)] == [3, 3] and len(limited.nodes) == 3


def test_a_product_and_the_sum_that_alone_reads_it() -> None:
    """c + x w is one region, unless somebody else reads x w."""

    def joins(a: Region, b: Region) -> Optional[Region]:
        pair = a.size == b.size == 1 and type(a.nodes[0].op) is ops.MatMul
        sums = type(b.nodes[0].op) is ops.Add and a.only_read_in(b, a.nodes[0].outputs[0])
        return a.joined(b) if pair and sums else None

    x, w, c = map(given_value, "xwc")
    y = x @ w
    mine, shared = Graph.of((x, w, c), (c + y,)), Graph.of((x, w, c), (c + y, y))

    assert regions(fuse(mine, lambda node: True, joins)) == [["matmul", "add"]]
    assert fuse(shared, lambda node: True, joins) is shared


def test_siblings_are_joined_where_the_backend_agrees() -> None:
    """tanh x and sin x read x once then.  Without `joins`, only edges count."""
    x = given_value("x")
    graph = Graph.of((x,), (ops.tanh(x), ops.sin(x)))

    assert regions(verify(fuse(graph, elementwise, up_to(9)))) == [["tanh", "sin"]]
    assert fuse(graph, elementwise) is graph
    assert fuse(graph, elementwise, lambda a, b: None) is graph


def test_what_shares_no_input_is_no_sibling() -> None:
    x, y = given_value("x"), given_value("y")
    graph = Graph.of((x, y), (ops.tanh(x), ops.sin(y)))

    assert fuse(graph, elementwise, up_to(9)) is graph


def test_a_number_makes_no_siblings() -> None:
    """Updates of several weights share the learning rate, and may run one after the other."""
    w, x, rate = given_value("w"), given_value("x"), given_value("rate", 1)
    graph = Graph.of((w, x, rate), (w * rate, x * rate))

    assert fuse(graph, elementwise, up_to(9)) is graph


def test_siblings_with_a_path_between_them_stay_apart() -> None:
    """tanh x, and x + (tanh x) @ x: the product would have to be inside."""
    x = given_value("x")
    y = ops.tanh(x)
    graph = Graph.of((x,), (x + y @ x,))

    assert fuse(graph, elementwise, up_to(9)) is graph


def test_edges_come_before_siblings() -> None:
    """Of two nodes that a third may be joined with, it takes the one that it reads."""
    x = given_value("x")
    graph = Graph.of((x,), (ops.sin(x), ops.cos(ops.tanh(x)) * 2))

    assert regions(fuse(graph, elementwise, up_to(2)))[0] == ["tanh", "cos"]


def test_a_join_of_siblings_may_open_the_way_for_an_edge() -> None:
    """`neg` joins `tanh` only in company: first the sibling of tanh, then the edge."""

    def joins(a: Region, b: Region) -> Optional[Region]:
        lonely = a.size == 1 and b.nodes[0].op.name == "neg"
        return None if lonely else a.joined(b)

    x = given_value("x")
    graph = Graph.of((x,), (ops.sin(x), -ops.tanh(x)))

    assert [sorted(r) for r in regions(fuse(graph, elementwise, joins))] == [["neg", "sin", "tanh"]]


def test_a_long_chain_asks_each_question_once() -> None:
    asked: Counter[int] = Counter()

    def joins(a: Region, b: Region) -> Region:
        asked[a.size] += 1
        return a.joined(b)

    fuse(chain(3000), elementwise, joins)
    assert asked.total() == 2999


@pytest.mark.parametrize("wrong", [True, (), Region])
def test_an_answer_that_is_no_join_is_an_error(wrong: Any) -> None:
    def joins(a: Region, b: Region) -> Any:
        return b.joined(a) if wrong is Region else wrong

    with pytest.raises(
        GraphError, match=r"joins\(Region\(tanh\), Region\(tanh\)\) gave .*a\.joined"
    ):
        fuse(chain(2), elementwise, joins)


def test_a_refused_region_becomes_halves() -> None:
    whole = fuse(chain(8), elementwise)
    refused = {node.op for node in whole.nodes}

    again = fuse(parted(whole, lambda n: n.op in refused), elementwise, refused=refused)

    assert [len(r) for r in regions(verify(again))] == [4, 4]


def test_halves_may_be_refused_in_turn() -> None:
    """As by a backend that takes nothing in the end: log2(n) rounds."""
    graph, refused, rounds = chain(8), set[Any](), 0
    while new := {n.op for n in fused(graph, refused).nodes if isinstance(n.op, Fused)}:
        graph = parted(fused(graph, refused), lambda n: True)
        refused |= new
        rounds += 1

    assert rounds == 3 and graph == chain(8)


def fused(graph: Graph, refused: set[Any]) -> Graph:
    return fuse(graph, elementwise, refused=refused)


def test_a_refused_region_of_one_node_is_a_node() -> None:
    always: Callable[[Node], bool] = lambda node: True  # noqa: E731
    lone = fuse(chain(1), elementwise, alone=always)

    again = fuse(chain(1), elementwise, alone=always, refused={lone.nodes[0].op})

    assert regions(lone) == [["tanh"]] and again == chain(1)


def test_only_what_is_refused_is_parted() -> None:
    x, y = given_value("x"), given_value("y")
    graph = Graph.of((x, y), (-ops.tanh(x), -ops.sin(y)))
    whole = fuse(graph, elementwise)

    some = parted(whole, lambda n: any(m.op.name == "sin" for m in n.op.graph.nodes))  # type: ignore[attr-defined]

    assert [n.op.name for n in some.nodes] == ["fused", "sin", "neg"]
    assert parted(whole, lambda n: True) == graph


def test_parted_nodes_are_legalized_and_regions_are_not() -> None:
    """Nobody has sigmoid, which is wanted in a region: its place is there, or it is decomposed."""
    x, y = given_value("x"), given_value("y")
    graph = Graph.of((x, y), (-ops.sigmoid(x), ops.tanh(ops.sigmoid(y))))
    whole = fuse(graph, elementwise)
    some = parted(whole, lambda n: any(m.op.name == "neg" for m in n.op.graph.nodes))  # type: ignore[attr-defined]

    legal = legalize(some, lambda n: n.op.name != "sigmoid")

    assert regions(legal) == [["sigmoid", "tanh"]]
    assert "sigmoid" not in [n.op.name for n in legal.nodes] and len(legal.nodes) > 3


def test_regions_are_refused_until_all_compile() -> None:
    """Legalize, fuse, compile; what does not compile is parted, and all that again.

    The backend compiles regions of at most two nodes, and no sigmoid, which it wants all the same.
    """
    backend = Backend("made", lambda memory, offset, type: None, wants=elementwise)

    @backend.kernels.compiles(Fused)
    def compile_region(op: Fused, types: Any, constants: Any) -> Kernel:
        if len(op.graph.nodes) > 2 or "sigmoid" in [n.op.name for n in op.graph.nodes]:
            raise Refused("too large, or sigmoid")
        return Kernel(lambda *blocks: lambda: None)

    x = given_value("x")
    graph = Graph.of((x,), (ops.sigmoid(ops.tanh(ops.tanh(x))),))
    refused: set[Any] = set()
    while True:
        legal = legalize(graph, lambda n: stays_whole(n, [backend], refused))  # noqa: B023
        graph = fuse(legal, elementwise, alone=elementwise, refused=refused)
        new = {n.op for n in graph.nodes if isinstance(n.op, Fused) and not compiles(backend, n)}
        if not new:
            break
        refused |= new
        graph = parted(graph, refused_by(new))

    made = [r for r in regions(graph) if "sigmoid" not in r]
    assert len(made) == len(regions(graph)) and max(map(len, made)) == 2
    assert sorted(n for r in made for n in r) == [
        "abs",
        "add",
        "div",
        "exp",
        "fill",
        "fill",
        "less",
        "neg",
        "select",
        "tanh",
        "tanh",
    ]


def compiles(backend: Backend, node: Node) -> bool:
    try:
        backend.compile(node.op, [v.type for v in node.inputs])
    except Refused:
        return False
    return True


NAMES = ["add", "sub", "mul", "tanh", "sin", "cos", "neg", "sum", "matmul", "select", "square"]
WANTED = st.sets(st.sampled_from(NAMES))
SIZES = st.integers(1, 6)


@given(graph=graphs(most_nodes=20), names=WANTED, most=SIZES)
@settings(deadline=None, max_examples=100)
def test_a_region_knows_what_goes_in_and_out(graph: Graph, names: set[str], most: int) -> None:
    """Brute force, of each region that could be."""

    def joins(a: Region, b: Region) -> Optional[Region]:
        made = up_to(most)(a, b)
        if made is not None:
            _check_bounds(made, graph)
        return made

    fuse(graph, lambda n: n.op.name in names, joins)


def _check_bounds(region: Region, graph: Graph) -> None:
    inside, outside = set(region.nodes), set(graph.nodes) - set(region.nodes)
    mine = {v for n in inside for v in n.outputs}
    here = Counter(v for n in inside for v in n.inputs if v not in mine)
    there = Counter(v for n in outside for v in n.inputs if v in mine)
    there.update(v for v in graph.outputs if v in mine)
    assert (region.inputs, region.outputs, region.size) == (here, there, len(inside))


@given(graph=graphs(most_nodes=20), names=WANTED, most=SIZES, seed=st.integers(0, 9))
@settings(deadline=None, max_examples=150)
def test_joins_keep_values_and_are_respected(
    graph: Graph, names: set[str], most: int, seed: int
) -> None:
    """To the bit; every region is of the size and the one type that the backend allows."""
    after = verify(fuse(graph, lambda n: n.op.name in names, up_to(most)))

    for node in after.nodes:
        if isinstance(node.op, Fused):
            inner = node.op.graph.nodes
            assert {n.op.name for n in inner} <= names and 1 < len(inner) <= most
            assert len({n.outputs[0].type for n in inner}) == 1
    arrays = arguments(graph, seed)
    for want, got in zip(evaluate(graph, *arrays), evaluate(after, *arrays), strict=True):
        np.testing.assert_array_equal(got, want)


@given(graph=graphs(most_nodes=20), names=WANTED, most=SIZES)
@settings(deadline=None, max_examples=150)
def test_no_two_could_be_joined_more(graph: Graph, names: set[str], most: int) -> None:
    """Brute force over neighbours and siblings; and doing it twice does no more."""
    after = fuse(graph, lambda n: n.op.name in names, up_to(most))

    assert fuse(after, lambda n: n.op.name in names, up_to(most)) is after
    vertices = [(i, *_of(n)) for i, n in enumerate(after.nodes) if _wanted(n, names)]
    for i, size, space in vertices:
        for j, other_size, other in vertices:
            if i < j and space == other and size + other_size <= most and _related(after, i, j):
                assert _path_by_way_of_a_third(after, i, j)


def _wanted(node: Node, names: set[str]) -> bool:
    return isinstance(node.op, Fused) or node.op.name in names


def _of(node: Node) -> tuple[int, TensorType]:
    inner = node.op.graph.nodes if isinstance(node.op, Fused) else (node,)
    return len(inner), inner[0].outputs[0].type


def _related(graph: Graph, i: int, j: int) -> bool:
    first, second = graph.nodes[i], graph.nodes[j]
    shared = {v for v in first.inputs if v.type.size != 1}
    return not {*shared, *first.outputs}.isdisjoint(second.inputs)


def _path_by_way_of_a_third(graph: Graph, a: int, b: int) -> bool:
    """Whether `b` needs `a` also by way of a third node; effects need the one before."""
    needs: list[set[int]] = []
    last: Optional[int] = None
    for i, node in enumerate(graph.nodes):
        direct = {graph.nodes.index(v.node) for v in node.inputs if v.node is not None}
        if node.op.effect:
            direct |= set() if last is None else {last}
            last = i
        between = {k for k in direct if (k, i) != (a, b)}
        needs.append(between | {j for k in between for j in needs[k]})
    return a in needs[b]


def refused_by(ops: set[Any]) -> Callable[[Node], bool]:
    return lambda node: node.op in ops


@given(graph=graphs(most_nodes=20), names=WANTED, seed=st.integers(0, 9), keep=SIZES)
@settings(deadline=None, max_examples=100)
def test_refusals_end_and_keep_values(graph: Graph, names: set[str], seed: int, keep: int) -> None:
    """As with a compiler that takes regions of at most `keep` nodes, whatever `joins` said."""
    after, refused = graph, set[Any]()
    while True:
        after = parted(after, refused_by(refused))
        after = verify(fuse(after, lambda n: n.op.name in names, refused=refused))
        large = {n.op for n in after.nodes if isinstance(n.op, Fused) and _of(n)[0] > keep}
        assert refused.isdisjoint(large)
        if not large:
            break
        refused |= large

    arrays = arguments(graph, seed)
    for want, got in zip(evaluate(graph, *arrays), evaluate(after, *arrays), strict=True):
        np.testing.assert_array_equal(got, want)
