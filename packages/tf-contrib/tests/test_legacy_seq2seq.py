"""Decoders over lists of steps: variables, feeding back, losses.  Numbers: `tests/tf1` of frontend-tf."""

import numpy as np
import pytest

import byparts_frontend_tf as tf

legacy = tf.contrib.legacy_seq2seq


@pytest.fixture(autouse=True)
def _graph() -> object:
    with tf.Graph().as_default() as graph:
        yield graph


def symbols(steps: int) -> list[object]:
    return [tf.constant([i % 3, (i + 1) % 3]) for i in range(steps)]


def test_a_decoder_is_fed_its_own_symbols() -> None:
    """With a fed bool: given symbols, or those that it finds likely; the same variables."""
    feeds = tf.placeholder(tf.bool, [])
    outputs, state = legacy.embedding_rnn_seq2seq(
        symbols(2), symbols(3), tf.nn.rnn_cell.GRUCell(4), 3, 3, 2, feed_previous=feeds
    )
    fixed, _ = tf.make_template("other", legacy.embedding_rnn_seq2seq)(
        symbols(2), symbols(3), tf.nn.rnn_cell.GRUCell(4), 3, 3, 2, feed_previous=False
    )

    assert len(tf.trainable_variables("embedding_rnn_seq2seq")) == len(
        tf.trainable_variables("other")
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        given, own = (session.run([outputs, state], {feeds: f}) for f in (False, True))
        assert np.array_equal(given[0][0], own[0][0])
        assert not np.array_equal(given[0][2], own[0][2])
        assert len(fixed) == 3 and fixed[0].shape.as_list() == [2, 3]


def test_losses_of_sequences() -> None:
    """By hand: weights of 0 do not count."""
    logits = np.log([[[0.5, 0.5], [0.25, 0.75]], [[0.9, 0.1], [0.5, 0.5]]]).astype("float32")
    targets, weights = [[0, 1], [0, 1]], np.array([[1.0, 1.0], [1.0, 0.0]], np.float32)
    whole = tf.contrib.seq2seq.sequence_loss(logits, tf.constant(targets), weights)
    rows = tf.contrib.seq2seq.sequence_loss(
        logits, tf.constant(targets), weights, average_across_batch=False
    )
    steps = [tf.constant([0, 0]), tf.constant([1, 1])]
    shares = [tf.constant([1.0, 1.0]), tf.constant([1.0, 0.0])]
    lists = legacy.sequence_loss([logits[:, 0], logits[:, 1]], steps, shares)
    half, quarter, tenth = -np.log([0.5, 0.75, 0.9])

    with tf.Session() as session:
        found = session.run([whole, rows, lists])
    np.testing.assert_allclose(found[0], (half + quarter + tenth) / 3, rtol=1e-6)
    np.testing.assert_allclose(found[1], [(half + quarter) / 2, tenth], rtol=1e-6)
    np.testing.assert_allclose(found[2], ((half + quarter) / 2 + tenth) / 2, rtol=1e-6)


def test_buckets_share_variables() -> None:
    """A model for each pair of lengths, one loss each."""

    def model(sources: list[object], steps: list[object]) -> object:
        return legacy.embedding_attention_seq2seq(
            sources, steps, tf.nn.rnn_cell.BasicLSTMCell(2), 3, 3, 2
        )

    ones = [tf.ones([2])] * 4
    outputs, losses = legacy.model_with_buckets(
        symbols(3), symbols(4), symbols(4), ones, [(1, 2), (3, 4)], model
    )

    assert [len(made) for made in outputs] == [2, 4] and len(losses) == 2
    assert len(tf.trainable_variables()) == 16
    with pytest.raises(ValueError, match=r"Length of targets \(1\) must be at least that of last"):
        legacy.model_with_buckets(symbols(3), symbols(4), symbols(1), ones, [(3, 4)], model)
