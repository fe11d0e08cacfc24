"""Runs the kernels of a family at some sizes, each against `evaluate` of the graph of that size."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from byparts_graph_ir import FLOATS, Fused, Graph, Kernel, KernelFamily, Node, with_sizes
from byparts_kernels_native import make
from byparts_opset.dtypes import numpy_dtype
from byparts_opset.evaluate import evaluate

SIZES = (0, 1, 2, 7, 64, 513)
TOLERANCE = {"f16": 4e-3, "bf16": 3e-2, "f32": 3e-5, "f64": 1e-12}


def as_region(graph: Graph) -> Graph:
    """The graph as one node."""
    inputs = [v for v in graph.inputs]
    node = Node(Fused(graph), tuple(inputs))
    return Graph.of(inputs, node.outputs)


def family_of(graph: Graph, constants: frozenset[int] = frozenset()) -> KernelFamily:
    """The kernels of the one node of a graph; not `shared` where each size has code of its own."""
    (node,) = graph.nodes
    return make().family(node.op, [v.type for v in node.inputs], constants)


def check(graph: Graph, family: KernelFamily, **sizes: int) -> Kernel:
    """Run the kernel of these sizes, then in place where it offers that; both against `evaluate`."""
    sized = with_sizes(graph, sizes)
    (node,) = sized.nodes
    arrays = inputs_of(sized)
    expected = evaluate(sized, *arrays)
    kernel = family.at(node.op, [v.type for v in node.inputs])
    for pair in (None, *kernel.inplace):
        mine = [a.copy() for a in arrays]
        outputs = [np.full(v.type.dims, 7, numpy_dtype(v.type.dtype)) for v in node.outputs]
        if pair is not None:
            outputs[pair[1]] = mine[pair[0]]
        run(kernel, mine, outputs)
        for v, got, wanted in zip(node.outputs, outputs, expected, strict=True):
            _assert_close(v.type.dtype, got, wanted, f"{sizes} {pair}\n{graph}")
    return kernel


def inputs_of(graph: Graph, seed: int = 0) -> list[Any]:
    """Arrays for the inputs of a graph, always the same."""
    random = np.random.default_rng(seed)
    arrays = []
    for v in graph.inputs:
        kind = numpy_dtype(v.type.dtype)
        low, high = (-1, 1) if v.type.dtype in FLOATS else (0, 2 if v.type.dtype == "bool" else 5)
        values = np.asarray(random.uniform(low, high, v.type.dims))
        arrays.append(np.ascontiguousarray(values.astype(kind)).reshape(v.type.dims))
    return arrays


def run(kernel: Kernel, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Bind a kernel to arrays and memory, and run it."""
    sizes = kernel.workspace_bytes, kernel.persistent_bytes
    memory = [ctypes.create_string_buffer(size + 64) for size in sizes]
    starts = [-(-ctypes.addressof(m) // 64) * 64 for m in memory]
    for start, size, fill in zip(starts, sizes, (0x7F, 0), strict=True):
        ctypes.memset(start, fill, size)
    space, kept = (start if size else None for start, size in zip(starts, sizes, strict=True))
    places = [[a.ctypes.data for a in arrays] for arrays in (inputs, outputs)]
    kernel.bind(places[0], places[1], space, kept)()


def _assert_close(dtype: str, got: Any, wanted: Any, about: str) -> None:
    if dtype not in FLOATS:
        np.testing.assert_array_equal(got, wanted, err_msg=about)
        return
    tolerance = TOLERANCE[dtype]
    one, other = (np.asarray(x, np.float64) for x in (got, wanted))
    assert_allclose(one, other, rtol=tolerance, atol=tolerance, err_msg=about)
