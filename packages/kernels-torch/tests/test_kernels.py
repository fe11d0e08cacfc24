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
        *(ops.Sort(), ops.Sort(0, True), ops.ArgSort(), ops.ArgSort(0, True), ops.CumProd(0)),
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
        (ops.Scatter(0), (x, indices, np.zeros((3, 2), np.float32))),
    ):
        bound = Bound(op, *inputs)
        says = f"{op.name}: index 3 at [1] is out of range for axis 0 of size 3"
        with pytest.raises(GraphError, match=re.escape(says)):
            bound.run()


def test_a_negative_index_is_out_of_range() -> None:
    with pytest.raises(GraphError, match="index -1 at "):
        Bound(ops.Gather(0), np.zeros((3, 2), np.float32), np.array([-1])).run()


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "bool"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_of_updates_at_one_index_the_last_stays(axis: int, dtype: str) -> None:
    """As many at each index as torch has threads for, which write in any order."""
    random = np.random.default_rng(axis)
    shape = [5, 6, 70]
    x = random.normal(size=shape).astype(dtype)
    indices = random.integers(0, shape[axis], 5000)
    shape[axis] = 5000
    updates = random.normal(size=shape).astype(dtype)
    op = ops.Scatter(axis)

    (found,) = kernel(op, x, indices, updates)
    (want,) = op.evaluate(x, indices, updates)
    np.testing.assert_array_equal(found, want)


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


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8"])
@pytest.mark.parametrize("op", [ops.Pow(), ops.Floordiv(), ops.Mod()], ids=str)
def test_integers_at_their_edges(op: Op, dtype: str) -> None:
    """Divisors of 0, the least by -1, negative powers, all of all."""
    limits = np.iinfo(dtype)
    edges = np.array([0, 1, 2, 3, 7, -1, -2, -3, limits.min, limits.max]).astype(dtype)
    x, y = np.meshgrid(edges, edges)

    np.testing.assert_array_equal(kernel(op, x, y)[0], op.evaluate(x, y)[0], strict=True)


@pytest.mark.parametrize("axis", [0, 1])
def test_log_softmax_of_many_halves(axis: int) -> None:
    """Their sum is no f16: torch's own kernel gives -inf on the CPU."""
    x = np.zeros((2, 70_000) if axis else (70_000, 2), np.float16)
    ones, y = x + np.float16(1), x - np.float16(11.16)

    same(ops.LogSoftmax(axis), x)
    same(ops.LogSoftmaxGradient(axis), ones, y)


def test_transposed_convolutions_of_halves_round_once() -> None:
    """Also on processors for which oneDNN has no f16, where torch adds in f16."""
    rng = np.random.default_rng(0)
    dy, w = (rng.normal(size=s).astype(np.float16) for s in ((2, 128, 9, 9), (128, 64, 4, 4)))
    op = ops.Conv2dTranspose((2, 2), ((0, 0), (0, 0)))
    want = op.evaluate(dy.astype(np.float64), w.astype(np.float64))[0]
    with torch.backends.mkldnn.flags(enabled=False, allow_tf32=None):
        (got,) = kernel(op, dy, w)

    np.testing.assert_array_less(np.abs(got - want).max(), 1.05 * np.abs(want).max() * 2.0**-11)


@pytest.mark.parametrize("shapes", [((), ()), ((), (5000,)), ((5000,), ()), ((1,), ())])
def test_choices_of_single_numbers_by_bits(shapes: tuple[tuple[int, ...], ...]) -> None:
    """Of two numbers and many conditions the kernel raised."""
    c = np.arange(5000) % 3 == 0
    x, y = (np.full(s, v, np.float32) for s, v in zip(shapes, (2.5, -1.0), strict=True))

    same(ops.Select(), c, x, y)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_next_number_is_exactly_that(dtype: str) -> None:
    """The kit, which allows some units, would not see another one."""
    x, y = np.array([1, -1, 0.5, 3], dtype), np.array([2, INFINITE, -1, 3], dtype)
    (found,) = kernel(ops.NextAfter(), x, y)

    np.testing.assert_array_equal(found, np.nextafter(x, y))
