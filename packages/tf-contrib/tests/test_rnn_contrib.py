"""Cells of contrib by their formulas, and beam search by trying all sequences."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.session import defaults

WORDS, BEAMS = 3, 9
TABLE = 2 * np.sin(1 + np.arange(WORDS * WORDS, dtype=np.float32)).reshape(WORDS, WORDS)
X = np.sin(np.arange(6, dtype=np.float32)).reshape(2, 3)


@pytest.fixture(autouse=True)
def _numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(defaults, "backends", ("numpy",))


class _Chain(tf.nn.rnn_cell.RNNCell):  # type: ignore[misc]  # found when it is used
    """Logits of the next word by the last one; a state that counts."""

    @property
    def state_size(self) -> int:
        """A number."""
        return 1

    @property
    def output_size(self) -> int:
        """Words."""
        return WORDS

    def call(self, inputs: Any, state: Any) -> Any:
        """A row of the table."""
        return tf.matmul(inputs, TABLE), state + 1.0


def _likeliest(first: int, steps: int) -> list[tuple[tuple[int, ...], float]]:
    """All sequences that end with 0 or are so long, best first."""
    chances = TABLE - np.log(np.exp(TABLE).sum(1, keepdims=True))
    found: dict[tuple[int, ...], float] = {}
    for words in product(range(WORDS), repeat=steps):
        end = words.index(0) + 1 if 0 in words else steps
        pairs = zip((first, *words), words[:end], strict=False)
        found[words[:end]] = float(sum([chances[a, b] for a, b in pairs]))
    return sorted(found.items(), key=lambda row: -row[1])


def test_beam_search_finds_the_likeliest_sequences() -> None:
    """Of two sequences, with as many beams as there can be beginnings."""
    seq2seq = tf.contrib.seq2seq
    with tf.Graph().as_default(), tf.Session() as session:
        start = seq2seq.tile_batch(tf.zeros([2, 1]), BEAMS)
        tokens = tf.constant([1, 2])
        decoder = seq2seq.BeamSearchDecoder(_Chain(), tf.eye(WORDS), tokens, 0, start, BEAMS)
        made, state, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=3)
        ids, chances, lengths = session.run([made.predicted_ids, state.log_probs, state.lengths])

    assert made.predicted_ids.shape.as_list() == [2, None, BEAMS]
    for b, first in enumerate((1, 2)):
        for beam, (words, chance) in enumerate(_likeliest(first, 3)[:4]):
            assert ids[b, : lengths[b, beam], beam].tolist() == list(words)
            assert chances[b, beam] == pytest.approx(chance, rel=1e-5)


def test_a_length_penalty_prefers_long_sequences() -> None:
    """Scores are over ((5 + length) / 6)^weight; the end counts from the step after it on."""
    seq2seq = tf.contrib.seq2seq
    with tf.Graph().as_default(), tf.Session() as session:
        start = seq2seq.tile_batch(tf.zeros([1, 1]), BEAMS)
        decoder = seq2seq.BeamSearchDecoder(
            _Chain(), tf.eye(WORDS), tf.constant([1]), 0, start, BEAMS, length_penalty_weight=1.0
        )
        made, state, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=3)
        fetches = [made.beam_search_decoder_output.scores, state.log_probs, state.lengths]
        scores, chances, lengths, ended = session.run([*fetches, state.finished])

    lengths = lengths - (ended & (lengths == 3))
    np.testing.assert_allclose(scores[0, -1], chances[0] / ((5 + lengths[0]) / 6), 1e-5)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def test_the_cell_found_by_search_is_that_of_the_paper() -> None:
    """By NumPy, from a state of ones; with the names of TensorFlow's variables."""
    with tf.Graph().as_default(), tf.Session() as session:
        state = tf.nn.rnn_cell.LSTMStateTuple(tf.ones([2, 4]), tf.ones([2, 4]))
        y, after = tf.contrib.rnn.NASCell(4)(tf.constant(X), state)
        session.run(tf.global_variables_initializer())
        names = [v.name for v in tf.trainable_variables()]
        found, new_c, u, w = session.run([y, after.c, *tf.trainable_variables()])

    assert names == ["nas_cell/recurrent_kernel:0", "nas_cell/kernel:0"]
    x, m = np.split(X @ w, 8, 1), np.split(np.ones((2, 4)) @ u, 8, 1)
    s = [a + b for a, b in zip(x, m, strict=True)]
    left = np.tanh(_sigmoid(s[0]) * np.maximum(s[1], 0))
    gate = np.tanh(_sigmoid(s[2]) + np.maximum(x[3] * m[3], 0))
    c = np.tanh(left + 1) * gate
    right = np.tanh(np.tanh(s[4]) * _sigmoid(s[5])) + _sigmoid(np.tanh(s[6]) + _sigmoid(s[7]))
    np.testing.assert_allclose(new_c, c, 1e-5)
    np.testing.assert_allclose(found, np.tanh(c * np.tanh(right)), 1e-5)


def test_gates_are_normalized() -> None:
    """Each of the four and the memory, with gains and shifts of their own."""
    with tf.Graph().as_default(), tf.Session() as session:
        cell = tf.contrib.rnn.LayerNormBasicLSTMCell(4, dropout_keep_prob=1.0)
        state = tf.nn.rnn_cell.LSTMStateTuple(tf.zeros([2, 4]), tf.zeros([2, 4]))
        y, _ = cell(tf.constant(X), state)
        session.run(tf.global_variables_initializer())
        names = [v.name.removeprefix("layer_norm_basic_lstm_cell/") for v in tf.global_variables()]
        found, w = session.run([y, tf.trainable_variables()[0]])

    assert names[:3] == ["kernel:0", "input/gamma:0", "input/beta:0"] and len(names) == 11

    def norm(x: Any) -> Any:
        return (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)

    i, j, _, o = [norm(g) for g in np.split(X @ w[:3], 4, 1)]
    c = norm(_sigmoid(i) * np.tanh(j))
    np.testing.assert_allclose(found, np.tanh(c) * _sigmoid(o), 1e-4)


def test_stacks_of_two_directions_have_tensorflows_names() -> None:
    """A layer reads both directions of the one below."""
    with tf.Graph().as_default():
        cells = [[tf.nn.rnn_cell.BasicLSTMCell(2) for _ in range(2)] for _ in range(2)]
        y, forwards, _ = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
            *cells, tf.zeros([2, 5, 3]), dtype=tf.float32
        )
        kernels = {
            v.name: v.shape.as_list() for v in tf.trainable_variables() if "kernel" in v.name
        }

    assert y.shape.as_list() == [2, 5, 4] and len(forwards) == 2
    place = "stack_bidirectional_rnn/cell_{}/bidirectional_rnn/{}/basic_lstm_cell/kernel:0"
    assert kernels[place.format(0, "fw")] == [5, 8] and kernels[place.format(1, "bw")] == [6, 8]


def test_a_convolving_cell_keeps_images() -> None:
    """Over three steps, with the inputs beside the output."""
    with tf.Graph().as_default():
        cell = tf.contrib.rnn.Conv2DLSTMCell(
            input_shape=[4, 4, 1], output_channels=2, kernel_shape=[3, 3], skip_connection=True
        )
        y, state = tf.nn.dynamic_rnn(cell, tf.zeros([2, 3, 4, 4, 1]), dtype=tf.float32)

    assert y.shape.as_list() == [2, 3, 4, 4, 3] and state.h.shape.as_list() == [2, 4, 4, 2]
