"""NNVM's blocks: what they were, and plans made of them that the oracle accepts."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given as forall, settings, strategies as st
from planned_ops import Reshape, Rows, add, copy, given, like, neg, shout, twins

from byparts_graph_ir import Graph, Op, TensorType, Types, Value
from byparts_memplan import Blocks, PlanError, blocks, check_plan, plan, plan_blocks


@dataclass(frozen=True)
class Linear(Op):
    """y = x w + b."""

    def infer(self, x: TensorType, w: TensorType, *b: TensorType) -> Types:
        return (TensorType(x.dtype, (x.dims[0], w.dims[0])),)


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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


def test_a_plan_of_blocks_says_so() -> None:
    made = plan_blocks(mlp(), external={2, 3, 4}, alignment=1)

    assert made.arena_bytes == 354_004 > made.lower_bound_bytes
    assert made.placement.how == "in 4 blocks, as NNVM"


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
