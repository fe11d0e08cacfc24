"""Random programs through the whole system: lowered, planned, bound, run."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis.strategies import integers

from byparts_conformance.compare import difference
from byparts_conformance.graphs import arguments, graphs
from byparts_graph_ir import Graph, from_json, parse, to_json, verify
from byparts_kernels_numpy import make
from byparts_memplan import check_plan, order, peak_bytes, plan
from byparts_opset import OPS
from byparts_opset.evaluate import evaluate
from byparts_optimize import fold, legalize, merge, optimize, simplify
from byparts_runtime import build, separate

BACKEND = make()


@given(graphs(effects=False), integers(0, 9))
def test_a_program_computes_what_the_graph_means(graph: Graph, seed: int) -> None:
    """Through every pass, in the planned arena, twice over the same memory."""
    arrays = arguments(graph, seed)
    program = build(graph)
    wants = evaluate(graph, *arrays)
    for _ in range(2):
        for got, want, v in zip(program(*arrays), wants, graph.outputs, strict=True):
            assert not (wrong := difference(np.asarray(got), want, v.type)), f"{wrong}\n{graph}"


@given(graphs(effects=False), integers(0, 9))
def test_the_arena_changes_no_bit(graph: Graph, seed: int) -> None:
    """The same kernels give the same bits with every value in its own memory, and packed."""
    arrays = arguments(graph, seed)
    packed, apart = build(graph, planner=plan), build(graph, planner=separate)

    for got, want in zip(packed(*arrays), apart(*arrays), strict=True):
        assert np.asarray(got).tobytes() == np.asarray(want).tobytes(), str(graph)


@given(graphs())
def test_every_plan_passes_the_checker(graph: Graph) -> None:
    """Also after lowering, and never below what is alive at one time."""
    for g in (graph, legalize(optimize(graph), lambda node: BACKEND.supports(node.op))):
        made = plan(g)
        check_plan(g, made)

        assert made.arena_bytes >= made.lower_bound_bytes


@given(graphs())
def test_an_order_is_no_worse(graph: Graph) -> None:
    """The same nodes, effects as they were, and never more bytes alive."""
    after = verify(order(graph))

    assert set(after.nodes) == set(graph.nodes)
    assert [n for n in after.nodes if n.op.effect] == [n for n in graph.nodes if n.op.effect]
    assert peak_bytes(after) <= peak_bytes(graph)


@given(graphs(), integers(0, 9))
def test_every_pass_keeps_the_meaning(graph: Graph, seed: int) -> None:
    """And gives a well-formed graph, whose text and JSON come back."""
    arrays = arguments(graph, seed)
    wants = evaluate(graph, *arrays)
    for rewrite in (fold, simplify, merge, optimize):
        after = verify(rewrite(graph))
        for got, want, v in zip(evaluate(after, *arrays), wants, graph.outputs, strict=True):
            assert not (wrong := difference(got, want, v.type)), (
                f"{rewrite.__name__}: {wrong}\n{graph}"
            )
        assert parse(str(after), OPS) == after == from_json(to_json(after), OPS)


@settings(max_examples=25)
@given(graphs(effects=False, floats_only=True), integers(0, 9))
def test_no_pass_at_all_gives_the_same(graph: Graph, seed: int) -> None:
    """With optimize and memplan absent the answer is the same to rounding."""
    arrays = arguments(graph, seed)
    bare = build(graph, passes=(), planner=None)

    for got, want, v in zip(bare(*arrays), evaluate(graph, *arrays), graph.outputs, strict=True):
        assert not (wrong := difference(np.asarray(got), want, v.type)), f"{wrong}\n{graph}"
