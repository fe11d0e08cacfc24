"""What leaves the range of a dtype on the way: counts in half types, squares, exponentials.

Each case is computed by what ops mean, by NumPy's kernels and by generated ones, alone and between
elementwise ops of a region, and compared with the same in f64.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from waiting import wait_for_cases

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, Value
from byparts_opset.dtypes import numpy_dtype, type_of
from byparts_opset.evaluate import evaluate
from byparts_runtime import build

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ on the path")
BACKENDS = ["evaluate", "numpy", pytest.param("native", marks=needs_compiler)]
ALONE = pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a region"])
Function = Callable[..., Value]


def _slope(f: Function) -> Function:
    """The gradient of the sum of f, which is taken in f32 for half types."""
    return lambda x: gradients(ops.sum(ops.cast(f(x), _wide(x))), x)[0]


def _wide(x: Value) -> str:
    return "f64" if x.type.dtype == "f64" else "f32"


def _unit(x: Value, n: int) -> tuple[Value, Value]:
    return ops.fill(1.0, x.type.dtype, (n,)), ops.fill(0.0, x.type.dtype, (n,))


def _graph(f: Function, x: Any) -> Graph:
    value = Input(type_of(x))
    return Graph.of([value], [f(value)])


def _run(f: Function, x: Any, backend: str) -> Any:
    graph = _graph(f, x)
    if backend == "evaluate":
        return evaluate(graph, x)[0]
    return build(graph, backends=tuple(dict.fromkeys((backend, "numpy"))))(x)[0]


def _inside(f: Function) -> Function:
    """The function behind an op that changes no number, and before another."""
    return lambda x: ops.maximum(f(ops.minimum(x, float("inf"))), -float("inf"))


@pytest.fixture(scope="module", autouse=True)
def _compiled_at_once(request: pytest.FixtureRequest) -> None:
    def count(case: str, dtype: str, inside: bool) -> Graph:
        values, f = COUNTS[case]
        return _graph(_inside(f) if inside else f, values.astype(numpy_dtype(dtype)))

    def extreme(case: str, inside: bool) -> Graph:
        x, f = EXTREMES[case]
        return _graph(_inside(f) if inside else f, x)

    def square(name: str, dtype: str) -> Graph:
        return _graph(_slope(getattr(ops, name)), _hundreds(dtype))

    wait_for_cases(
        request,
        test_counts_are_not_held_in_half_types=count,
        test_extreme_numbers_have_one_answer=extreme,
        test_squares_in_gradients_do_not_leave_half_types=square,
    )


MANY = 70_000  # more than 65,504, the greatest of f16, and than 256, from which bf16 lacks numbers
RAMP = np.arange(MANY) % 7 / 8
COUNTS: dict[str, tuple[Any, Function]] = {
    "gradient of equal maxima": (np.ones(MANY), _slope(ops.max)),
    "gradient of equal minima": (np.ones((MANY, 2)), _slope(lambda x: ops.min(x, 0))),
    "gradient of some equal maxima": (np.ones((257, 3)), _slope(lambda x: ops.max(x, 0))),
    "mean": (RAMP, ops.mean),
    "mean of rows": (RAMP.reshape(2, -1), lambda x: ops.mean(x, 1)),
    "gradient of a mean": (RAMP, _slope(ops.mean)),
    "variance": (RAMP, ops.var),
    "variance of a sample": (RAMP, lambda x: ops.var(x, None, 1)),
    "gradient of a deviation": (RAMP, _slope(ops.std)),
    "norm": (RAMP, ops.norm),
    "number of others than 0": (RAMP[:50_000], lambda x: ops.norm(x, 0)),
    "logsumexp": (RAMP, ops.logsumexp),
    "mean of losses": (
        RAMP,
        lambda x: ops.mean(
            ops.sparse_softmax_cross_entropy(
                ops.reshape(x, (-1, 7)), ops.fill(1, "i32", (MANY // 7,))
            )
        ),
    ),
    "layer norm": (
        RAMP.reshape(1, -1),
        lambda x: ops.layer_norm(x, *_unit(x, MANY)),
    ),
    "batch norm": (RAMP.reshape(-1, 2), lambda x: ops.batch_norm(x, *_unit(x, 2))[0]),
    "average of a window": (np.ones((1, 1, 280, 280)), ops.global_average_pool),
    "gradient of an average": (np.ones((1, 1, 280, 280)), _slope(ops.global_average_pool)),
    "running sum": (np.full(MANY, 1 / 256), lambda x: ops.cumsum(x, 0)),
    "gradient of a bias": (
        np.zeros(2),
        _slope(lambda b: (ops.fill(0.0, b.type.dtype, (MANY, 2)) + b) * 0.5),
    ),
    "contraction": (RAMP / 64, lambda x: ops.einsum("i,i->", x, x)),
}


@pytest.mark.parametrize(
    ("dtype", "inside"),
    [
        pytest.param("f16", False, id="alone-f16"),
        pytest.param("bf16", True, id="in a region-bf16"),
        pytest.param("f16", True, id="in a region-f16", marks=pytest.mark.long),
        pytest.param("bf16", False, id="alone-bf16", marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", COUNTS)
def test_counts_are_not_held_in_half_types(
    case: str, backend: str, dtype: str, inside: bool
) -> None:
    """The result is that of f64, to some roundings of the half type."""
    values, f = COUNTS[case]
    x = values.astype(numpy_dtype(dtype))
    exact = _run(f, x.astype(np.float64), "evaluate")

    y = _run(_inside(f) if inside else f, x, backend).astype(np.float64)

    rounding, least = (2.0**-10, 6e-8) if dtype == "f16" else (2.0**-7, 1e-38)
    least += 1e-6 * float(np.abs(exact).max())
    np.testing.assert_allclose(y, exact, rtol=2 * rounding, atol=least)


def _of(*values: float) -> Any:
    return np.array(values, np.float32)


SIZES = (0.0, 1e-45, 1e-40, 1e-30, 1e-20, 1e-10, 1e-3, 0.3, 1.0, 3.0, 20.0, 300.0, 1e10, 1e25, 3e38)
ANY = _of(*SIZES, *[-s for s in SIZES])
LOGITS = np.array(
    [[1e30, 1e30], [-1e30, -1e30], [1e30, -1e30], [0, -88], [-np.inf, 3], [3e38, 0]], np.float32
)
EXTREMES: dict[str, tuple[Any, Function]] = {
    "sigmoid": (_of(-1e30, -120, -100, -90, -88, -87, -20, 0, 20, 90, 1e30), ops.sigmoid),
    "silu": (_of(-1e30, -90, -87, -20, 1e-30, 20, 1e30), ops.silu),
    "log of a sigmoid": (_of(-95, -90, -88, -20, 0), lambda x: ops.log(ops.sigmoid(x))),
    "log_sigmoid": (_of(-1e30, -120, -90, -1, 0, 20, 90, 1e30), ops.log_sigmoid),
    "slope of log_sigmoid": (_of(-1e30, -120, -90, -1, 0), _slope(ops.log_sigmoid)),
    "softplus": (_of(-1e30, -120, -90, 0, 20, 120, 1e30), ops.softplus),
    "slope of softplus": (_of(-1e30, -120, -90, 0, 20, 1e30), _slope(ops.softplus)),
    "exp": (_of(-1e30, -103, -90, -87, 1e-30, 88, 90), ops.exp),
    "expm1": (_of(-1e30, -1, -1e-10, -1e-40, 1e-40, 1e-10, 88), ops.expm1),
    "log1p": (_of(-1e-10, -1e-40, 1e-40, 1e-10, 1e30, 3e38), ops.log1p),
    "tanh": (ANY, ops.tanh),
    "erf": (ANY, ops.erf),
    "rsqrt": (np.abs(ANY), ops.rsqrt),
    "asinh": (ANY, ops.asinh),
    "slope of asinh": (ANY, _slope(ops.asinh)),
    "slope of acosh": (_of(1.5, 3, 1e4, 1e10, 1e20, 3e38), _slope(ops.acosh)),
    "slope of atan2": (_of(1e-38, 1e-30, 1, 1e20, 1e30), _slope(lambda x: ops.atan2(x, 2 * x))),
    "slope of gelu": (_of(-1e30, -20, 1e-30, 20, 1e30), _slope(ops.gelu)),
    "slope of gelu by tanh": (_of(-1e30, 1e-30, 1e30), _slope(lambda x: ops.gelu(x, True))),
    "power": (np.abs(ANY), lambda x: ops.pow(x, 2.5)),
    "softmax": (LOGITS, ops.softmax),
    "log_softmax": (LOGITS, ops.log_softmax),
    "logsumexp": (LOGITS, lambda x: ops.logsumexp(x, 1)),
    "cross entropy": (
        LOGITS[:4],
        lambda x: ops.sparse_softmax_cross_entropy(x, ops.fill(1, "i32", (4,))),
    ),
    "variance beside a large mean": (1e6 + np.arange(8, dtype=np.float32), ops.var),
}


@ALONE
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", EXTREMES)
def test_extreme_numbers_have_one_answer(case: str, backend: str, inside: bool) -> None:
    """That of f64, where f32 has it: infinite, subnormal or 0 as it would be rounded."""
    x, f = EXTREMES[case]
    with np.errstate(all="ignore"):
        exact = _run(f, x.astype(np.float64), "evaluate").astype(np.float32)

    y = _run(_inside(f) if inside else f, x, backend)

    np.testing.assert_allclose(y, exact, rtol=1e-5, atol=4e-45)


def _hundreds(dtype: str) -> Any:
    return np.array([3, 100, 300, 1000]).astype(numpy_dtype(dtype))


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["asinh", "acosh", "atan", "softsign"])
def test_squares_in_gradients_do_not_leave_half_types(name: str, backend: str, dtype: str) -> None:
    """300^2 is infinite in f16, 1 / 300 is a number."""
    f = _slope(getattr(ops, name))
    x = _hundreds(dtype)
    exact = _run(f, x.astype(np.float64), "evaluate")

    y = _run(f, x, backend).astype(np.float64)

    np.testing.assert_allclose(y, exact, rtol=2.0**-6, atol=1.2e-7)


def _normalised(name: str) -> Callable[[Value], Sequence[Value]]:
    if name == "layer":
        return lambda x: ops.LayerNorm().outputs_of(x, *_unit(x, 4))
    return lambda x: ops.BatchNorm(0).outputs_of(x, *_unit(x, 3))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["layer", "batch"])
def test_what_has_an_infinite_variance_is_normalised_to_beta(name: str, backend: str) -> None:
    """Not NaN on one backend and some number on another; its variance is infinite."""
    x = np.array([[1e30, 2e30, 3e30, -5e30], [1, 2, 3, 5], [1e30] * 4], np.float32)

    y = _run(lambda x: _normalised(name)(x)[0], x, backend)
    variance = _run(lambda x: _normalised(name)(x)[2], x, backend)

    np.testing.assert_array_equal(y[[0, 2]], np.zeros((2, 4)))
    assert np.isfinite(y[1]).all() and y[1].any()
    np.testing.assert_array_equal(np.isinf(variance).reshape(-1), [True, False, False])
