"""Random programs whose ops are shared out between two memory spaces; see also `third_party/`."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

pytest.importorskip("byparts_kernels_numpy", reason="needs byparts-kernels-numpy")
pytest.importorskip("byparts_optimize", reason="needs byparts-optimize")
pytest.importorskip("byparts_memplan", reason="needs byparts-memplan")

from byparts_conformance.graphs import arguments, graphs
from byparts_graph_ir import Backend, Graph, HostSpace, Node, Op, Table, Value
from byparts_kernels_numpy import make
from byparts_memplan import check_plan, plan
from byparts_optimize import spaces, transfer
from byparts_runtime import Program, Store, build

SPACES = st.integers(0, 10**6)


class Other(HostSpace):
    """Memory of the host that nobody takes for that of the first backend."""

    name = "other:0"


def shared_out(seed: int) -> tuple[Backend, ...]:
    """NumPy's kernels in one space or the other, by op."""
    numpy = make()
    tables: list[Table[object]] = [Table("kernel"), Table("kernel")]
    for op in numpy.kernels:
        _register(tables[_half(op, seed)], numpy.kernels, op)  # type: ignore[arg-type]
    rest = {"around": numpy.around, "functions": numpy.functions}
    here = Backend("here", numpy.view, tables[0], **rest)  # type: ignore[arg-type]
    there = Backend("there", numpy.view, tables[1], space=Other(), around=numpy.around)  # type: ignore[arg-type]
    return (here, there) if seed % 2 else (there, here)


def _half(op: type[Op], seed: int) -> int:
    return crc32(f"{op.__name__}{seed}".encode()) % 2


def _register(table: Table[object], kernels: Table[object], op: type[Op]) -> None:
    if op in kernels._compiled:
        table.compiles(op)(kernels[op])
    else:
        table.on(op, workspace=op in kernels._with_workspace)(kernels[op])


def run(program: Program, arrays: tuple[object, ...]) -> list[np.ndarray]:
    return [np.asarray(y) for y in program(*arrays)]


@given(graph=graphs(effects=False), seed=SPACES)
@settings(deadline=None, max_examples=40)
def test_a_random_program_computes_the_same_in_two_spaces(graph: Graph, seed: int) -> None:
    """To the bit, each time; with passes and without, and its plan passes the checker."""
    arrays = arguments(graph, seed % 100)
    want = run(build(graph, passes=()), arrays)

    program = build(graph, backends=shared_out(seed), passes=())

    for _ in range(2):
        for a, b in zip(want, run(program, arrays), strict=True):
            np.testing.assert_array_equal(a, b)
    check_plan(program.graph, program.plan, kernels=program.kernels)  # type: ignore[arg-type]


@given(graph=graphs(effects=False), seed=SPACES)
@settings(deadline=None, max_examples=20)
def test_variables_in_either_space_are_updated_alike(graph: Graph, seed: int) -> None:
    """Variables of one type pass their values on to each other, whatever space they are in."""
    backends, host = shared_out(seed), Store()
    stores = [Store(b.space) for b in backends]
    named = list(enumerate(arguments(graph, seed % 100)))
    variables = [stores[(seed + i) % 2].create(f"v{i}", array) for i, array in named]
    twins = [host.create(f"v{i}", array) for i, array in named]
    step = Graph.of(graph.inputs, [*graph.outputs, *[_next(v, graph) for v in graph.inputs]])
    bound = [dict(zip(graph.inputs, ours, strict=True)) for ours in (twins, variables)]
    one = build(step, variables=bound[0], updates=twins, passes=())
    two = build(step, backends=backends, variables=bound[1], updates=variables, passes=())

    for _ in range(3):
        for a, b in zip(one(), two(), strict=True):
            np.testing.assert_array_equal(a, b)
    for a, b in zip(twins, variables, strict=True):
        np.testing.assert_array_equal(a.read(), b.read())


def _next(value: Value, graph: Graph) -> Value:
    """The next input of the same type; after the last, the first."""
    same = [v for v in graph.inputs if v.type == value.type]
    return same[(same.index(value) + 1) % len(same)]


@given(graph=graphs(), seed=SPACES)
@settings(deadline=None, max_examples=60)
def test_what_transfer_gives_is_planned_space_by_space(graph: Graph, seed: int) -> None:
    """Each space has its arena, and the independent checker finds nothing."""

    def space_of(node: Node) -> str:
        return ("host", "other:0")[_half(type(node.op), seed)]

    inputs = [("host", "other:0")[(seed + i) % 2] for i in range(len(graph.inputs))]
    after = transfer(graph, space_of, inputs, ["host"] * len(graph.outputs))
    where = spaces(after, space_of, inputs)

    def space(v: Value) -> str:
        return where[after.ids[v]]

    made = plan(after, space=space)

    check_plan(after, made)
    assert [at.space for at in made.locations] == list(where)
