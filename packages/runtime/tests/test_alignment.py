"""Arrays at odd bytes: no kernel is bound to one where its memory space asks for an alignment."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from toy_backend import Add, Mul, add, build_by_hand, f32, given, graph_of, kernels, mul

from byparts_graph_ir import Backend, Graph, GraphError, HostSpace, Op, Table, TensorType, Types
from byparts_runtime.arrays.access import view

memplan = pytest.importorskip("byparts_memplan", reason="needs byparts-memplan")

X = np.arange(12, dtype=np.float32)


class Tail(Op):
    """The elements from `start` on: bytes of x."""

    start: int

    def infer(self, x: TensorType) -> Types:
        return (f32(x.dims[0] - self.start),)

    def views(self, x: TensorType) -> tuple[tuple[int, int, int], ...]:
        return ((0, 0, 4 * self.start),)


class Halves(Op):
    """Both parts of x: each is bytes of it."""

    first: int

    def infer(self, x: TensorType) -> Types:
        return f32(self.first), f32(x.dims[0] - self.first)

    def views(self, x: TensorType) -> tuple[tuple[int, int, int], ...]:
        return (0, 0, 0), (0, 1, 4 * self.first)


class Aligned(HostSpace):
    alignment = 16


class Seen:
    """Where kernels were bound: bytes after a multiple of 16, and names of ops."""

    def __init__(self) -> None:
        self.odd: set[int] = set()
        self.ops: list[str] = []

    def backend(self) -> Backend:
        table: Table[Any] = Table("kernel")
        for kind in (Add, Mul):
            table.on(kind)(partial(self._rule, kernels[kind]))
        table.on(Tail)(partial(self._rule, _tail))
        table.on(Halves)(partial(self._rule, _halves))
        return Backend("odd", view, table, space=Aligned())

    def _rule(self, rule: Any, op: Op, inputs: Any, outputs: Any) -> Any:
        self.odd |= {a.ctypes.data % 16 for a in (*inputs, *outputs)}
        self.ops.append(op.name)
        return rule(op, inputs, outputs)


def _tail(op: Tail, inputs: Any, outputs: Any) -> Any:
    return partial(np.copyto, outputs[0], inputs[0][op.start :])


def _halves(op: Halves, inputs: Any, outputs: Any) -> Any:
    def run() -> None:
        np.copyto(outputs[0], inputs[0][: op.first])
        np.copyto(outputs[1], inputs[0][op.first :])

    return run


def sums(start: int) -> Graph:
    """Twice the elements of x + x from `start` on; and these as they are."""
    x = given("x", 12)
    tail = Tail(start)(add(x, x))
    return graph_of([x], add(tail, tail), tail)


@pytest.mark.parametrize(("start", "steps"), [(1, 1), (3, 1), (4, 0), (8, 0)])
def test_a_view_at_an_odd_byte_is_a_copy(start: int, steps: int) -> None:
    seen = Seen()
    program = build_by_hand(sums(start), backends=(seen.backend(),), planner=memplan.plan)
    twice, tail = program(X)

    np.testing.assert_array_equal(tail, 2 * X[start:])
    np.testing.assert_array_equal(twice, 4 * X[start:])
    assert seen.odd == {0}
    assert [s.node.op.name for s in program.steps].count("tail") == steps


def test_a_view_of_a_view_begins_at_a_multiple_too() -> None:
    x, seen = given("x", 12), Seen()
    tail = Tail(1)(Tail(3)(x))
    program = build_by_hand(
        graph_of([x], mul(tail, tail)), backends=(seen.backend(),), planner=memplan.plan
    )

    np.testing.assert_array_equal(program(X)[0], X[4:] ** 2)
    assert seen.odd == {0}


def test_all_outputs_of_a_node_are_views_or_none() -> None:
    """A kernel writes all its outputs, so none of them may be bytes of an input that it reads."""
    x, seen = given("x", 12), Seen()
    first, second = Halves(5).outputs_of(x)
    graph = graph_of([x], add(first, first), add(second, second))
    program = build_by_hand(graph, backends=(seen.backend(),), planner=memplan.plan)

    assert [y.tolist() for y in program(X)] == [(2 * X[:5]).tolist(), (2 * X[5:]).tolist()]
    assert seen.odd == {0}


def test_a_smaller_alignment_of_the_caller_is_raised() -> None:
    x, y, seen = given("x", 3), given("y", 3), Seen()
    graph = graph_of([x, y], mul(add(x, y), x), add(y, y))
    program = build_by_hand(graph, backends=(seen.backend(),), planner=memplan.plan, alignment=4)
    program(X[:3], X[3:6])

    assert seen.odd == {0}


def test_a_planner_that_places_a_view_at_an_odd_byte_is_refused() -> None:
    def plan(graph: Graph, *, external: Any, alignment: int, **facts: Any) -> Any:
        return memplan.plan(graph, external=external, alignment=alignment)

    said = "value 2 begins at byte 4, and the kernel of .* takes arrays at multiples of 16; the"
    with pytest.raises(GraphError, match=said):
        build_by_hand(sums(1), backends=(Seen().backend(),), planner=plan)


def test_where_no_space_asks_for_an_alignment_all_views_are_taken() -> None:
    table: Table[Any] = Table("kernel")
    table.on(Add)(kernels[Add])
    table.on(Tail)(_tail)
    program = build_by_hand(sums(1), backends=(Backend("toy", view, table),), planner=memplan.plan)

    assert [s.node.op.name for s in program.steps].count("tail") == 0
