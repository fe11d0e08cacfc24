"""Where torch and we could differ: what kernels do that samples do not show."""

from __future__ import annotations

import re

import numpy as np
import pytest
from torch_kernel import Array, Bound, kernel

import byparts_opset as ops
from byparts_graph_ir import GraphError, Op

torch = pytest.importorskip("torch", reason="needs torch")

INFINITE, NAN = float("inf"), float("nan")


def f32(*numbers: float) -> Array:
    return np.array(numbers, np.float32)


def same(op: Op, *inputs: Array) -> None:
    """The kernel gives what `evaluate` does, nan for nan."""
    for got, want in zip(kernel(op, *inputs), op.evaluate(*inputs), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "op",
    [
        *(ops.Sign(), ops.IsNan(), ops.IsInf(), ops.IsFinite(), ops.Relu(), ops.Clip(-1, 1)),
        *(ops.Softplus(), ops.Silu(), ops.Elu(), ops.LogSumExp(None), ops.Max(None)),
        *(ops.ArgMax(None), ops.ArgMin(None), ops.TopK(3), ops.Round(), ops.Cast("bool")),
    ],
    ids=str,
)
def test_nan_and_infinities_come_out_as_meant(op: Op) -> None:
    with np.errstate(all="ignore"):
        same(op, f32(1.5, NAN, -INFINITE, 0.5, INFINITE, -0.0, 2.5))


@pytest.mark.parametrize("numbers", [(INFINITE, 0.0), (-INFINITE, -INFINITE), (-1e30, 1e30)])
def test_logsumexp_of_infinities_is_no_nan(numbers: tuple[float, float]) -> None:
    same(ops.LogSumExp(None), f32(*numbers))


def test_softplus_is_exact_in_f64() -> None:
    """torch's default goes over to x at 20, where e^-20 still counts."""
    (y,) = kernel(ops.Softplus(), np.array([20.5, 30.0, -30.0]))

    np.testing.assert_allclose(y, np.logaddexp(0, [20.5, 30.0, -30.0]), rtol=1e-15)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8"])
@pytest.mark.parametrize("op", [ops.Floordiv(), ops.Mod()], ids=str)
def test_no_integer_division_ends_the_process(op: Op, dtype: str) -> None:
    """By 0, where torch raises, and the least by -1, where the processor does."""
    least = np.iinfo(dtype).min
    x = np.array([7, least, 5, 0, 100], dtype)
    y = np.array([0, -1 if least else 255, -2 if least else 2, 0, 7]).astype(dtype)

    with np.errstate(all="ignore"):
        same(op, x, y)


