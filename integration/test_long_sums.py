"""Sums of millions of f32 are exact to a stated bound, on every backend, alone and in a region.

The numbers are a tenth, whose roundings all go one way: added in turn, a million lose 1 %.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from waiting import wait_for_cases

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, Value
from byparts_opset.dtypes import type_of
from byparts_opset.evaluate import evaluate
from byparts_runtime import build

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ on the path")
BACKENDS = ["numpy", pytest.param("native", marks=needs_compiler)]
N = 1 << 20
# No accumulator has more than 4096 additions in turn, and there are three of them in a row at most;
# BLAS adds blocks of up to 1024, whose sums it may add in turn.
BOUND = 3 * 4096 * 2.0**-24
Function = Callable[..., Value]


def _bias(x: Value) -> Value:
    b = ops.fill(0.0, x.type.dtype, (x.type.dims[-1],))
    return gradients(ops.sum((x + b) * 1.0), b)[0]


def _filter(x: Value) -> Value:
    like = ops.fill(0.0, x.type.dtype, (2, 2, 3, 3))
    return ops.Conv2dFilterGradient(padding=((1, 1), (1, 1)))(x, x, like)


def _rows(x: Value) -> Value:
    return ops.scatter_add(
        ops.fill(0, "i32", (x.type.dims[0],)), x, ops.fill(0.0, x.type.dtype, (2, 3)), 0
    )


CASES: dict[str, tuple[tuple[int, ...], Function]] = {
    "sum of all": ((4 * N,), ops.sum),
    "sum of a column": ((N, 1), lambda x: ops.sum(x, 0)),
    "sums of few columns": ((N, 3), lambda x: ops.sum(x, 0)),
    "sums of many columns": ((N // 32, 40), lambda x: ops.sum(x, 0)),
    "sums of rows": ((2, 4 * N), lambda x: ops.sum(x, 1)),
    "sums of images": ((N // 8, 2, 8), lambda x: ops.sum(x, (0, 2))),
    "sums of two axes apart": ((N // 64, 2, 8, 3), lambda x: ops.sum(x, (0, 2))),
    "mean": ((N, 2), lambda x: ops.mean(x, 0)),
    "mean of squares": ((N, 2), lambda x: ops.mean(ops.square(x), 0)),
    "norm": ((N, 2), lambda x: ops.norm(x, 2, 0)),
    "norm of order 1": ((N, 2), lambda x: ops.norm(x, 1, 0)),
    "logsumexp": ((N, 2), lambda x: ops.logsumexp(x, 0)),
    "softmax": ((2, N), lambda x: ops.softmax(x, 1)),
    "softmax of columns": ((N, 2), lambda x: ops.softmax(x, 0)),
    "running sum": ((N,), lambda x: ops.cumsum(x, 0)),
    "running sums of columns": ((N // 2, 2), lambda x: ops.cumsum(x, 0, True, True)),
    "batch statistics": ((N, 2), lambda x: ops.BatchNorm().outputs_of(x, *_ones(x, 2))[1]),
    "layer statistics": ((2, N), lambda x: ops.LayerNorm().outputs_of(x, *_ones(x, N))[1]),
    "gradient of a bias": ((N, 3), _bias),
    "gradient of a filter": ((4, 2, 512, 512), _filter),
    "rows added by index": ((N, 3), _rows),
    "dot product": ((1, N), lambda x: ops.matmul(x, x, transpose_b=True)),
    "dot product of columns": ((N, 1), lambda x: ops.matmul(x, x, transpose_a=True)),
    "product with a column": ((3, N), lambda x: ops.matmul(x, ops.reshape(x[0], (N, 1)))),
    "product of few columns": ((N, 3), lambda x: ops.matmul(x, x, transpose_a=True)),
    "product of some columns": ((N // 8, 20), lambda x: ops.matmul(x, x, transpose_a=True)),
    "product of few rows": ((5, N), lambda x: ops.matmul(x, x, transpose_b=True)),
    "contraction": ((N // 16, 16), lambda x: ops.einsum("ij,ij->", x, x)),
    "average of a window": ((1, 1, 1024, 1024), ops.global_average_pool),
    "outer sum": ((2048,), lambda x: ops.sum(ops.reshape(x, (-1, 1)) * ops.reshape(x, (1, -1)))),
}


def _ones(x: Value, n: int) -> tuple[Value, Value]:
    return ops.fill(1.0, x.type.dtype, (n,)), ops.fill(0.0, x.type.dtype, (n,))


def _inside(f: Function) -> Function:
    """The function between two elementwise ops, which a region joins with it."""
    return lambda x: f(ops.abs(x)) * 0.5


def _case(case: str, inside: bool) -> Graph:
    shape, f = CASES[case]
    return _graph(_inside(f) if inside else f, np.empty(shape, np.float32))


@pytest.fixture(scope="module", autouse=True)
def _compiled_at_once(request: pytest.FixtureRequest) -> None:
    wait_for_cases(request, test_long_sums_are_within_the_bound=_case)


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a region"])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", CASES)
def test_long_sums_are_within_the_bound(case: str, backend: str, inside: bool) -> None:
    """Relative to the sum of sizes, which here is the sum itself."""
    x = np.full(CASES[case][0], 0.1, np.float32)

    (y,) = build(_case(case, inside), backends=tuple(dict.fromkeys((backend, "numpy"))))(x)

    np.testing.assert_allclose(y, _exact(case, inside), rtol=BOUND)


@pytest.mark.parametrize("case", CASES)
def test_the_reference_is_exact(case: str) -> None:
    """What `evaluate` gives is that of f64, rounded."""
    shape, f = CASES[case]
    x = np.full(shape, 0.1, np.float32)

    (y,) = evaluate(_graph(f, x), x)

    np.testing.assert_allclose(y, _exact(case, False), rtol=4e-7)


@lru_cache(maxsize=2)  # the cases of a function stand side by side; a result may have 32 MB
def _exact(case: str, inside: bool) -> Any:
    """What `evaluate` gives in f64."""
    shape, f = CASES[case]
    wide = np.full(shape, 0.1, np.float32).astype(np.float64)
    (exact,) = evaluate(_graph(_inside(f) if inside else f, wide), wide)
    return exact


def _graph(f: Function, x: Any) -> Graph:
    value = Input(type_of(x))
    return Graph.of([value], [f(value)])
