"""Reverse a sequence of digits: bidirectional encoder, decoder with attention, greedy decoding."""

from __future__ import print_function

import numpy as np
import tensorflow as tf

flags = tf.flags
flags.DEFINE_integer("batch_size", 16, "sequences a step")
flags.DEFINE_integer("num_units", 16, "units of the decoder; the encoder has half in each way")
flags.DEFINE_integer("embed_size", 12, "width of an embedding")
flags.DEFINE_integer("steps", 40, "training steps")
flags.DEFINE_float("learning_rate", 0.02, "Adam's rate")
FLAGS = flags.FLAGS

PAD, GO, EOS, FIRST = 0, 1, 2, 3
VOCAB = 10


def make_batch(rng, batch_size):
    """Source [batch, longest] and its length, target with EOS [batch, longest + 1] and length."""
    lengths = rng.randint(3, 7, size=batch_size)
    longest = lengths.max()
    source = np.zeros((batch_size, longest), np.int32)
    target = np.zeros((batch_size, longest + 1), np.int32)
    for row, length in enumerate(lengths):
        source[row, :length] = rng.randint(FIRST, VOCAB, size=length)
        target[row, :length] = source[row, :length][::-1]
        target[row, length] = EOS
    return source, lengths, target, lengths + 1


class Seq2Seq(object):
    def __init__(self, hparams):
        self.hparams = hparams
        self.source = tf.placeholder(tf.int32, [None, None], name="source")
        self.source_length = tf.placeholder(tf.int32, [None], name="source_length")
        self.target = tf.placeholder(tf.int32, [None, None], name="target")
        self.target_length = tf.placeholder(tf.int32, [None], name="target_length")
        self.batch = tf.shape(self.source)[0]
        self.embedding = tf.get_variable("embedding", [VOCAB, hparams.embed_size])
        self._encode()
        with tf.variable_scope("decode"):
            self.logits = self._decode_training()
        with tf.variable_scope("decode", reuse=True):
            self.prediction = self._decode_greedy()
        self._add_loss()

    def _encode(self):
        inputs = tf.nn.embedding_lookup(self.embedding, self.source)
        half = self.hparams.num_units // 2
        with tf.variable_scope("encode"):
            outputs, (forward, backward) = tf.nn.bidirectional_dynamic_rnn(
                tf.nn.rnn_cell.LSTMCell(half), tf.nn.rnn_cell.LSTMCell(half), inputs,
                sequence_length=self.source_length, dtype=tf.float32)
        self.memory = tf.concat(outputs, 2)
        self.encoded = tf.nn.rnn_cell.LSTMStateTuple(
            tf.concat([forward.c, backward.c], 1), tf.concat([forward.h, backward.h], 1))

    def _make_decoder(self, helper):
        attention = tf.contrib.seq2seq.BahdanauAttention(
            self.hparams.num_units, self.memory, memory_sequence_length=self.source_length)
        cell = tf.contrib.seq2seq.AttentionWrapper(
            tf.nn.rnn_cell.LSTMCell(self.hparams.num_units), attention,
            attention_layer_size=self.hparams.num_units)
        start = cell.zero_state(self.batch, tf.float32).clone(cell_state=self.encoded)
        return tf.contrib.seq2seq.BasicDecoder(
            cell, helper, start, output_layer=tf.layers.Dense(VOCAB, use_bias=False, name="project"))

    def _decode_training(self):
        go = tf.fill([self.batch, 1], GO)
        inputs = tf.concat([go, self.target[:, :-1]], axis=1)
        helper = tf.contrib.seq2seq.TrainingHelper(
            tf.nn.embedding_lookup(self.embedding, inputs), self.target_length)
        outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(
            self._make_decoder(helper), swap_memory=True)
        return outputs.rnn_output

    def _decode_greedy(self):
        helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(
            self.embedding, tf.fill([self.batch], GO), EOS)
        outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(
            self._make_decoder(helper), maximum_iterations=8)
        return outputs.sample_id

    def _add_loss(self):
        longest = tf.shape(self.target)[1]
        weights = tf.sequence_mask(self.target_length, longest, dtype=tf.float32)
        self.loss = tf.contrib.seq2seq.sequence_loss(self.logits, self.target, weights)
        right = tf.equal(tf.argmax(self.logits, 2, output_type=tf.int32), self.target)
        self.accuracy = tf.reduce_sum(tf.cast(right, tf.float32) * weights) / tf.reduce_sum(weights)
        optimizer = tf.train.AdamOptimizer(self.hparams.learning_rate)
        gradients, variables = zip(*optimizer.compute_gradients(self.loss))
        gradients, self.norm = tf.clip_by_global_norm(gradients, 5.0)
        self.train_op = optimizer.apply_gradients(zip(gradients, variables))

    def feed(self, batch):
        names = [self.source, self.source_length, self.target, self.target_length]
        return dict(zip(names, batch))


def main(_):
    hparams = tf.contrib.training.HParams(
        num_units=FLAGS.num_units, embed_size=FLAGS.embed_size, learning_rate=FLAGS.learning_rate)
    rng = np.random.RandomState(5)
    initializer = tf.random_uniform_initializer(-0.1, 0.1, seed=2)
    with tf.variable_scope("model", initializer=initializer):
        model = Seq2Seq(hparams)

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for v in tf.trainable_variables():
            print(v.name, v.get_shape())
            v.load(rng.uniform(-0.5, 0.5, v.get_shape().as_list()), sess)
        for step in range(FLAGS.steps):
            batch = make_batch(rng, FLAGS.batch_size)
            _, loss, accuracy, norm = sess.run(
                [model.train_op, model.loss, model.accuracy, model.norm], model.feed(batch))
            if step % 5 == 0 or step == FLAGS.steps - 1:
                print("step %d loss %.4f accuracy %.3f norm %.4f" % (step, loss, accuracy, norm))
        source, length, _, _ = make_batch(rng, 2)
        answer = sess.run(
            model.prediction, {model.source: source, model.source_length: length})
        for asked, answered in zip(source, answer):
            print(" ".join(map(str, asked)), "->", " ".join(map(str, answered)))


if __name__ == "__main__":
    tf.app.run()