@pytest.mark.parametrize("shape", [(5000,), (70_001,), (3, 30_000)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint8", "bool"])
def test_select_by_bits_is_select(shape: tuple[int, ...], dtype: str) -> None:
    rng = np.random.default_rng(0)
    x, y = ((rng.random(shape) * 9).astype(dtype) for _ in range(2))
    c = rng.random(shape) < 0.5

    same(ops.Select(), c, x, y)
    same(ops.Select(), c, x, np.zeros((), dtype))


def test_select_and_dropout_leave_nothing_of_what_is_dropped() -> None:
    """Not even nan, also where they work by bits; and signs of 0 stay."""
    dropped = np.arange(5000) % 2 == 0
    x = np.where(dropped, NAN, -0.0).astype(np.float32)

    for op, inputs in ((ops.Dropout(0.5), (x, dropped)), (ops.Select(), (dropped, f32(0), x))):
        (y,) = kernel(op, *inputs)
        assert not np.isnan(y).any() and np.signbit(y[1])


def test_gelu_is_one_function_of_short_and_long() -> None:
    x = np.linspace(-6, 6, 10_001, dtype=np.float32)

    (long,), (short,) = kernel(ops.Gelu(), x), kernel(ops.Gelu(), x[:4000])
    np.testing.assert_allclose(long[:4000], short, atol=1e-6)


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16"])
def test_uniforms_are_the_same_bits_in_every_piece(dtype: str) -> None:
    """More elements than a piece has, a negative key, and a counter that overflows."""
    op = ops.RandomUniform((200_003,), dtype)
    key, counter = np.array(-5, np.int64), np.array(2**63 - 1, np.int64)

    np.testing.assert_array_equal(kernel(op, key, counter), op.evaluate(key, counter))


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_bernoulli_is_the_same_in_every_piece(p: float) -> None:
    op, key, counter = ops.Bernoulli(p, (70_001,)), np.array(3, np.int64), np.array(9, np.int64)

    np.testing.assert_array_equal(kernel(op, key, counter), op.evaluate(key, counter))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_an_index_out_of_range_is_named(dtype: str) -> None:
    """For rows that are picked and rows that are added to."""
    indices, x = np.array([0, 3, 1]).astype(dtype), np.zeros((3, 2), np.float32)

    for op, inputs in (
        (ops.Gather(0), (x, indices)),
        (ops.ScatterAdd(0), (indices, np.zeros((3, 2), np.float32), x)),
    ):
        bound = Bound(op, *inputs)
        says = f"{op.name}: index 3 at [1] is out of range for axis 0 of size 3"
        with pytest.raises(GraphError, match=re.escape(says)):
            bound.run()


def test_a_negative_index_is_out_of_range() -> None:
    with pytest.raises(GraphError, match="index -1 at "):
        Bound(ops.Gather(0), np.zeros((3, 2), np.float32), np.array([-1])).run()


def test_top_k_takes_the_first_of_equals() -> None:
    _, indices = kernel(ops.TopK(3), f32(*[1, 2] * 50))

    assert indices.tolist() == [1, 3, 5]


@pytest.mark.parametrize("axis", [0, 1, None])
def test_the_first_of_equals_is_found(axis: int | None) -> None:
    x = np.zeros((300, 40), np.float32)

    for op in (ops.ArgMax(axis), ops.ArgMin(axis)):
        assert not kernel(op, x)[0].any()


@pytest.mark.parametrize(
    ("a", "b"),
    [
        *(((4, 3), (3, 5)), ((2, 4, 3), (3, 5)), ((4, 3), (2, 3, 5)), ((2, 4, 3), (2, 3, 5))),
        *(((2, 1, 4, 3), (6, 3, 5)), ((2, 6, 4, 3), (2, 1, 3, 5)), ((1, 1, 4, 3), (1, 3, 5))),
        *(((1, 4, 3), (7, 3, 5)), ((7, 4, 3), (1, 1, 3, 5)), ((0, 4, 3), (3, 5))),
    ],
)
def test_products_broadcast_their_batches(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal(a), rng.standard_normal(b)

    for ta in (False, True):
        for tb in (False, True):
            left, right = x.swapaxes(-1, -2) if ta else x, w.swapaxes(-1, -2) if tb else w
            same(ops.MatMul(ta, tb), np.ascontiguousarray(left), np.ascontiguousarray(right))


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 2), (0, 1), (1, 2), None])
def test_half_sums_are_rounded_once(axes: tuple[int, ...] | None) -> None:
    """In f16 the sum of [4, 3, 5000] ones and more would overflow, or stop growing at 2048."""
    x = np.full((4, 3, 5000), 0.6, np.float16)

    np.testing.assert_array_equal(kernel(ops.Sum(axes), x), ops.Sum(axes).evaluate(x))


def test_a_half_mean_does_not_overflow_on_the_way() -> None:
    assert kernel(ops.Mean(None), np.full(1000, 1000, np.float16))[0] == 1000


def test_a_number_too_great_for_a_half_type_is_infinite() -> None:
    for op in (ops.Fill(1e30, "f16", (2,)), ops.Pad(((2, 0),), 1e30)):
        inputs = [np.zeros(1, np.float16)] if isinstance(op, ops.Pad) else []
        assert np.isinf(kernel(op, *inputs)[0][:2]).all()


def test_print_writes_what_numpy_writes(capsys: pytest.CaptureFixture[str]) -> None:
    kernel(ops.Print("x is"), f32(1, 2))

    assert capsys.readouterr().out == "x is [1. 2.]\n"
