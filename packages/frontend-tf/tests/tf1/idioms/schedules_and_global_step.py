"""Learning-rate schedules, the global step and what counts it."""
import tensorflow as tf

print(tf.train.get_global_step())
step = tf.train.get_or_create_global_step()
print(step.name, step.dtype, tf.train.get_global_step() is step, tf.trainable_variables())
rates = [
    tf.train.exponential_decay(0.1, step, 3, 0.5), tf.train.exponential_decay(0.1, step, 3, 0.5, staircase=True),
    tf.train.polynomial_decay(0.1, step, 4, 0.01, power=2.0), tf.train.polynomial_decay(0.1, step, 4, cycle=True),
    tf.train.inverse_time_decay(0.1, step, 2, 0.5), tf.train.natural_exp_decay(0.1, step, 2, 0.5),
    tf.train.piecewise_constant(step, [2, 5], [1.0, 0.5, 0.25]), tf.train.cosine_decay(0.1, step, 6, alpha=0.1),
    tf.train.noisy_linear_cosine_decay(0.1, step, 6, initial_variance=0.0) * 0.0,
    tf.train.cosine_decay_restarts(0.1, step, 3), tf.train.linear_cosine_decay(0.1, step, 5)]
w = tf.Variable([2.0, -1.0])
rate = tf.Variable(0.5, trainable=False, name="rate")
new_rate = tf.placeholder(tf.float32, shape=[], name="new_rate")
change = tf.assign(rate, new_rate)
optimizer = tf.train.GradientDescentOptimizer(rate)
gradients = optimizer.compute_gradients(tf.nn.l2_loss(w))
train = optimizer.apply_gradients(gradients, global_step=step)
print([(v.op.name, g.get_shape().as_list()) for g, v in gradients])

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(7):
        print(i, " ".join("%.5f" % r for r in sess.run(rates)))
        sess.run(change, {new_rate: 0.5 / (i + 1)})
        sess.run(train)
    print(sess.run(step), tf.train.global_step(sess, step), sess.run(w))
    print(sess.run(tf.assign(step, 100)), sess.run(rates[0] * 1e9))
