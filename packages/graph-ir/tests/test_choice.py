"""Which backend a node goes to, and so whether it stays whole."""

from __future__ import annotations

import pytest
from toy_ops import Add, Neg, add, f32, given, neg

from byparts_graph_ir import Backend, Node, Op, TensorType, Types, Value, stays_whole
from byparts_graph_ir.backend.fused import lone_region


class Twice(Op):
    """y = -(-(x + x)), by way of `Minus`."""

    def infer(self, x: TensorType) -> Types:
        return (x,)

    def decompose(self, x: Value) -> tuple[Value, ...]:
        return (neg(Node(Minus(), (add(x, x),)).outputs[0]),)


class Minus(Op):
    """y = -x."""

    def infer(self, x: TensorType) -> Types:
        return (x,)

    def decompose(self, x: Value) -> tuple[Value, ...]:
        return (neg(x),)


class Zero(Op):
    """y = 0."""

    def infer(self) -> Types:
        return (f32(2),)


class Same(Op):
    """y = x, the same bytes."""

    def infer(self, x: TensorType) -> Types:
        return (x,)

    def views(self, x: TensorType) -> tuple[tuple[int, int, int], ...]:
        return ((0, 0, 0),)


class More(Op):
    """y = x + 0."""

    def infer(self, x: TensorType) -> Types:
        return (x,)

    def decompose(self, x: Value) -> tuple[Value, ...]:
        (y,) = Node(Same(), (x,)).outputs
        return (add(y, Node(Zero(), ()).outputs[0]),)


class Endless(Op):
    """y = x, made of itself."""

    def infer(self, x: TensorType) -> Types:
        return (x,)

    def decompose(self, x: Value) -> tuple[Value, ...]:
        return Node(Endless(), (x,)).outputs


def backend(*has: type[Op], wants: tuple[type[Op], ...] = ()) -> Backend:
    made = Backend("made", lambda memory, offset, type: None, wants=lambda n: type(n.op) in wants)
    made.kernels.on(*has)(lambda op, inputs, outputs: lambda: None)
    return made


def node(kind: type[Op]) -> Node:
    return Node(kind(), (given("x", 2),))


def test_a_kernel_keeps_a_node_whole() -> None:
    assert stays_whole(node(Twice), [backend(Twice, wants=(Add, Neg))])


def test_what_is_wanted_stays_whole() -> None:
    assert stays_whole(node(Twice), [backend(wants=(Twice, Add, Neg))])


def test_the_first_backend_that_wants_all_parts_wins_over_a_later_kernel() -> None:
    wanting, having = backend(wants=(Add, Neg)), backend(Twice)

    assert not stays_whole(node(Twice), [wanting, having])
    assert stays_whole(node(Twice), [having, wanting])


def test_a_part_that_is_not_wanted_leaves_the_node_to_the_next() -> None:
    assert stays_whole(node(Twice), [backend(Neg, wants=(Add,)), backend(Twice)])


def test_parts_that_need_no_step_need_nobody() -> None:
    """A constant is computed once, a view is no computation."""
    assert not stays_whole(node(More), [backend(wants=(Add,)), backend(More)])


@pytest.mark.parametrize("kind", [Neg, Endless])
def test_what_does_not_decompose_goes_to_the_next(kind: type[Op]) -> None:
    assert stays_whole(node(kind), [backend(wants=(Add,)), backend(kind)])
    assert not stays_whole(node(kind), [backend(wants=(Add,))])


def test_without_regions_only_kernels_count() -> None:
    wanting = backend(wants=(Add, Neg, Twice))

    assert not stays_whole(node(Twice), [wanting], regions=False)
    assert stays_whole(node(Twice), [wanting, backend(Twice)], regions=False)


def test_what_was_refused_alone_is_wanted_no_more() -> None:
    """By op and types: the same op on another shape may be taken."""
    wanting, other = backend(wants=(Twice,)), Node(Twice(), (given("x", 3),))
    refused = {lone_region(node(Twice)).op}

    assert not stays_whole(node(Twice), [wanting], refused)
    assert stays_whole(other, [wanting], refused)
