"""Of random programs: every pass keeps their values and effects, and doing it twice does no more."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from byparts_autodiff import gradients
from byparts_conformance.graphs import Array, arguments, graphs
from byparts_graph_ir import FLOATS, Graph, Node, nested, verify
from byparts_opset.evaluate import evaluate
from byparts_optimize import (
    canonical,
    fold,
    fuse,
    legalize,
    merge,
    optimize,
    prune,
    share,
    simplify,
)

MESSAGES = ("first", "second")  # of the prints
Pass = Callable[[Graph], Graph]


def fused(graph: Graph) -> Graph:
    """Regions of what most backends join."""
    return fuse(graph, lambda node: node.op.pattern in ("elementwise", "broadcast"))


EXACT = [canonical, fold, simplify, merge, prune, share, optimize, fused]


def run(graph: Graph, arrays: tuple[Array, ...]) -> tuple[tuple[Array, ...], str]:
    """What the program gives, and what it prints."""
    printed = StringIO()
    with redirect_stdout(printed):
        return evaluate(graph, *arrays), printed.getvalue()


def assert_same(graph: Graph, want: Array, got: Array) -> None:
    """Equal to the bit, but for what `simplify` says of sums and of products of matrices."""
    assert (want.dtype, want.shape) == (got.dtype, got.shape)
    names = {n.op.name for inner in nested(graph) for n in inner.nodes}
    if "matmul" in names:
        np.testing.assert_allclose(np.float64(got), np.float64(want), rtol=1e-5, atol=1e-5)
        return
    np.testing.assert_array_equal(got, want)
    if want.dtype.kind == "f" and names.isdisjoint(("sum", "mean")):
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


@pytest.mark.parametrize("run_pass", EXACT)
@given(graph=graphs(), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=100)
def test_values_and_effects_are_kept_to_the_bit(run_pass: Pass, graph: Graph, seed: int) -> None:
    """And the result is well formed, with the inputs and output types of before."""
    arrays = arguments(graph, seed)

    after = verify(run_pass(graph))

    assert after.inputs == graph.inputs
    assert [v.type for v in after.outputs] == [v.type for v in graph.outputs]
    (want, wanted), (got, printed) = run(graph, arrays), run(after, arrays)
    assert [m for m in printed.split() if m in MESSAGES] == [
        m for m in wanted.split() if m in MESSAGES
    ]
    for a, b in zip(want, got, strict=True):
        assert_same(graph, a, b)


@pytest.mark.parametrize("run_pass", EXACT)
@given(graph=graphs(bodies=True, most_nodes=6), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=60)
def test_values_and_effects_in_bodies_are_kept(run_pass: Pass, graph: Graph, seed: int) -> None:
    """Of calls, branches and loops, in each other too; and each pass is idempotent."""
    arrays = arguments(graph, seed)

    after = verify(run_pass(graph))

    assert str(run_pass(after)) == str(after)
    (want, wanted), (got, printed) = run(graph, arrays), run(after, arrays)
    assert [m for m in printed.split() if m in MESSAGES] == [
        m for m in wanted.split() if m in MESSAGES
    ]
    for a, b in zip(want, got, strict=True):
        assert_same(graph, a, b)


@pytest.mark.parametrize("run_pass", EXACT)
@given(graph=graphs())
@settings(deadline=None, max_examples=100)
def test_doing_it_twice_does_no_more(run_pass: Pass, graph: Graph) -> None:
    """Each pass is idempotent."""
    once = run_pass(graph)

    assert str(run_pass(once)) == str(once)


@given(graph=graphs(effects=False, floats_only=True), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=100)
def test_fast_math_is_near(graph: Graph, seed: int) -> None:
    """For ordinary numbers it changes rounding, and no more."""
    arrays = arguments(graph, seed)

    after = verify(simplify(graph, fast_math=True))

    for want, got in zip(evaluate(graph, *arrays), evaluate(after, *arrays), strict=True):
        np.testing.assert_allclose(np.float64(got), np.float64(want), rtol=1e-9, atol=1e-6)


@given(graph=graphs(effects=False, floats_only=True, bodies=True), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=50)
def test_backward_programs_keep_their_values(graph: Graph, seed: int) -> None:
    """Gradients are what the rules were written for."""
    ys = [v for v in graph.outputs if v.type.dtype in FLOATS]
    backward = Graph.of(graph.inputs, gradients(ys, graph.inputs, unreachable="zeros"))
    arrays = arguments(graph, seed)

    after = verify(optimize(backward))

    for want, got in zip(evaluate(backward, *arrays), evaluate(after, *arrays), strict=True):
        assert_same(backward, want, got)


@given(graph=graphs(bodies=True), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=100)
def test_what_decomposes_may_be_decomposed(graph: Graph, seed: int) -> None:
    """A backend that has primitive ops only computes the same, to rounding."""
    arrays = arguments(graph, seed)

    after = verify(legalize(graph, _is_primitive))

    assert all(_is_primitive(n) for n in after.nodes)
    (want, wanted), (got, printed) = run(graph, arrays), run(after, arrays)
    assert printed.count("\n") == wanted.count("\n")
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(np.float64(b), np.float64(a), rtol=2e-4, atol=1e-3)


def _is_primitive(node: Node) -> bool:
    return node.op.decompose(*node.inputs) is None
