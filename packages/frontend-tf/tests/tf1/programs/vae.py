"""A variational autoencoder of handwritten digits, of Gaussian latents and Bernoulli pixels."""

from __future__ import division, print_function

import os

import numpy as np
import tensorflow as tf

from tensorflow.contrib.layers import fully_connected

flags = tf.app.flags
flags.DEFINE_integer("hidden", 48, "Units of the encoder and of the decoder.")
flags.DEFINE_integer("latent_dim", 4, "Numbers that describe a digit.")
flags.DEFINE_integer("batch_size", 50, "Digits a step.")
flags.DEFINE_integer("epochs", 2, "Passes over the digits.")
flags.DEFINE_float("learning_rate", 3e-3, "Adam's rate.")
flags.DEFINE_string("data", os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..", "tinyflow", "src",
    "byparts_tinyflow", "data", "digits.npz"), "The file of digits.")
FLAGS = flags.FLAGS

rng = np.random.RandomState(11)


def xavier_init(shape, dtype=None, partition_info=None):
    """Uniform weights from NumPy, of a width that suits tanh; an initializer is any function."""
    limit = np.sqrt(6.0 / (shape[0] + shape[1]))
    return tf.constant(rng.uniform(-limit, limit, size=[int(d) for d in shape]), dtype=dtype)


class VAE(object):
    def __init__(self, n_input, hidden, n_latent, learning_rate):
        self.n_latent = n_latent
        self.x = tf.placeholder(tf.float32, [None, n_input], name="x")
        batch = tf.shape(self.x)[0]
        # Fed with NumPy's numbers where a run has to be repeated.
        self.eps = tf.placeholder_with_default(
            tf.random_normal([batch, n_latent]), [None, n_latent], name="eps")

        with tf.variable_scope("recognition"):
            self.z_mean, self.z_log_sigma_sq = self._recognition(self.x, hidden)
        self.z = self.z_mean + tf.sqrt(tf.exp(self.z_log_sigma_sq)) * self.eps
        with tf.variable_scope("generator") as scope:
            self.logits = self._generator(self.z, n_input, hidden)
            scope.reuse_variables()
            self.z_in = tf.placeholder(tf.float32, [None, n_latent])
            self.generated = tf.sigmoid(self._generator(self.z_in, n_input, hidden))
        self._loss()
        self.optimizer = tf.contrib.layers.optimize_loss(
            self.cost, tf.train.get_or_create_global_step(), learning_rate, "Adam",
            summaries=["loss", "gradient_norm"])

    def _recognition(self, x, hidden):
        net = fully_connected(x, hidden, activation_fn=tf.nn.softplus,
                              weights_initializer=xavier_init, scope="h1")
        net = fully_connected(net, hidden, activation_fn=tf.nn.tanh,
                              weights_initializer=xavier_init, scope="h2")
        out = fully_connected(net, 2 * self.n_latent, activation_fn=None,
                              weights_initializer=xavier_init, scope="out")
        return tf.split(out, 2, axis=1)

    def _generator(self, z, n_input, hidden):
        net = fully_connected(z, hidden, activation_fn=tf.nn.softplus,
                              weights_initializer=xavier_init, scope="h1")
        return fully_connected(net, n_input, activation_fn=None,
                               weights_initializer=xavier_init, scope="logits")

    def _loss(self):
        reconstruction = tf.reduce_sum(
            tf.nn.sigmoid_cross_entropy_with_logits(labels=self.x, logits=self.logits), 1)
        latent = -0.5 * tf.reduce_sum(
            1 + self.z_log_sigma_sq - tf.square(self.z_mean) - tf.exp(self.z_log_sigma_sq), 1)
        self.reconstruction = tf.reduce_mean(reconstruction)
        self.kl = tf.reduce_mean(latent)
        self.cost = self.reconstruction + self.kl
        tf.summary.image("decoded", tf.reshape(tf.sigmoid(self.logits), [-1, 8, 8, 1]), 2)


def train(sess, model, images):
    for epoch in range(FLAGS.epochs):
        totals = np.zeros(3)
        batches = len(images) // FLAGS.batch_size
        for i in range(batches):
            xs = images[i * FLAGS.batch_size:(i + 1) * FLAGS.batch_size]
            eps = rng.standard_normal((FLAGS.batch_size, FLAGS.latent_dim))
            _, cost, rec, kl = sess.run(
                (model.optimizer, model.cost, model.reconstruction, model.kl),
                feed_dict={model.x: xs, model.eps: eps})
            totals += np.array([cost, rec, kl]) / batches
            if i % 8 == 0:
                print("Epoch: %d batch %d cost= %.4f" % (epoch, i, cost))
        print("Epoch: %d cost= %.4f reconstruction= %.4f kl= %.4f" % ((epoch,) + tuple(totals)))


def main(unused_argv):
    images = np.load(FLAGS.data)["images"].reshape(-1, 64).astype(np.float32) / 16
    model = VAE(64, FLAGS.hidden, FLAGS.latent_dim, FLAGS.learning_rate)
    merged = tf.summary.merge_all()
    with tf.Session(config=tf.ConfigProto(log_device_placement=False)) as sess:
        sess.run(tf.global_variables_initializer())
        train(sess, model, images)
        z = np.linspace(-1, 1, 3 * FLAGS.latent_dim).reshape(3, FLAGS.latent_dim)
        for row in sess.run(model.generated, {model.z_in: z}):
            print("generated: mean %.5f max %.5f" % (row.mean(), row.max()))
        mean, sigma = sess.run([model.z_mean, model.z_log_sigma_sq], {model.x: images[:2]})
        print("latent mean %s" % " ".join("%.4f" % v for v in mean.flatten()))
        print("latent log variance %s" % " ".join("%.4f" % v for v in sigma.flatten()))
        summary = tf.Summary.FromString(sess.run(merged, {model.x: images[:5]}))
        print(sorted(v.tag for v in summary.value))
        print("global step", tf.train.global_step(sess, tf.train.get_global_step()))


if __name__ == "__main__":
    tf.app.run()
