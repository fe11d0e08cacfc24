"""Convolutions for all sizes of images, each against `evaluate` of its size."""

from __future__ import annotations

from typing import Any

import pytest
from families import check, family_of

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType
from byparts_kernels_native import code, make

# filter, strides, padding, dilations, groups
CASES: list[tuple[Any, ...]] = [
    ((8, 3, 3, 3), (1, 1), "SAME", (1, 1), 1),
    ((29, 6, 1, 1), (2, 2), "VALID", (1, 1), 1),
    ((6, 3, 3, 2), (2, 1), "SAME", (1, 2), 2),
    ((5, 6, 2, 5), (1, 3), ((2, 0), (1, 3)), (2, 1), 1),
    ((12, 1, 3, 3), (1, 1), "SAME", (1, 1), 6),
    ((70, 40, 5, 5), (1, 1), "SAME", (1, 1), 1),
]
SIZES = ((1, 7, 9), (2, 20, 33), (0, 8, 8), (3, 1, 1), (2, 0, 5), (1, 40, 70))


@pytest.fixture(autouse=True)
def _of_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_EMITTER", "c")


def _graph(case: tuple[Any, ...], dtype: str) -> Graph:
    filter, strides, padding, dilations, groups = case
    x = Input(TensorType(dtype, ("n", filter[1] * groups, "h", "w")))
    w = Input(TensorType(dtype, filter))
    return Graph.of([x, w], [ops.conv2d(x, w, strides, padding, dilations, groups)])


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16"])
@pytest.mark.parametrize("case", CASES)
def test_a_convolution_of_images_of_every_size(case: tuple[Any, ...], dtype: str) -> None:
    """Batches and images of nothing and of one, tails of panels, pixels beyond each edge."""
    graph = _graph(case, dtype)
    family = family_of(graph)
    check(graph, family, n=1, h=9, w=9)
    before = len(code.sources)
    for n, h, w in SIZES:
        if case[2] == "SAME" or min(h, w) >= 5:  # smaller ones hold no filter
            check(graph, family, n=n, h=h, w=w)

    assert len(code.sources) == before


def test_what_is_compiled_for_each_size() -> None:
    """Images with channels last, integers, filters of a size that is not known, gradients."""
    x, w = TensorType("f32", (1, "n", "n", 3)), TensorType("f32", (3, 3, 3, 8))
    rows, named = TensorType("f32", (1, 3, "n", 4)), TensorType("f32", (8, 3, "k", 1))
    whole = TensorType("i32", (8, 3, 1, 1))
    for op, types in (
        (ops.Conv2d(layout="NHWC"), [x, w]),
        (ops.Conv2d(), [rows, named]),
        (ops.Conv2d(), [TensorType("i32", (1, 3, "n", 4)), whole]),
        (ops.Conv2dTranspose(), [TensorType("f32", (1, 8, "n", 4)), TensorType("f32", whole.dims)]),
    ):
        assert not make().family(op, types, frozenset()).shared


def test_without_a_compiler_of_c_each_size_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")
    monkeypatch.setenv("BYPARTS_EMITTER", "llvm")

    assert not family_of(_graph(CASES[0], "f32")).shared
