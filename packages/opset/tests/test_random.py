"""Uniform draws, bools and integers: exact bits, then statistics with fixed keys."""

import numpy as np
import pytest
from numeric import Array, run

from byparts_graph_ir import Graph, GraphError, Input, ShapeError, TensorType, specialize
from byparts_opset import (
    Bernoulli,
    RandomUniform,
    bernoulli,
    fill,
    next_counter,
    random_int,
    random_normal,
    random_uniform,
)
from byparts_opset.philox import stream

N = 20000
KEY, COUNTER = np.array(11), np.array(5)


def test_f32_is_the_top_24_bits_of_a_word() -> None:
    """Exactly, so that every backend can do the same."""
    (y,) = RandomUniform((2, 3)).evaluate(KEY, COUNTER)

    words = stream(11, 5, 6).tolist()
    assert y.dtype == np.float32
    assert y.ravel().tolist() == [(w >> 8) / 2**24 for w in words]


def test_f64_is_the_top_53_bits_of_two_words() -> None:
    """The first word is the low one."""
    (y,) = RandomUniform((3,), "f64").evaluate(KEY, COUNTER)

    words = stream(11, 5, 6).tolist()
    pairs = zip(words[0::2], words[1::2], strict=True)
    assert y.tolist() == [((low + (high << 32)) >> 11) / 2**53 for low, high in pairs]


@pytest.mark.parametrize(("dtype", "bits"), [("f16", 11), ("bf16", 8)])
def test_half_types_are_exact_and_below_one(dtype: str, bits: int) -> None:
    """As many bits as they hold: rounding f32 would give 1.0 sometimes."""
    (y,) = RandomUniform((N,), dtype).evaluate(KEY, COUNTER)

    scaled = y.astype(np.float64) * 2**bits
    assert scaled.max() == 2**bits - 1
    assert np.array_equal(scaled, stream(11, 5, N) >> (32 - bits))


def test_an_element_needs_nothing_of_the_others() -> None:
    """A longer draw starts with the shorter one; another counter is another place in the stream."""
    long, short = _draw(random_uniform(1, 0, (40,))), _draw(random_uniform(1, 0, (13,)))

    assert np.array_equal(long[:13], short)
    assert np.array_equal(long[8:], _draw(random_uniform(1, 2, (32,))))
    assert not np.array_equal(long, _draw(random_uniform(2, 0, (40,))))


def test_uniform_draws_are_uniform() -> None:
    """Mean, variance, and the largest gap between their distribution and the line (KS, p > 0.01)."""
    y = np.sort(_draw(random_uniform(1, 0, (N,))).astype(np.float64))

    gap = np.abs(y - (np.arange(N) + 0.5) / N).max()
    assert abs(y.mean() - 0.5) < 3 / np.sqrt(12 * N)
    assert abs(y.var() - 1 / 12) < 3 * np.sqrt(1 / 180 / N)
    assert gap < 1.63 / np.sqrt(N)


def test_neighbours_are_not_correlated() -> None:
    """At distance 1 and 4 (the next block), and between two keys."""
    y, z = (_draw(random_uniform(key, 0, (N,))) - 0.5 for key in (1, 2))

    for a, b in ((y[1:], y[:-1]), (y[4:], y[:-4]), (y, z)):
        assert abs((a * b).mean() * 12) < 3 / np.sqrt(len(a))


def test_high_is_never_reached() -> None:
    """1 + u would round up to 2 in f32; [1, 2) does not hold 2."""
    top = np.float32(1 - 2**-24)
    assert np.float32(1) + top == 2  # what the last step prevents

    y = _draw(random_uniform(1, 0, (N,), 1.0, 1.0 + 2**-20))

    assert y.min() >= 1 and y.max() < 1 + 2**-20


