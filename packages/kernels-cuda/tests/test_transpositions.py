"""Transpositions by tiles: what they compute, in place too, and that their barrier is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulation import compiled
from gpu_runs import run

import byparts_opset as ops
from byparts_gpu_ir.emit.cuda import emit_cuda
from byparts_gpu_ir.faults import KernelFault
from byparts_gpu_ir.launches import Launches
from byparts_gpu_ir.mapping import mapped
from byparts_graph_ir import Graph, Input, TensorType, Value
from byparts_op_loops.regions.region import RegionLoops
from byparts_opset.evaluate import evaluate
from byparts_tensor_ir.statement import Barrier, rebuilt

Body = Callable[[Value, Value], Value]


def _graph(dims: Sequence[int], order: Sequence[int], body: Body) -> Graph:
    """Of x, which is transposed, and b."""
    x = Input(TensorType("f32", tuple(dims)), name="x")
    y = ops.transpose(x, tuple(order))
    b = Input(y.type, name="b")
    return Graph.of([x, b], [body(y, b)])


def _launches(graph: Graph) -> Launches:
    loops = RegionLoops(graph)
    made = mapped(replace(loops.func, name="transposed"), loops.inplace)
    assert "shared" in str(made)
    return made


def _arrays(graph: Graph) -> list[Any]:
    draw = np.random.default_rng(0)
    return [draw.normal(size=v.type.dims).astype(np.float32) for v in graph.inputs]


@pytest.mark.parametrize(
    ("dims", "order"),
    [((33, 17), (1, 0)), ((2, 16, 3, 40), (0, 3, 2, 1)), ((3, 32, 64), (0, 2, 1))],
)
@compiled
def test_tiles_compute_what_the_region_does(dims: Sequence[int], order: Sequence[int]) -> None:
    """Edges and none, in any order of threads; over b too, which is read where y is written."""
    graph = _graph(dims, order, lambda y, b: y * y + b)
    launches, given = _launches(graph), _arrays(graph)
    (expected,) = evaluate(graph, *given)
    for way in ("checked", "reversed"):
        result = np.full(expected.shape, 7, np.float32)
        run(launches, [*given, result], emulation=way)
        np.testing.assert_array_equal(result, expected)
    assert launches.inplace == ((1, 0),)
    run(launches, [given[0], given[1], given[1]], emulation="checked")
    np.testing.assert_array_equal(given[1], expected)


@compiled
def test_without_the_barrier_it_is_a_fault() -> None:
    graph = _graph((40, 40), (1, 0), lambda y, b: y + b)
    launches, given = _launches(graph), _arrays(graph)
    (kernel,) = launches.kernels
    body = rebuilt(kernel.body, lambda s: () if isinstance(s, Barrier) else None)
    wrong = replace(launches, kernels=(kernel.with_body(body),))

    with pytest.raises(KernelFault, match="shared tile0"):
        run(wrong, [*given, np.zeros((40, 40), np.float32)], emulation="checked")


def test_the_text_is_as_it_was_read(golden: Any) -> None:
    graph = _graph((50, 64), (1, 0), lambda y, b: y + b)
    (kernel,) = _launches(graph).kernels

    golden(Path(__file__).parent / "golden" / "transposed.cu", emit_cuda(kernel).text)
