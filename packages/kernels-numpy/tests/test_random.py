"""Draws and dropout: bit for bit what `evaluate` says, in one chunk and in many."""

import numpy as np
import pytest
from bound import BACKEND, bound, kernel, node_on, peak_bytes, spread

from byparts_graph_ir.backend.kernel import Workspace
from byparts_kernels_numpy.philox import filler
from byparts_kernels_numpy.workspace import Shared
from byparts_opset import Bernoulli, Dropout, RandomNormal, RandomUniform, TruncatedNormal
from byparts_opset.philox import stream

KEY, COUNTER = np.array(-3), np.array(2**40 - 1)
SHAPES = [(), (0, 2), (3,), (5, 7), (70_001,)]


@pytest.mark.parametrize(("key", "counter"), [(0, 0), (-1, -1), (2**62, 2**32 - 2)])
def test_the_same_words(key: int, counter: int) -> None:
    """Also where the counter carries into its high word, and wraps."""
    words = np.empty(32, np.uint32)

    filler(words, np.arange(8, dtype=np.uint64), Shared(Workspace(BACKEND)))(key, counter)

    assert np.array_equal(words, stream(key, counter, 32))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16"])
def test_uniform_bits(shape: tuple[int, ...], dtype: str) -> None:
    """Equal, not close."""
    op = RandomUniform(shape, dtype)

    assert np.array_equal(kernel(op, KEY, COUNTER)[0], op.evaluate(KEY, COUNTER)[0])


@pytest.mark.parametrize("p", [0.0, 2**-25, 0.3, 1 - 2**-24, 1.0])
def test_bernoulli_bits(p: float) -> None:
    """Without making the uniforms; equal for every p, also one that rounds in f32."""
    op = Bernoulli(p, (70_001,))

    assert np.array_equal(kernel(op, KEY, COUNTER)[0], op.evaluate(KEY, COUNTER)[0])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("dtype", "rtol"), [("f32", 3e-6), ("f64", 1e-13), ("f16", 2e-3)])
@pytest.mark.parametrize("op", [RandomNormal, TruncatedNormal])
def test_normal_draws(
    op: type[RandomNormal], shape: tuple[int, ...], dtype: str, rtol: float
) -> None:
    """To rounding: logarithm and cosine differ in their last bit between libraries."""
    draw = op(shape, dtype)

    found = kernel(draw, KEY, COUNTER)[0]

    np.testing.assert_allclose(found, draw.evaluate(KEY, COUNTER)[0], rtol=rtol, atol=rtol)


def test_shaped_like_an_input_whose_bytes_are_not_read() -> None:
    """The third input is a shape only."""
    x = np.full((4, 5), np.nan, np.float32)

    found = kernel(RandomUniform(), KEY, COUNTER, x)[0]

    assert np.array_equal(found, RandomUniform((4, 5)).evaluate(KEY, COUNTER)[0])


def test_draws_read_key_and_counter_when_they_run() -> None:
    """A bound step draws from what the arrays hold then."""
    op, counter, y = RandomUniform((8,)), np.array(0), np.empty(8, np.float32)
    run = BACKEND.bind(node_on(op, KEY, counter), [KEY, counter], [y])
    run()
    first = y.copy()
    counter[...] = 1

    run()

    assert np.array_equal(y[:4], first[4:])


@pytest.mark.parametrize("op", [RandomUniform, RandomNormal])
def test_draws_allocate_nothing_to_speak_of(op: type[RandomUniform]) -> None:
    """4 MB are drawn; what NumPy holds meanwhile is a buffer (64 KB in 1.26)."""
    assert peak_bytes(bound(op((1_000_000,)), KEY, COUNTER)) < 120_000


def test_dropout_as_evaluate() -> None:
    """Apart, in place, with gaps, and with a mask that is repeated; inf dropped is 0."""
    x = np.random.default_rng(1).normal(size=(50, 6)).astype(np.float32)
    x[0, 0] = np.inf
    masks = (np.arange(300).reshape(50, 6) % 3 == 0, np.arange(6) % 2 == 0)
    op = Dropout(0.25)
    for dropped in masks:
        expected = op.evaluate(x, dropped)[0]
        for found in (
            kernel(op, x, dropped),
            kernel(op, x, dropped, into=0),
            kernel(op, spread(x), spread(dropped)),
        ):
            np.testing.assert_allclose(found[0], expected, rtol=1e-6)
    assert expected[0, 0] == 0
