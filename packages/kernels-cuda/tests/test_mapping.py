"""Serial loops as kernels: the same results, whatever is shared among threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu_runs import SMALL, run
from hypothesis import given, settings, strategies as st
from region_graphs import arrays_of, graphs_that_move, graphs_that_reduce

import byparts_opset as ops
from byparts_gpu_ir.mapping import mapped
from byparts_graph_ir import Graph, Input, Op, Refused, TensorType
from byparts_kernels_cuda.loops import loops_of
from byparts_op_loops.regions.region import RegionLoops
from byparts_opset.dtypes import type_of
from byparts_opset.evaluate import evaluate


@given(graphs_that_reduce(), st.integers(0, 3))
@settings(deadline=None)
def test_a_region_computes_what_its_ops_do(graph: Graph, seed: int) -> None:
    _check_region(graph, seed)


@given(graphs_that_move(), st.integers(0, 3))
@settings(deadline=None)
def test_a_region_that_moves_computes_what_its_ops_do(graph: Graph, seed: int) -> None:
    _check_region(graph, seed)


def _check_region(graph: Graph, seed: int) -> None:
    try:
        loops = RegionLoops(graph, 0)
    except Refused:
        return
    launches, arrays = mapped(loops.func, loops.inplace, SMALL), arrays_of(graph)
    expected = evaluate(graph, *arrays)
    results = [np.full(v.type.dims, 7, np.float32) for v in graph.outputs]
    run(launches, [*arrays, *results], seed)
    _check(results, expected, f"{loops.func}\n{launches}")
    for i, o in launches.inplace:
        mine = [a.copy() for a in arrays]
        results = [np.full(v.type.dims, 7, np.float32) for v in graph.outputs]
        results[o] = mine[i]
        run(launches, [*mine, *results], seed)
        _check(results, expected, f"{i} over {o}\n{loops.func}\n{launches}")


def _check(results: Any, expected: Any, message: str) -> None:
    for got, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5, err_msg=message)


_INDICES = np.array([2, 0, 2], np.int32)
_X = np.array([[1, np.nan, -1, 7], [0.5, 3, 3, -2], [-0.0, 0, np.inf, 1]], np.float32)
_LONG = np.random.default_rng(0).normal(size=(3, 700)).astype(np.float32)
_CUBE = _LONG.reshape(3, 7, 100)
_IMAGES = _LONG[:, :192].reshape(3, 3, 8, 8)


@pytest.mark.parametrize("over", [False, True])
@pytest.mark.parametrize(
    ("op", "arrays"),
    [
        (ops.Gather(1), (_X, _INDICES)),
        (ops.Gather(1), (_CUBE, _INDICES)),
        (ops.Scatter(0), (_X, _INDICES, _X + 1)),
        (ops.Scatter(0), (_LONG, _INDICES, _LONG + 1)),
        (ops.ScatterAdd(0), (_INDICES, _X, _X)),
        (ops.ScatterAdd(1), (_INDICES, _CUBE[:, :3], _CUBE)),
        (ops.OneHot(3), (_INDICES,)),
        (ops.OneHot(150), (_INDICES,)),
        (ops.ArgMax(0), (_X,)),
        (ops.ArgMin(1), (_X,)),
        (ops.ArgMin(None), (_X,)),
        (ops.ArgMax(1), (_LONG,)),
        (ops.ArgMax(1), (_CUBE,)),
        (ops.TopK(3), (_X,)),
        (ops.TopK(5), (_LONG[:, :40],)),
        (ops.CumSum(1, True, True), (_X,)),
        (ops.CumSum(1), (_CUBE,)),
        (ops.ProdOfOthers(0), (_X,)),
        (ops.RandomUniform((7,)), (np.array(3), np.array(9))),
        (ops.RandomUniform((3, 101)), (np.array(3), np.array(9))),
        (ops.RandomNormal((130,)), (np.array(3), np.array(9))),
        (ops.MaxPool((2, 2), (2, 2)), (_IMAGES,)),
        (ops.MaxPool((3, 3), (2, 2), "SAME"), (_IMAGES,)),
        (ops.AveragePool((3, 3), (1, 1), "SAME"), (_IMAGES,)),
    ],
)
def test_a_function_computes_what_its_op_does(op: Op, arrays: tuple[Any, ...], over: bool) -> None:
    """It checks every index of every load and store; `error` stays 0."""
    made = loops_of(op, [type_of(a) for a in arrays])
    func = made.over if over else made.func
    if func is None:
        return
    expected = op.evaluate(*arrays)
    results = [np.full(e.shape, 7, e.dtype) for e in expected]
    given = list(arrays)
    if over:
        results[0][...] = arrays[0]
        given[0] = results[0]
    error = [np.ones(3, np.int64)] * (func.params[-1].name == "error")
    launches = mapped(func, ((0, 0),) if over else (), SMALL)
    run(launches, [*given, *results, *error])
    for got, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6, err_msg=f"{func}\n{launches}")
    assert not any(e[0] for e in error)


@pytest.mark.parametrize("number", range(2))
def test_sums_of_fewer_rounds_than_a_part_has(number: int) -> None:
    """A window of six elements, of which a part would have more."""
    samples = [(s.op, s.types) for s in ops.AveragePool.samples()]
    found = [x for x in samples if isinstance(x[0], ops.AveragePool) and x[0].ksize == (2, 3)]
    op, types = found[number]
    random = np.random.default_rng(0)
    x = random.normal(size=types[0].dims).astype(np.float32)
    loops = loops_of(op, types)
    assert loops is not None
    launches, result = mapped(loops.func), np.full(op.infer(*types)[0].dims, 7, np.float32)
    run(launches, [x, result], 0)

    np.testing.assert_allclose(result, op.evaluate(x)[0], rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("dims", [(5, 2), (3, 40), (70, 3), (64, 64)])
def test_a_sum_of_all_beside_sums_of_columns(dims: tuple[int, int]) -> None:
    """One loop over rows and columns: the columns are rounds of the one, elements of the other."""
    x = Input(TensorType("f32", dims))
    columns = ops.sum(x, axis=(0,))
    outputs = [ops.min(x), columns, columns - ops.max(columns)]

    _check_region(Graph.of([x], outputs), 0)
