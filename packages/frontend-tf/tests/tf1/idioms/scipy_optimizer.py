"""ScipyOptimizerInterface: SciPy's minimizers on a loss of the graph, with bounds and constraints."""
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(5)
x = tf.placeholder(tf.float32, [None, 2])
t = tf.placeholder(tf.float32, [None, 1])
w = tf.Variable(rng.randn(2, 1), dtype=tf.float32)
b = tf.Variable([0.0], dtype=tf.float32)
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - t))
count = [0]


def callback(value, offset):
    count[0] += 1
    if count[0] == 1:
        print("first loss %.5f offset %.5f" % (value, offset[0]))


optimizer = tf.contrib.opt.ScipyOptimizerInterface(
    loss, method="L-BFGS-B", options={"maxiter": 50, "maxfun": 500, "maxcor": 10, "maxls": 20,
                                      "ftol": 1.0 * np.finfo(float).eps})
bounded = tf.contrib.opt.ScipyOptimizerInterface(loss, var_list=[b], var_to_bounds={b: (0.0, 0.25)})
vector = tf.Variable([7.0, 7.0], name="vector")
length = tf.reduce_sum(tf.square(vector))
constrained = tf.contrib.opt.ScipyOptimizerInterface(
    length, var_list=[vector], equalities=[vector[1] - 2.0], inequalities=[vector[0] - 1.0],
    method="SLSQP")
points = rng.uniform(-1, 1, (40, 2))
values = points.dot([[1.5], [-0.5]]) + 0.75
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {x: points, t: values}
    optimizer.minimize(sess, feed_dict=feed, fetches=[loss, b], loss_callback=callback)
    print("w %.3f %.3f b %.3f" % (tuple(sess.run(w).ravel()) + tuple(sess.run(b))), count[0] > 3)
    bounded.minimize(sess, feed_dict=feed)
    print("b within bounds %.3f" % sess.run(b)[0])
    constrained.minimize(sess)
    print("vector %.3f %.3f" % tuple(sess.run(vector)))
