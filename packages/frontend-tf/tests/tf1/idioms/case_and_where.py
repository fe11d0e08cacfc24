"""tf.case with and without exclusivity, tf.where in its forms, and their gradients."""
import tensorflow as tf

x = tf.placeholder(tf.float32, [], name="x")
y = tf.placeholder(tf.float32, [None, 2], name="y")
first = tf.case([(x < 1.0, lambda: tf.constant(10.0)), (x < 5.0, lambda: x * 2.0)],
                default=lambda: tf.constant(-1.0))
named = tf.case({tf.equal(x, 2.0): lambda: tf.constant("two"), tf.equal(x, 3.0): lambda: tf.constant("three")},
                default=lambda: tf.constant("many"), exclusive=True)
v = tf.Variable(1.0)
step = tf.case([(x > 3.0, lambda: tf.assign(v, 7.0))], default=lambda: v + 0.0)
rate = tf.train.piecewise_constant(tf.to_int32(x), [2, 4], [0.1, 0.01, 0.001])

chosen = tf.where(y > 0.0, y, tf.zeros_like(y))
rows = tf.where(y[:, 0] > 1.0, y, -y)
indices = tf.where(tf.not_equal(y, 0.0))
picked = tf.boolean_mask(y, y[:, 1] > 0.0)
found = tf.gather_nd(y, indices)
gradient = tf.gradients(tf.reduce_sum(tf.where(y > 0.0, tf.log(y), tf.zeros_like(y))), y)[0]
masked = tf.gradients(tf.reduce_sum(tf.square(picked)), y)[0]

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for value in (0.0, 2.0, 3.0, 9.0):
        print(sess.run([first, named, rate], {x: value}), sess.run(step, {x: value}), v.eval())
    for data in ([[1.0, 0.0], [2.0, -3.0]], [[0.0, 5.0]], [[0.0, 0.0]]):
        for t in (chosen, rows, indices, picked, found, gradient, masked):
            print(sess.run(t, {y: data}).tolist(), end=" ")
        print(sess.run(tf.shape(picked), {y: data}))
    print(indices.get_shape(), picked.get_shape(), chosen.get_shape())
