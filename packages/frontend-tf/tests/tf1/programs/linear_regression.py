"""A line through points, one point a step: placeholders, a Saver and a summary writer."""

from __future__ import print_function

import os
import tempfile

import numpy as np
import tensorflow as tf

tf.app.flags.DEFINE_float("learning_rate", 0.01, "Step size of gradient descent.")
tf.app.flags.DEFINE_integer("training_epochs", 100, "Passes over the data.")
tf.app.flags.DEFINE_integer("display_step", 10, "Epochs between two lines of the log.")
tf.app.flags.DEFINE_string("logdir", "", "Where summaries and checkpoints go.")
tf.app.flags.DEFINE_boolean("restore", True, "Read the checkpoint back at the end.")
FLAGS = tf.app.flags.FLAGS

rng = np.random.RandomState(17)


def make_data(count=24):
    """Points around y = 0.25 x + 0.8; x and y: [count]."""
    x = rng.uniform(2.0, 11.0, size=count)
    return x, 0.25 * x + 0.8 + 0.2 * rng.randn(count)


def main(_):
    train_X, train_Y = make_data()
    test_X, test_Y = make_data(8)
    n_samples = train_X.shape[0]
    logdir = FLAGS.logdir or tempfile.mkdtemp()

    # tf Graph input
    X = tf.placeholder("float", name="X")
    Y = tf.placeholder("float", name="Y")

    # Set model weights
    W = tf.Variable(rng.randn(), name="weight", dtype=tf.float32)
    b = tf.Variable(rng.randn(), name="bias", dtype=tf.float32)

    pred = tf.add(tf.multiply(X, W), b)
    cost = tf.reduce_sum(tf.pow(pred - Y, 2)) / (2 * n_samples)
    optimizer = tf.train.GradientDescentOptimizer(FLAGS.learning_rate).minimize(cost)

    tf.summary.scalar("cost", cost)
    tf.summary.scalar("weight", W)
    merged = tf.summary.merge_all()
    saver = tf.train.Saver()
    init = tf.global_variables_initializer()

    with tf.Session() as sess:
        sess.run(init)
        writer = tf.summary.FileWriter(logdir, sess.graph)
        for epoch in range(FLAGS.training_epochs):
            for (x, y) in zip(train_X, train_Y):
                sess.run(optimizer, feed_dict={X: x, Y: y})
            if (epoch + 1) % FLAGS.display_step == 0:
                summary, c = sess.run([merged, cost], feed_dict={X: train_X, Y: train_Y})
                writer.add_summary(summary, epoch)
                print("Epoch: %04d cost= %.9f W= %.6f b= %.6f"
                      % (epoch + 1, c, sess.run(W), sess.run(b)))
        print("Optimization Finished!")
        training_cost = sess.run(cost, feed_dict={X: train_X, Y: train_Y})
        print("Training cost=", training_cost, "W=", sess.run(W), "b=", sess.run(b))
        testing_cost = sess.run(
            tf.reduce_sum(tf.pow(pred - Y, 2)) / (2 * test_X.shape[0]),
            feed_dict={X: test_X, Y: test_Y})  # same function as cost above
        print("Testing cost=", testing_cost)
        print("Absolute mean square loss difference:", abs(training_cost - testing_cost))
        path = saver.save(sess, os.path.join(logdir, "line.ckpt"), global_step=epoch)
        print("saved", os.path.basename(path))
        writer.close()
        print("event files:", len(tf.gfile.Glob(os.path.join(logdir, "events.out.tfevents.*"))))

    if FLAGS.restore:
        with tf.Session() as sess:
            saver.restore(sess, tf.train.latest_checkpoint(logdir))
            print("restored: W= %.6f b= %.6f" % tuple(sess.run([W, b])))


if __name__ == "__main__":
    tf.app.run()
