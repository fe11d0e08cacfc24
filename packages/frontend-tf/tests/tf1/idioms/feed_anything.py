"""Feeding placeholders, constants, results and variables, by object and by name."""
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2], name="x")
k = tf.constant(3.0, name="k")
v = tf.Variable([1.0, 1.0], name="v")
y = tf.multiply(x, k, name="y")
z = tf.reduce_sum(y * v, axis=1, name="z")
d = tf.placeholder_with_default(tf.constant([[1, 2]]), [None, 2], name="d")
total = tf.reduce_sum(tf.cast(d, tf.float32)) + tf.reduce_sum(z)
count = tf.placeholder(tf.int32, [])

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    data = np.arange(4.0).reshape(2, 2)
    print(sess.run("z:0", {"x:0": data}).tolist())
    print(sess.run(z, {x: data, k: 10.0}).tolist())
    print(sess.run(z, {"y:0": [[5, 6]]}).tolist())
    print(sess.run(z, {x: data, v: [0.0, 2.0]}).tolist(), sess.run(v).tolist())
    print(sess.run(total, {x: [[0, 0]]}), sess.run(total, {x: [[0, 0]], d: [[5, 5], [5, 5]]}))
    print(sess.run([count, count * 2], {count: 2.7}))
    print(sess.graph.get_tensor_by_name("y:0") is y, sess.graph.get_operation_by_name("z") is z.op)
    for feed in ({}, {x: np.ones((2, 3))}, {x: "text"}, {x: k}, {"nowhere:0": 1}):
        try:
            sess.run(z, feed)
        except Exception as error:
            print(type(error).__name__)
    for name in ("y", "q:0"):
        try:
            sess.graph.get_tensor_by_name(name)
        except (ValueError, KeyError) as error:
            print(type(error).__name__)
