"""Attention mechanisms of contrib: monotonic ones, and those that programs derive."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.session import defaults

MEMORY = np.sin(np.arange(24, dtype=np.float32)).reshape(2, 4, 3)
CHANCES = np.array([[0.2, 0.5, 0.9, 0.3], [0.7, 0.1, 0.4, 0.6]], np.float32)
BEFORE = np.array([[0.0, 0.6, 0.4, 0.0], [1.0, 0.0, 0.0, 0.0]], np.float32)


@pytest.fixture(autouse=True)
def _numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(defaults, "backends", ("numpy",))


def test_monotonic_shares_are_those_of_the_recurrence() -> None:
    """Of all three modes; hard ones stop at the first place that is chosen."""
    kinds = ("recursive", "parallel", "hard")
    with tf.Graph().as_default(), tf.Session() as session:
        attend = tf.contrib.seq2seq.monotonic_attention
        chances = {"hard": np.round(CHANCES)}
        made = [attend(chances.get(k, CHANCES), BEFORE, k) for k in kinds]
        recursive, parallel, hard = session.run(made)

    expected, arrived = np.zeros_like(CHANCES), np.zeros(2, np.float32)
    for j in range(4):
        arrived = BEFORE[:, j] + arrived * (1 - CHANCES[:, j - 1] if j else 1)
        expected[:, j] = CHANCES[:, j] * arrived
    np.testing.assert_allclose(recursive, expected, 1e-5)
    np.testing.assert_allclose(parallel, expected, 1e-5)
    assert hard.tolist() == pytest.approx(np.array([[0, 0, 1, 0], [1, 0, 0, 0]]), abs=1e-6)


def test_monotonic_mechanisms_begin_at_the_first_row() -> None:
    """Their variables have TensorFlow's names; the bias is added to the scores."""
    with tf.Graph().as_default(), tf.Session() as session:
        kind = tf.contrib.seq2seq.LuongMonotonicAttention
        mechanism = kind(3, MEMORY, [4, 2], scale=True, score_bias_init=-1.0)
        start = mechanism.initial_state(2, tf.float32)
        shares, after = mechanism(tf.ones([2, 3]), start)
        names = [v.name for v in tf.trainable_variables()]
        session.run(tf.global_variables_initializer())
        found, first, keys = session.run([shares, start, mechanism.keys])

    scope = "luong_monotonic_attention"
    wanted = ["attention_g:0", "attention_score_bias:0"]
    assert names == ["memory_layer/kernel:0", *[f"{scope}/{n}" for n in wanted]]
    assert after is shares and first.tolist() == [[1, 0, 0, 0], [1, 0, 0, 0]]
    stop = 1 / (1 + np.exp(1 - keys.sum(2)))
    stop[1, 2:] = 0
    going = np.cumprod(np.concatenate([np.ones((2, 1)), 1 - stop[:, :-1]], 1), 1)
    np.testing.assert_allclose(found, stop * going, 1e-4, 1e-6)


def test_a_derived_mechanism_uses_tensorflows_inner_names() -> None:
    """As programs write location-sensitive attention: the state is the sum of all shares."""
    inside = tf.contrib.seq2seq.python.ops.attention_wrapper

    class Sums(tf.contrib.seq2seq.BahdanauAttention):  # type: ignore[misc]  # found when it is used
        def __call__(self, query: Any, state: Any) -> Any:
            v = tf.get_variable("v", [self._num_units], initializer=tf.ones_initializer())
            score = inside._bahdanau_score(self.query_layer(query), self._keys, v)
            shares = self._probability_fn(score, state)
            return shares, state + shares

    with tf.Graph().as_default(), tf.Session() as session:
        cell = tf.nn.rnn_cell.GRUCell(2)
        wrapper = tf.contrib.seq2seq.AttentionWrapper(cell, Sums(5, MEMORY, [4, 2]))
        state = wrapper.zero_state(2, tf.float32)
        for _ in range(2):
            _, state = wrapper(tf.ones([2, 1]), state)
        session.run(tf.global_variables_initializer())
        sums, shares = session.run([state.attention_state, state.alignments])

    np.testing.assert_allclose(sums.sum(1), [2, 2], 1e-5)
    assert shares[1, 2:].tolist() == [0, 0]


