"""static_rnn, its lengths and states, a cell of the program's own, and legacy decoders."""
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(0)
x = tf.placeholder(tf.float32, [2, 4, 3], name="x")
lengths = tf.placeholder(tf.int32, [2])


class Leaky(tf.nn.rnn_cell.RNNCell):
    """A cell that keeps a part of its state."""

    def __init__(self, units, keep=0.5):
        super(Leaky, self).__init__()
        self._units, self._keep = units, keep

    @property
    def state_size(self):
        return self._units

    @property
    def output_size(self):
        return self._units

    def __call__(self, inputs, state, scope=None):
        with tf.variable_scope(scope or type(self).__name__):
            w = tf.get_variable("w", [inputs.get_shape()[1], self._units])
            state = self._keep * state + (1 - self._keep) * tf.matmul(inputs, w)
            return tf.tanh(state), state


steps = tf.unstack(x, axis=1)
outputs, state = tf.nn.static_rnn(tf.nn.rnn_cell.BasicRNNCell(2), steps, dtype=tf.float32)
with tf.variable_scope("short"):
    short, last = tf.nn.static_rnn(
        tf.nn.rnn_cell.LSTMCell(2, use_peepholes=True), steps, dtype=tf.float32, sequence_length=lengths)
gru, gru_state = tf.nn.dynamic_rnn(
    tf.nn.rnn_cell.GRUCell(2), x, sequence_length=lengths, dtype=tf.float32, scope="gru")
leaky, _ = tf.nn.dynamic_rnn(Leaky(2), tf.transpose(x, [1, 0, 2]), dtype=tf.float32, time_major=True)
both, _, _ = tf.nn.static_bidirectional_rnn(
    tf.nn.rnn_cell.GRUCell(1), tf.nn.rnn_cell.GRUCell(1), steps, dtype=tf.float32)
residual, _ = tf.nn.dynamic_rnn(
    tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.BasicLSTMCell(3)), x, dtype=tf.float32, scope="residual")
decoded, _ = tf.contrib.legacy_seq2seq.rnn_decoder(
    steps[:2], state, tf.nn.rnn_cell.BasicRNNCell(2), loop_function=lambda prev, i: tf.pad(prev, [[0, 0], [0, 1]]))
symbols = [tf.constant([1, 2]), tf.constant([3, 0])]
seq, _ = tf.contrib.legacy_seq2seq.embedding_attention_seq2seq(
    symbols, symbols, tf.nn.rnn_cell.BasicLSTMCell(2), 5, 5, embedding_size=3, feed_previous=False)
loss = tf.contrib.legacy_seq2seq.sequence_loss(
    seq, symbols, [tf.ones([2]), tf.constant([1.0, 0.0])])

for v in tf.trainable_variables():
    print(v.op.name, v.get_shape().as_list())
print(type(last).__name__, outputs[0].get_shape(), gru.get_shape(), leaky.shape, len(both))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for v in tf.trainable_variables():
        v.load(rng.uniform(-0.5, 0.5, v.get_shape().as_list()), sess)
    feed = {x: rng.randn(2, 4, 3), lengths: [2, 0]}
    for t in (outputs[-1], state, short[1], short[3], last.c, last.h, gru, gru_state, leaky[-1],
              both[0], residual[:, -1], decoded[1], seq[1], loss):
        print(" ".join("%.5f" % number for number in np.ravel(sess.run(t, feed))))
    gradients = sess.run(tf.gradients(loss + tf.reduce_sum(gru), tf.trainable_variables("gru")), feed)
    print([round(float(np.abs(g).sum()), 4) for g in gradients])
