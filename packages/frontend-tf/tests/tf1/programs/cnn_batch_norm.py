"""A convolutional network with batch normalization on handwritten digits, with tf.layers."""

from __future__ import absolute_import, division, print_function

import argparse
import os
import sys
import tempfile

import numpy as np
import tensorflow as tf

FLAGS = None
DIGITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..",
                      "tinyflow", "src", "byparts_tinyflow", "data", "digits.npz")


class Digits(object):
    """Batches of images [n, 8, 8, 1] in 0..1 and labels [n, 10]."""

    def __init__(self, path, count, seed):
        with np.load(path) as data:
            images, labels = data["images"], data["labels"]
        order = np.random.RandomState(seed).permutation(len(images))
        self.images = images[order].astype(np.float32)[..., np.newaxis] / 16.0
        self.labels = np.eye(10, dtype=np.float32)[labels[order]]
        self.count = count
        self.position = 0

    def next_batch(self, size):
        if self.position + size > self.count:
            self.position = 0
        chosen = slice(self.position, self.position + size)
        self.position += size
        return self.images[chosen], self.labels[chosen]

    def test(self):
        return self.images[self.count:self.count + 300], self.labels[self.count:self.count + 300]


def conv_bn_relu(inputs, filters, training, name):
    with tf.variable_scope(name):
        net = tf.layers.conv2d(
            inputs, filters, kernel_size=[3, 3], padding="same", use_bias=False,
            kernel_regularizer=tf.contrib.layers.l2_regularizer(1e-4))
        net = tf.layers.batch_normalization(net, momentum=0.9, training=training)
        return tf.nn.relu(net)


def build_model(x, training):
    net = conv_bn_relu(x, 8, training, "conv1")
    net = tf.layers.max_pooling2d(net, pool_size=2, strides=2)
    net = conv_bn_relu(net, 16, training, "conv2")
    net = tf.layers.average_pooling2d(net, pool_size=[2, 2], strides=[2, 2], name="pool")
    net = tf.layers.flatten(net)
    net = tf.layers.dense(net, 32)
    net = tf.layers.batch_normalization(net, training=training, name="bn_dense")
    net = tf.layers.dropout(tf.nn.relu(net), rate=FLAGS.dropout, training=training)
    return tf.layers.dense(net, 10, name="logits")


def load_weights(sess, seed):
    """The same initial weights in every run: he-normal from NumPy, for every kernel."""
    rng = np.random.RandomState(seed)
    for v in tf.trainable_variables():
        shape = v.get_shape().as_list()
        print("%-32s %s" % (v.op.name, shape))
        if v.op.name.endswith("kernel"):
            fan_in = np.prod(shape[:-1])
            v.load(rng.normal(0.0, np.sqrt(2.0 / fan_in), shape), sess)


def main(_):
    data = Digits(FLAGS.data, 1400, FLAGS.seed)
    x = tf.placeholder(tf.float32, [None, 8, 8, 1], name="x")
    y_ = tf.placeholder(tf.float32, [None, 10], name="labels")
    training = tf.placeholder(tf.bool, name="training")
    logits = build_model(x, training)

    with tf.name_scope("loss"):
        cross_entropy = tf.reduce_mean(
            tf.nn.softmax_cross_entropy_with_logits_v2(labels=y_, logits=logits))
        loss = cross_entropy + tf.losses.get_regularization_loss()
    with tf.name_scope("accuracy"):
        correct = tf.equal(tf.argmax(logits, 1), tf.argmax(y_, 1))
        accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))

    global_step = tf.Variable(0, trainable=False, name="global_step")
    rate = tf.train.exponential_decay(FLAGS.learning_rate, global_step, 10, 0.9, staircase=True)
    update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    print("%d update ops" % len(update_ops))
    with tf.control_dependencies(update_ops):
        train_step = tf.train.AdamOptimizer(rate).minimize(loss, global_step=global_step)

    tf.summary.scalar("loss", loss)
    tf.summary.scalar("accuracy", accuracy)
    tf.summary.histogram("logits", logits)
    summaries = tf.summary.merge_all()
    saver = tf.train.Saver(max_to_keep=2)
    logdir = tempfile.mkdtemp()

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        load_weights(sess, FLAGS.seed)
        writer = tf.summary.FileWriter(logdir, sess.graph)
        for i in range(FLAGS.steps):
            images, labels = data.next_batch(FLAGS.batch_size)
            feed = {x: images, y_: labels, training: True}
            _, value, step, lr = sess.run([train_step, loss, global_step, rate], feed_dict=feed)
            if i % 5 == 0:
                writer.add_summary(sess.run(summaries, {x: images, y_: labels, training: False}), i)
                print("step %d loss %.5f" % (i, value))
                saver.save(sess, os.path.join(logdir, "model"), global_step=i)
        images, labels = data.test()
        feed = {x: images, y_: labels, training: False}
        print("test accuracy %.4f loss %.5f" % tuple(sess.run([accuracy, loss], feed)))
        mean = [v for v in tf.global_variables() if v.op.name == "conv1/batch_normalization/moving_mean"]
        print("moving mean", " ".join("%.5f" % m for m in mean[0].eval()))
        print("learning rate %.6f at step %d" % tuple(sess.run([rate, global_step])))
    print(sorted(os.path.basename(f) for f in tf.gfile.Glob(os.path.join(logdir, "model*.index"))))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=str, default=DIGITS)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--learning_rate", type=float, default=0.005)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=3)
    FLAGS, unparsed = parser.parse_known_args()
    tf.app.run(main=main, argv=[sys.argv[0]] + unparsed)
