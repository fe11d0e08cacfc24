"""NNVM's blocks: what they were; plans made of them pass the checker, and programs run in them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given as forall, settings, strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "packages" / "memplan" / "tests"))

from planned_ops import Reshape, Rows, add, copy, given, like, neg, shout, twins
from random_graphs import graphs as graphs_of_any_ops
from random_kernels import as_ops_say, random_kernels, said

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Op, TensorType, Types, Value
from byparts_memplan import PlanError, check_plan, plan
from byparts_runtime import build
from nnvm_blocks import Blocks, blocks, plan_blocks


class Linear(Op):
    """y = x w + b."""

    def infer(self, x: TensorType, w: TensorType, *b: TensorType) -> Types:
        return (TensorType(x.dtype, (x.dims[0], w.dims[0])),)


class Loss(Op):
    def infer(self, x: TensorType, y: TensorType) -> Types:
        return (TensorType(x.dtype, ()),)


def mlp() -> Graph:
    x, label = given(100, 784), given(100)
    w1, b1, w2 = given(100, 784), given(100), given(10, 100)
    hidden = copy(Linear()(x, w1, b1))
    return Graph.of((x, label, w1, b1, w2), (Loss()(Linear()(hidden, w2), label),))


def chain(*sizes: int) -> Graph:
    """One value after the other, of so many floats."""
    x = given(1)
    value: Value = x
    for size in sizes:
        value = Size(size)(value)
    return Graph.of((x,), (value,))


class Size(Op):
    size: int

    def infer(self, x: TensorType) -> Types:
        return (TensorType(x.dtype, (self.size,)),)


def sizes(graph: Graph, **options: int) -> tuple[int, ...]:
    return blocks(graph, external={0}, alignment=1, **options).sizes  # type: ignore[arg-type]


def test_the_forward_pass_that_nnvm_planned() -> None:
    """An MLP on 100 images, placeholders counted: 354,004 bytes in four blocks, as the real one."""
    made = blocks(mlp(), external={2, 3, 4}, alignment=1)

    assert (made.total_bytes, len(made.sizes)) == (354_004, 4)


def test_a_larger_block_is_taken_and_wasted() -> None:
    """The third value lies in the first one's block."""
    assert sizes(chain(40, 10, 30)) == (160, 40)


def test_a_smaller_block_grows() -> None:
    """Nothing larger is free."""
    assert sizes(chain(10, 40, 30)) == (120, 160)


def test_beyond_the_match_range_a_block_is_new() -> None:
    """A thousandth of a block would waste it."""
    assert sizes(chain(1000, 10, 1)) == (4000, 40, 4)
    assert sizes(chain(1000, 10, 1), match_range=1000) == (4000, 40)


def test_a_match_range_of_none_uses_no_block_again() -> None:
    assert sizes(chain(4, 4, 4), match_range=0) == (16, 16, 16)


def test_an_arena_is_below_the_blocks() -> None:
    """Offsets, where blocks can only be too large or grow."""
    graph = chain(40, 10, 10, 40)

    assert plan(graph, external={0}, alignment=1).arena_bytes == 200
    assert sizes(graph) == (160, 160)


def test_in_place_where_only_this_node_still_reads() -> None:
    x = given(4)
    y = copy(x)
    graph = Graph.of((x,), (neg(neg(y)),))

    assert blocks(graph, external={0}, alignment=1) == Blocks((16,), (-1, 0, 0, 0))
    assert sizes(Graph.of((x,), (neg(y), y))) == (16, 16)


def test_what_is_ignored_does_not_wait_nor_give() -> None:
    """`like` reads only the type of its second input, which somebody else still needs."""
    x = given(4)
    y, z = copy(x), copy(x)
    graph = Graph.of((x,), (add(like(z, y), neg(y)),))

    check_plan(graph, plan_blocks(graph, external={0}))
    assert len(sizes(graph)) == 2


def test_numbers_that_make_no_sense_are_refused() -> None:
    with pytest.raises(PlanError, match="match_range -1"):
        blocks(mlp(), match_range=-1)
    with pytest.raises(PlanError, match="match_range is 'a' and alignment 64; expected whole"):
        blocks(mlp(), match_range="a")  # type: ignore[arg-type]
    with pytest.raises(PlanError, match=r"expected a Graph; got 'model\.json'"):
        plan_blocks("model.json")  # type: ignore[arg-type]
    with pytest.raises(PlanError, match="external: there is no input 5; the graph has 5"):
        blocks(mlp(), external=[1, 5])
    with pytest.raises(PlanError, match=r"for copy.*: workspace_bytes is -4"):
        plan_blocks(chain_of_copies(), kernels=lambda node: said(-4))