def test_bools_are_true_with_their_probability() -> None:
    """0 never, 1 always, 0.3 three times in ten (within three deviations)."""
    share = _draw(bernoulli(1, 0, (N,), 0.3)).mean()

    assert abs(share - 0.3) < 3 * np.sqrt(0.3 * 0.7 / N)
    assert not _draw(bernoulli(1, 0, (N,), 0.0)).any()
    assert _draw(bernoulli(1, 0, (N,), 1.0)).all()


def test_integers_are_even_over_their_range() -> None:
    """[-3, 4): seven numbers, chi-squared with six degrees of freedom below 16.8 (p > 0.01)."""
    y = _draw(random_int(1, 0, (N,), -3, 4))

    values, counts = np.unique(y, return_counts=True)
    assert y.dtype == np.int32 and values.tolist() == [-3, -2, -1, 0, 1, 2, 3]
    assert ((counts - N / 7) ** 2 / (N / 7)).sum() < 16.8


def test_next_counter_leaves_what_was_drawn_behind() -> None:
    """A draw of n never reads past n blocks: f64 normals read four words an element."""
    key, counter = (Input(TensorType("i64", ())) for _ in range(2))
    first = random_normal(key, counter, (5,), dtype="f64")
    after = next_counter(counter, first)
    words = random_uniform(key, after, (8,))
    graph = Graph.of((key, counter), [after, words])

    after_value, second = run(graph, np.array(3), np.array(100))

    assert after_value == 105
    assert np.array_equal(second, (stream(3, 105, 8) >> 8).astype(np.float32) / 2**24)


def test_a_draw_may_be_shaped_like_a_value() -> None:
    """Of a batch that is not known; specialised, the shape is a field."""
    x = Input(TensorType("f32", (None, 3)))
    graph = Graph.of([x], [random_uniform(1, 0, x), bernoulli(1, 0, x, 0.5)])

    static = specialize(graph, (TensorType("f32", (4, 3)),))

    assert {RandomUniform((4, 3)), Bernoulli(0.5, (4, 3))} <= {n.op for n in static.nodes}
    for a, b in zip(
        run(graph, np.ones((4, 3), "f4")), run(static, np.ones((4, 3), "f4")), strict=True
    ):
        assert a.shape == (4, 3) and np.array_equal(a, b)


def test_symbols_in_a_shape_are_bound() -> None:
    """A named batch is a number after `specialize`."""
    x = Input(TensorType("f32", ("n", 3)))
    graph = Graph.of([x], [x + random_uniform(1, 0, x)])

    static = specialize(graph, (TensorType("f32", (4, 3)),))

    assert RandomUniform((4, 3)) in {n.op for n in static.nodes}


def test_nothing_is_differentiated() -> None:
    """Neither key nor counter has a gradient."""
    y = random_uniform(1, 0, (3,))
    assert y.node is not None

    assert y.node.op.gradient(y.node, y) == (None, None)


def test_what_cannot_be_drawn() -> None:
    """Types, probabilities, ranges."""
    key, f = fill(1, "i64"), fill(1.0)

    with pytest.raises(ShapeError, match=r"random_uniform: the counter is a 0-d i64, got f32\[\]"):
        RandomUniform((2,))(key, f)
    with pytest.raises(ShapeError, match="random_uniform: draws floats, not 'i32'; random_int"):
        random_uniform(1, 0, (2,), dtype="i32")
    with pytest.raises(GraphError, match=r"bernoulli: p is 1\.5, which is no probability"):
        bernoulli(1, 0, (2,), 1.5)
    with pytest.raises(
        GraphError, match=r"random_uniform: takes finite low < high, got 1\.0 and 1\.0"
    ):
        random_uniform(1, 0, (2,), 1.0, 1.0)
    with pytest.raises(
        GraphError, match="takes a shape or one value to be shaped like, got 0 values"
    ):
        RandomUniform()(key, key)


def _draw(y: object) -> Array:
    return run(Graph.of([], [y]))[0]  # type: ignore[list-item]
