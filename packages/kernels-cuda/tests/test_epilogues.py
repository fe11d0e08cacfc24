"""Products, convolutions and what follows: which are one region, what it computes, how often."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from emulation import assert_emulated, compiled, samples

import byparts_opset as ops
from byparts_gpu_ir.launches import Launches
from byparts_graph_ir import Fused, Graph, Input, TensorType, Value
from byparts_kernels_cuda.epilogues import epilogue_launches, epilogues
from byparts_kernels_cuda.libraries import cublas, cudnn

Body = Callable[..., Value]
LAYER: Body = lambda x, w, b: ops.relu(ops.AddMatmul()(b, x, w))  # noqa: E731  # a line each


def _graph_of(body: Body, *shapes: tuple[int, ...], dtype: str = "f32") -> Graph:
    given = [Input(TensorType(dtype, shape)) for shape in shapes]
    return Graph.of(given, [body(*given)])


def _graph(m: int, k: int, n: int, body: Body, dtype: str = "f32") -> Graph:
    """Of x, w, b."""
    return _graph_of(body, (m, k), (k, n), (n,), dtype=dtype)


def _names(graph: Graph) -> list[str]:
    return [node.op.name for node in epilogues(graph).nodes]


def _region(graph: Graph) -> tuple[Fused, Sequence[TensorType], Launches]:
    """The op, the types of its inputs, and its launches; nothing else is in the graph."""
    (node,) = epilogues(graph).nodes
    assert isinstance(node.op, Fused)
    return node.op, [v.type for v in node.inputs], epilogue_launches(node.op.graph)


@pytest.fixture(autouse=True)
def no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in (cublas, cudnn):
        monkeypatch.setattr(library, "library", lambda: None)


def test_layer_after_layer_is_a_region_each() -> None:
    def two(x: Value, w: Value, b: Value) -> Value:
        return ops.tanh(LAYER(x, w, b) @ w)

    assert _names(_graph(4, 5, 5, two)) == ["fused", "fused"]


def _twice(x: Value, w: Value, b: Value) -> Value:
    y = x @ w
    return (ops.relu(y) + y) * 0.5


def test_what_is_read_twice_inside_is_a_region() -> None:
    assert _names(_graph(4, 5, 6, _twice)) == ["fused"]


def test_a_node_follows_one_of_two_products() -> None:
    assert sorted(_names(_graph(4, 4, 4, lambda x, w, b: ops.relu(x @ w + w @ x)))) == [
        "fused",
        "matmul",
    ]


def test_what_is_read_elsewhere_ends_a_region() -> None:
    graph = _graph(4, 5, 6, lambda x, w, b: ops.sum(ops.tanh(t := LAYER(x, w, b))) + ops.max(t))
    (region, *rest) = epilogues(graph).nodes
    assert isinstance(region.op, Fused)
    assert [n.op.name for n in region.op.graph.nodes] == ["add_matmul", "relu"]
    assert [n.op.name for n in rest][:1] == ["tanh"]


@pytest.mark.parametrize(
    "body",
    [
        lambda x, w, b: ops.cast(x @ w, "f64"),
        lambda x, w, b: ops.softmax(x @ w),
        lambda x, w, b: (y := x @ w) - ops.max(y),
    ],
)
def test_other_readers_stay(body: Body) -> None:
    assert "fused" not in _names(_graph(4, 5, 6, body))


@pytest.mark.parametrize(
    ("groups", "shape", "names"),
    [(1, (4, 1, 1), ["fused"]), (1, (6,), ["conv2d", "add"]), (2, (4, 1, 1), ["conv2d", "add"])],
)
def test_which_convolutions_are_regions(
    groups: int, shape: tuple[int, ...], names: list[str]
) -> None:
    """Of one group; a number for each column is on no axis of its own in kernels of NCHW images."""
    conv = ops.Conv2d((1, 1), "SAME", (1, 1), groups)
    graph = _graph_of(lambda x, w, b: conv(x, w) + b, (2, 4, 5, 6), (4, 4 // groups, 3, 3), shape)

    assert _names(graph) == names


def test_a_library_computes_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in (cublas, cudnn):
        monkeypatch.setattr(library, "library", object)
    image = _graph_of(lambda x, w: ops.relu(ops.conv2d(x, w)), (1, 2, 4, 4), (2, 2, 3, 3))

    assert "fused" not in (*_names(_graph(4, 5, 6, LAYER)), *_names(image))


@pytest.mark.parametrize(
    ("m", "k", "n", "dtype", "launches"),
    [(1, 40, 9, "f32", 1), (20, 9, 33, "f32", 1), (24, 1100, 20, "f32", 2), (20, 40, 24, "f16", 1)],
)
@compiled
def test_elements_are_computed_of_finished_sums(
    m: int, k: int, n: int, dtype: str, launches: int
) -> None:
    """Also where blocks share a sum, and of halves before they are rounded."""

    def body(x: Value, w: Value, b: Value, rows: Value, more: Value) -> Value:
        y = LAYER(x, w, b)
        return (y * rows + more) * ops.sigmoid(y)

    shapes = ((m, k), (k, n), (n,), (m, 1), (m, n))
    op, types, made = _region(_graph_of(body, *shapes, dtype=dtype))

    assert len(made.kernels) == launches
    assert_emulated(op, made, samples(types), 2 if dtype == "f16" else 4)


def _residual(op: ops.Conv2d) -> Body:
    return lambda x, w, scale, more: ops.relu(op(x, w) * scale + more)


def _gradient(x: Value, w: Value, scale: Value, y: Value) -> Value:
    return ops.relu_gradient(ops.Conv2dTranspose((2, 2))(x, w), y) * scale


SAME, LAST = ops.Conv2d((1, 1), "SAME"), ops.Conv2d((1, 1), "SAME", (1, 1), 1, "NHWC")
FIRST_X, LAST_X, LAST_W = (2, 3, 5, 6), (2, 5, 6, 3), (3, 3, 3, 4)
IMAGES = {
    "NCHW": (_residual(SAME), FIRST_X, (4, 3, 3, 3), (4, 1, 1)),
    "pointwise": (_residual(ops.Conv2d()), FIRST_X, (4, 3, 1, 1), (2, 1, 1, 1)),
    "NHWC": (_residual(LAST), LAST_X, LAST_W, (4,)),
    "NHWC, rows": (_residual(LAST), LAST_X, LAST_W, (5, 1, 1)),
    "in phases": (_gradient, FIRST_X, (3, 4, 3, 3), (4, 1, 1)),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=[] if n in ("NCHW", "in phases") else [pytest.mark.long])
        for n in IMAGES
    ],
)
@compiled
def test_what_follows_a_convolution_is_computed_with_it(name: str) -> None:
    body, *shapes = IMAGES[name]
    (y,) = _graph_of(body, *shapes, ()).outputs
    op, types, made = _region(_graph_of(body, *shapes, y.type.dims))

    assert_emulated(op, made, samples(types))
