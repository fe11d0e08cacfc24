"""A character language model with stacked LSTMs: train, then sample from the same variables."""

from __future__ import print_function

import argparse

import numpy as np
import tensorflow as tf

TEXT = """
the rain in the lane ran down the drain and the train ran in the rain.
a hen in a pen sat on ten eggs and then the hen ran to the den.
then the man in the van ran to the hen in the rain.
""" * 8


class TextLoader(object):
    """Characters as numbers, cut into batches: x_batches, y_batches: lists of [batch, length]."""

    def __init__(self, text, batch_size, seq_length):
        self.chars = sorted(set(text))
        self.vocab_size = len(self.chars)
        self.vocab = dict(zip(self.chars, range(self.vocab_size)))
        tensor = np.array([self.vocab[c] for c in text])
        self.num_batches = tensor.size // (batch_size * seq_length)
        tensor = tensor[:self.num_batches * batch_size * seq_length]
        ydata = np.copy(tensor)
        ydata[:-1] = tensor[1:]
        ydata[-1] = tensor[0]
        self.x_batches = np.split(tensor.reshape(batch_size, -1), self.num_batches, 1)
        self.y_batches = np.split(ydata.reshape(batch_size, -1), self.num_batches, 1)
        self.pointer = 0

    def next_batch(self):
        x, y = self.x_batches[self.pointer], self.y_batches[self.pointer]
        self.pointer = (self.pointer + 1) % self.num_batches
        return x, y


class Model(object):
    def __init__(self, args, training=True):
        if not training:
            args.batch_size = 1
            args.seq_length = 1

        cells = []
        for _ in range(args.num_layers):
            cell = tf.contrib.rnn.BasicLSTMCell(args.rnn_size, state_is_tuple=True)
            if training:
                cell = tf.contrib.rnn.DropoutWrapper(
                    cell, input_keep_prob=args.input_keep_prob,
                    output_keep_prob=args.output_keep_prob)
            cells.append(cell)
        self.cell = cell = tf.contrib.rnn.MultiRNNCell(cells, state_is_tuple=True)

        self.input_data = tf.placeholder(tf.int32, [args.batch_size, args.seq_length])
        self.targets = tf.placeholder(tf.int32, [args.batch_size, args.seq_length])
        self.initial_state = cell.zero_state(args.batch_size, tf.float32)

        with tf.variable_scope("rnnlm"):
            softmax_w = tf.get_variable("softmax_w", [args.rnn_size, args.vocab_size])
            softmax_b = tf.get_variable("softmax_b", [args.vocab_size])
            with tf.device("/cpu:0"):
                embedding = tf.get_variable("embedding", [args.vocab_size, args.rnn_size])
                inputs = tf.nn.embedding_lookup(embedding, self.input_data)
            if training and args.output_keep_prob < 1.0:
                inputs = tf.nn.dropout(inputs, args.output_keep_prob)
            outputs, self.final_state = tf.nn.dynamic_rnn(
                cell, inputs, initial_state=self.initial_state, scope="rnnlm")

        output = tf.reshape(outputs, [-1, args.rnn_size])
        self.logits = tf.matmul(output, softmax_w) + softmax_b
        self.probs = tf.nn.softmax(self.logits)
        if training:
            self.add_training(args)

    def add_training(self, args):
        loss = tf.contrib.legacy_seq2seq.sequence_loss_by_example(
            [self.logits], [tf.reshape(self.targets, [-1])],
            [tf.ones([args.batch_size * args.seq_length])])
        with tf.name_scope("cost"):
            self.cost = tf.reduce_sum(loss) / args.batch_size / args.seq_length
        self.lr = tf.Variable(0.0, trainable=False)
        tvars = tf.trainable_variables()
        grads, self.norm = tf.clip_by_global_norm(tf.gradients(self.cost, tvars), args.grad_clip)
        with tf.name_scope("optimizer"):
            optimizer = tf.train.AdamOptimizer(self.lr)
        self.train_op = optimizer.apply_gradients(zip(grads, tvars))

        tf.summary.histogram("logits", self.logits)
        tf.summary.histogram("loss", loss)
        tf.summary.scalar("train_loss", self.cost)

    def sample(self, sess, chars, vocab, num, prime):
        """The most likely character after character, fed back one by one."""
        state = sess.run(self.cell.zero_state(1, tf.float32))
        for char in prime[:-1]:
            feed = {self.input_data: [[vocab[char]]], self.initial_state: state}
            [state] = sess.run([self.final_state], feed)
        ret, char = prime, prime[-1]
        for _ in range(num):
            x = np.zeros((1, 1))
            x[0, 0] = vocab[char]
            [probs, state] = sess.run(
                [self.probs, self.final_state], {self.input_data: x, self.initial_state: state})
            char = chars[int(np.argmax(probs[0]))]
            ret += char
        return ret


def uniform_weights(rng):
    """Operations that give each trainable variable numbers in -0.3..0.3 from NumPy."""
    return [tf.assign(v, rng.uniform(-0.3, 0.3, v.get_shape().as_list()).astype(np.float32))
            for v in tf.trainable_variables()]


def train(args, loader):
    model = Model(args)
    for v in tf.trainable_variables():
        print(v.name, v.shape)
    start = tf.group(*uniform_weights(np.random.RandomState(1)))
    merged = tf.summary.merge_all()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(start)
        step = 0
        for epoch in range(args.num_epochs):
            sess.run(tf.assign(model.lr, args.learning_rate * (args.decay_rate ** epoch)))
            state = sess.run(model.initial_state)
            for _ in range(loader.num_batches):
                x, y = loader.next_batch()
                feed = {model.input_data: x, model.targets: y}
                for i, (c, h) in enumerate(model.initial_state):
                    feed[c] = state[i].c
                    feed[h] = state[i].h
                _, norm, loss, state, _ = sess.run(
                    [merged, model.norm, model.cost, model.final_state, model.train_op], feed)
                if step % 4 == 0:
                    print("%d (epoch %d), train_loss = %.4f, norm = %.4f"
                          % (step, epoch, loss, norm))
                step += 1
        return sess.run(dict((v.op.name, v) for v in tf.trainable_variables()))


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--rnn_size", type=int, default=24, help="size of RNN hidden state")
    parser.add_argument("--num_layers", type=int, default=2, help="number of layers")
    parser.add_argument("--batch_size", type=int, default=8, help="minibatch size")
    parser.add_argument("--seq_length", type=int, default=20, help="RNN sequence length")
    parser.add_argument("--num_epochs", type=int, default=6, help="number of epochs")
    parser.add_argument("--grad_clip", type=float, default=5.0, help="clip gradients at this norm")
    parser.add_argument("--learning_rate", type=float, default=0.02, help="learning rate")
    parser.add_argument("--decay_rate", type=float, default=0.9, help="decay of the rate")
    parser.add_argument("--input_keep_prob", type=float, default=1.0)
    parser.add_argument("--output_keep_prob", type=float, default=1.0)
    args = parser.parse_args()

    loader = TextLoader(TEXT, args.batch_size, args.seq_length)
    args.vocab_size = loader.vocab_size
    weights = train(args, loader)

    tf.reset_default_graph()
    model = Model(args, training=False)
    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        for v in tf.trainable_variables():
            v.load(weights[v.op.name], sess)
        print(model.sample(sess, loader.chars, loader.vocab, 40, "the rain "))


if __name__ == "__main__":
    main()