def test_outputs_are_read_where_they_are_drawn() -> None:
    """All with probability 1: the outputs of a cell that doubles its inputs."""

    class Twice(tf.nn.rnn_cell.RNNCell):  # type: ignore[misc]  # found when it is used
        state_size, output_size = 1, 1

        def call(self, inputs: Any, state: Any) -> Any:
            return 2.0 * inputs, state

    with tf.Graph().as_default(), tf.Session() as session:
        seq2seq = tf.contrib.seq2seq
        helper = seq2seq.ScheduledOutputTrainingHelper(tf.ones([2, 3, 1]), [3, 3], 1.0)
        decoder = seq2seq.BasicDecoder(Twice(), helper, tf.zeros([2, 1]))
        made, _, _ = seq2seq.dynamic_decode(decoder)
        rows = session.run(made.rnn_output)

    assert rows[..., 0].tolist() == [[2, 4, 8], [2, 4, 8]]


def test_sparsemax_is_the_nearest_point_of_the_simplex() -> None:
    """Its loss has the gradient sparsemax - labels."""
    with tf.Graph().as_default(), tf.Session() as session:
        z = tf.constant([[0.1, 1.1, 0.2], [0.0, 0.0, 0.3]])
        labels = np.eye(3, dtype=np.float32)[:2]
        p = tf.contrib.sparsemax.sparsemax(z)
        loss = tf.contrib.sparsemax.sparsemax_loss(z, tf.stop_gradient(p), labels)
        shares, slope = session.run([p, tf.gradients(loss, z)[0]])

    np.testing.assert_allclose(shares, [[0, 0.95, 0.05], [7 / 30, 7 / 30, 16 / 30]], 1e-5, 1e-6)
    np.testing.assert_allclose(slope, shares - labels, 1e-4, 1e-6)


def test_a_highway_around_a_cell() -> None:
    """The first share of the input is sigmoid(1), with TensorFlow's names."""
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("net", initializer=tf.zeros_initializer()):
            cell = tf.contrib.rnn.HighwayWrapper(tf.nn.rnn_cell.BasicRNNCell(3))
            y, _ = cell(tf.ones([2, 3]), tf.zeros([2, 3]))
        session.run(tf.global_variables_initializer())
        names, rows = [v.name for v in tf.global_variables()], session.run(y)

    assert names[-2:] == ["net/carry_w:0", "net/carry_b:0"]
    np.testing.assert_allclose(rows, np.full((2, 3), 1 / (1 + np.exp(-1))), 1e-5)


@pytest.mark.parametrize("raw", [False, True])
def test_a_history_of_shares_is_a_state_of_any_loop(raw: bool) -> None:
    """A TensorArray in the state of a cell is passed on, also for sequences that have ended."""
    lengths, inputs = tf.constant([3, 2]), tf.ones([2, 3, 3])
    with tf.Session() as session:
        mechanism = tf.contrib.seq2seq.BahdanauAttention(3, MEMORY)
        inside = tf.nn.rnn_cell.GRUCell(3)
        cell = tf.contrib.seq2seq.AttentionWrapper(inside, mechanism, 3, alignment_history=True)

        def rows(time: Any, output: Any, state: Any, kept: Any) -> Any:
            after = cell.zero_state(2, tf.float32) if state is None else state
            return time >= lengths, tf.ones([2, 3]), after, output, None

        if raw:
            _, state, _ = tf.nn.raw_rnn(cell, rows)
        else:
            _, state = tf.nn.dynamic_rnn(cell, inputs, lengths, dtype=tf.float32)
        session.run(tf.global_variables_initializer())
        history = session.run(state.alignment_history.stack())

    assert history.shape == (3, 2, 4)
    np.testing.assert_allclose(history.sum(2), 1.0, 1e-5)