def test_a_plan_of_blocks_says_so() -> None:
    made = plan_blocks(mlp(), external={2, 3, 4}, alignment=1)

    assert made.arena_bytes == 354_004 > made.lower_bound_bytes
    assert made.placement.how == "in 4 blocks, as NNVM"


def chain_of_copies() -> Graph:
    x = given(4)
    return Graph.of((x,), (copy(copy(x)),))


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Graph, frozenset[int]]:
    """Programs with views, ignored inputs, two outputs, effects, unread values."""
    inputs = [given(draw(st.sampled_from((2, 4)))) for _ in range(3)]
    made: list[Value] = list(inputs)
    for kind in draw(st.lists(st.integers(0, 7), max_size=12)):
        x = made[draw(st.integers(0, len(made) - 1))]
        same = [v for v in made if v.type == x.type]
        y = same[draw(st.integers(0, len(same) - 1))]
        rows, rest = x.type.dims[0], x.type.dims[1:]
        one = (neg, copy, shout, Reshape((*rest, rows)), Rows(rows // 2, rows))
        made += (
            one[kind].outputs_of(x) if kind < 5 else (add, like, twins)[kind - 5].outputs_of(x, y)
        )
    outputs = draw(st.lists(st.sampled_from(made), min_size=1, max_size=3))
    outside = draw(st.sets(st.integers(0, 2)))
    return Graph.of(inputs, outputs, order=made), frozenset(outside)


@settings(deadline=None, max_examples=200)
@forall(graphs())
def test_any_plan_of_blocks_is_accepted(problem: tuple[Graph, frozenset[int]]) -> None:
    """By the oracle that runs it; and its arena is the sum of the blocks."""
    graph, external = problem
    made = plan_blocks(graph, external=external, alignment=8)
    check_plan(graph, made)

    assert made.arena_bytes == blocks(graph, external=external, alignment=8).total_bytes
    assert made.arena_bytes >= made.lower_bound_bytes


@settings(max_examples=100, deadline=None)
@forall(graphs_of_any_ops(), st.integers(0, 999))
def test_blocks_have_workspaces_too(graph: Graph, seed: int) -> None:
    assume(all(v.type.size_bytes for v in graph.values))  # an empty view has a block of no bytes
    kernels = random_kernels(seed)
    made = plan_blocks(graph, alignment=8, kernels=kernels)

    check_plan(graph, made, kernels)
    assert made.arena_bytes == blocks(graph, alignment=8, kernels=kernels).total_bytes
    assert plan_blocks(graph, kernels=as_ops_say) == plan_blocks(graph)


def test_blocks_have_the_workspaces_of_the_plan_that_they_are_compared_with() -> None:
    """Two values of 256 bytes and a workspace of 128, as in the arena."""
    x = given(64)
    graph = Graph.of((x,), (neg(copy(x)),))
    kernels = {n: said(128 * (n.op.name == "copy"), *n.op.inplace) for n in graph.nodes}

    assert blocks(graph, kernels=kernels.__getitem__).total_bytes == 640
    assert plan(graph, kernels=kernels.__getitem__).arena_bytes == 640


def test_a_program_in_blocks_computes_the_same_bits() -> None:
    """Views are copies there, and much lies elsewhere."""
    x = given(64, 32)
    weights = [given(32, 32) for _ in range(4)]
    y: Value = x
    for w in weights:
        y = ops.tanh(y @ w)
    loss = ops.mean(y * y)
    graph = Graph.of([x, *weights], [loss, *gradients(loss, tuple(weights))])
    random = np.random.default_rng(0)
    feeds = [random.normal(size=v.type.dims).astype("f4") for v in graph.inputs]
    made = [build(graph, backends=("numpy",), planner=p) for p in ("greedy", plan_blocks)]
    plain, other = [[np.array(a) for a in program(*feeds)] for program in made]

    for a, b in zip(plain, other, strict=True):
        np.testing.assert_array_equal(a, b)
