"""What holds for every op that reduces, moves or indexes, on its own samples."""

import numpy as np
import pytest
from numeric import check_gradient, check_type, ops_of, run, type_of
from sampled import arrays

from byparts_graph_ir import Graph, Input, Node, Sample, TensorType, Value, specialize

MODULES = (
    *("reduce", "prod", "argmax", "cumulative", "reshape", "transpose", "reverse"),
    *("broadcast_to", "tile", "join", "slicing", "pad", "index", "top_k"),
)
OPS = ops_of(*MODULES)
SAMPLES = [s for op in OPS for s in op.samples()]


def nodes(sample: Sample) -> list[Node]:
    """The op on the sample's types, on symbols, on unknown dimensions, on unknown ranks."""
    shapes = [t.dims for t in sample.types]
    kinds: list[list[tuple[int | str | None, ...] | None]] = [
        list(shapes),
        [tuple(f"d{i}_{j}" for j in range(len(s))) for i, s in enumerate(shapes)],
        [(None,) * len(s) for s in shapes],
        [None for _ in shapes],
    ]
    dtypes = [t.dtype for t in sample.types]
    return [
        Node(sample.op, tuple(Input(TensorType(d, s)) for d, s in zip(dtypes, kind, strict=True)))
        for kind in kinds
    ]


def decomposed(graph: Graph) -> Graph:
    """The graph without any op that says how to do without it."""

    def rule(node: Node) -> tuple[Value, ...] | None:
        return node.op.decompose(*node.inputs)

    while any(n.op.decompose(*n.inputs) is not None for n in graph.nodes):
        graph = graph.rewrite(rule)
    return graph


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_types_are_those_of_the_arrays(sample: Sample) -> None:
    """However little is known, nothing inferred is wrong; specialising gives the static type."""
    inputs = arrays(sample, "f32")
    expected = sample.op.evaluate(*inputs)
    exact = sample.op.infer(*sample.types)

    for node in nodes(sample):
        for v, y in zip(node.outputs, expected, strict=True):
            check_type(node.op, v.type, y)
        graph = specialize(Graph.of(node.inputs, node.outputs), sample.types)
        assert exact == tuple(v.type for v in graph.outputs)
        for y, found in zip(expected, run(graph, *inputs), strict=True):
            np.testing.assert_array_equal(found, y)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_outputs_are_new_contiguous_arrays(sample: Sample, dtype: str) -> None:
    """Of the dtype inferred, also of strided inputs, which stay as they were."""
    inputs = [np.repeat(x[..., None], 2, axis=-1)[..., 0] for x in arrays(sample, dtype)]
    before = [x.copy() for x in inputs]
    types = sample.op.infer(*map(type_of, inputs))

    for t, y in zip(types, sample.op.evaluate(*inputs), strict=True):
        check_type(sample.op, t, y)
        assert y.flags.c_contiguous
        assert not any(np.shares_memory(x, y) for x in inputs)
    for x, was in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(x, was)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_gradients_are_those_of_differences(sample: Sample) -> None:
    """Built on static types, on symbols, and where not even ranks are known."""
    check_gradient(sample.op, *arrays(sample), unranked=True)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_views_are_the_bytes_of_the_input(sample: Sample) -> None:
    """At the offset that is said."""
    inputs = arrays(sample, "f32")
    outputs = sample.op.evaluate(*inputs)

    for i, o, offset in sample.op.views(*sample.types):
        data, part = inputs[i].tobytes(), outputs[o].tobytes()
        assert part == data[offset : offset + len(part)]


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_decomposed_is_equal(sample: Sample, dtype: str) -> None:
    """Whole or in simpler ops, taken apart before or after the types are known."""
    inputs = arrays(sample, dtype)
    types = [type_of(x) for x in inputs]
    precision = {"f16": 1e-3, "bf16": 8e-3, "f32": 1e-6}[dtype]

    for node in nodes(Sample(sample.op, tuple(types))):
        graph = decomposed(Graph.of(node.inputs, node.outputs))
        graph = decomposed(specialize(graph, types))
        expected = node.op.evaluate(*inputs)
        for y, found in zip(expected, run(graph, *inputs), strict=True):
            wide = found.astype(np.float64), y.astype(np.float64)
            np.testing.assert_allclose(*wide, rtol=precision, atol=precision)
