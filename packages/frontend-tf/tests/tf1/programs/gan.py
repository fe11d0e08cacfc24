"""A generative adversarial network: two optimizers, each with the variables of one scope."""

import numpy as np
import tensorflow as tf

mb_size = 64
Z_dim = 6
h_dim = 24
alpha = 0.2  # slope of the leaky relu
steps = 60


def sample_data(rng, n):
    """n points [n, 2] of eight Gaussians on a circle."""
    angle = 2 * np.pi * rng.randint(0, 8, size=n) / 8
    centres = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return centres + 0.05 * rng.randn(n, 2)


def sample_Z(rng, m, n):
    return rng.uniform(-1.0, 1.0, size=[m, n])


def leaky_relu(x, alpha=alpha):
    return tf.maximum(alpha * x, x)


def dense(x, size, name):
    """A layer written out; its weights get NumPy's numbers through a constant initializer."""
    with tf.variable_scope(name):
        n_in = x.get_shape()[-1].value
        weights = np.random.RandomState(n_in * 100 + size).randn(n_in, size) / np.sqrt(n_in / 2.0)
        W = tf.get_variable("W", [n_in, size], initializer=tf.constant_initializer(weights))
        b = tf.get_variable("b", [size], initializer=tf.zeros_initializer())
        return tf.nn.xw_plus_b(x, W, b)


def generator(z):
    with tf.variable_scope("generator"):
        h1 = tf.nn.relu(dense(z, h_dim, "h1"))
        h2 = tf.nn.relu(dense(h1, h_dim, "h2"))
        return dense(h2, 2, "out")


def discriminator(x, reuse=False):
    with tf.variable_scope("discriminator", reuse=reuse):
        h1 = leaky_relu(dense(x, h_dim, "h1"))
        h2 = leaky_relu(dense(h1, h_dim, "h2"))
        logits = dense(h2, 1, "out")
        return tf.nn.sigmoid(logits), logits


X = tf.placeholder(tf.float32, shape=[None, 2], name="real")
Z = tf.placeholder(tf.float32, shape=[None, Z_dim], name="noise")

G_sample = generator(Z)
D_real, D_logit_real = discriminator(X)
D_fake, D_logit_fake = discriminator(G_sample, reuse=True)

D_loss_real = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(
    logits=D_logit_real, labels=tf.ones_like(D_logit_real) * 0.9))
D_loss_fake = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(
    logits=D_logit_fake, labels=tf.zeros_like(D_logit_fake)))
D_loss = D_loss_real + D_loss_fake
G_loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(
    logits=D_logit_fake, labels=tf.ones_like(D_logit_fake)))

# A penalty on the slope of the discriminator, at points between real and generated ones.
mix = tf.placeholder(tf.float32, [None, 1])
between = mix * X + (1 - mix) * G_sample
slope = tf.gradients(discriminator(between, reuse=True)[1], [between])[0]
penalty = tf.reduce_mean(tf.square(tf.norm(slope, axis=1) - 1.0))

t_vars = tf.trainable_variables()
d_vars = [var for var in t_vars if var.name.startswith("discriminator")]
g_vars = [var for var in t_vars if "generator" in var.name]
print("discriminator: %s" % ", ".join(v.name for v in d_vars))
print("generator: %s" % ", ".join(v.name for v in g_vars))

D_solver = tf.train.AdamOptimizer(2e-3, beta1=0.5).minimize(
    D_loss + 0.1 * penalty, var_list=d_vars, gate_gradients=tf.train.Optimizer.GATE_GRAPH)
G_solver = tf.train.RMSPropOptimizer(learning_rate=2e-3).minimize(
    G_loss, var_list=g_vars, gate_gradients=tf.train.Optimizer.GATE_GRAPH)
print("%d variables" % len(tf.global_variables()))

config = tf.ConfigProto()
config.gpu_options.allow_growth = True
sess = tf.Session(config=config)
sess.run(tf.global_variables_initializer())

rng = np.random.RandomState(8)
for it in range(steps):
    feed = {X: sample_data(rng, mb_size), Z: sample_Z(rng, mb_size, Z_dim),
            mix: rng.uniform(size=(mb_size, 1))}
    D_loss_curr, penalty_curr = sess.run([D_loss, penalty], feed_dict=feed)
    sess.run(D_solver, feed_dict=feed)
    feed = {Z: sample_Z(rng, mb_size, Z_dim)}
    G_loss_curr = sess.run(G_loss, feed_dict=feed)
    sess.run(G_solver, feed_dict=feed)
    if it % 6 == 0:
        print("Iter: {} D loss: {:.4f} G_loss: {:.4f} penalty: {:.4f}".format(
            it, D_loss_curr, G_loss_curr, penalty_curr))

samples, = sess.run([G_sample], feed_dict={Z: sample_Z(rng, 5, Z_dim)})
for x, y in samples:
    print("sample {:.4f} {:.4f}".format(x, y))
real, fake = sess.run((D_real, D_fake), {X: sample_data(rng, 100), G_sample: np.zeros((100, 2))})
print("D(real) {:.4f} D(origin) {:.4f}".format(real.mean(), fake.mean()))
sess.close()
