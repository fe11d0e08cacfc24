"""Attention in blocks, and its gradient, against `evaluate`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType
from byparts_opset.evaluate import evaluate
from byparts_runtime import build


def _check(
    lead: tuple[int, ...], sizes: tuple[int, int, int, int], op: ops.Attention, dtype: str
) -> None:
    """Both outputs and the three gradients; s queries, t keys, widths d and e."""
    s, t, d, e = sizes
    shapes = [(*lead, s, d), (*lead, t, d), (*lead, t, e), (*lead, s, e)]
    q, k, v, dy = (Input(TensorType(dtype, shape)) for shape in shapes)
    y, logsumexp = op.outputs_of(q, k, v)
    gradient = ops.AttentionGradient(op.causal, op.scale)
    outputs = (y, logsumexp, *gradient.outputs_of(dy, q, k, v, y, logsumexp))
    graph = Graph.of([q, k, v, dy], outputs)
    random = np.random.default_rng(sum(sizes))
    arrays = [random.standard_normal(shape).astype(dtype.replace("f", "float")) for shape in shapes]
    program = build(graph, backends=("native",))
    assert [type(step.node.op) for step in program.steps] == [type(op), type(gradient)]
    tolerance = 2e-5 if dtype == "f32" else 1e-13
    for got, wanted in zip(program(*arrays), evaluate(graph, *arrays), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=10 * tolerance)


@settings(max_examples=60)
@given(
    st.sampled_from([(), (3,), (2, 2)]),
    st.tuples(st.integers(1, 70), st.integers(1, 70), st.integers(1, 40), st.integers(1, 40)),
    st.builds(ops.Attention, st.booleans(), st.sampled_from([None, -0.5])),
    st.sampled_from(["f32", "f64"]),
)
def test_attention_of_any_sizes(
    lead: tuple[int, ...], sizes: tuple[int, int, int, int], op: ops.Attention, dtype: str
) -> None:
    sizes = (*sizes[:2], 9, sizes[3]) if op.scale is None else sizes  # few scales, few programs
    _check(lead, sizes, op, dtype)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", [(130, 530, 8, 8), (530, 300, 8, 8), (125, 2200, 4, 4)])
def test_several_blocks_of_queries_and_parts_of_keys(
    causal: bool, sizes: tuple[int, int, int, int]
) -> None:
    _check((), sizes, ops.Attention(causal), "f32")


def test_what_is_no_number_comes_through_where_it_is_seen() -> None:
    x = np.random.default_rng(0).standard_normal((20, 16)).astype(np.float32)
    keys = x.copy()
    keys[7, 3] = np.nan
    q, k, v = (Input(TensorType("f32", x.shape)) for _ in range(3))
    y = ops.attention(q, k, v, causal=True)
    (got,) = build(Graph.of([q, k, v], [y]), backends=("native",))(x, keys, x)
    assert np.isfinite(got[:7]).all()
    assert np.isnan(got[7:]).all()
