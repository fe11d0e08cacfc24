"""py_func with several outputs, state of its own, its shape, and a gradient of the program's."""
import numpy as np
import tensorflow as tf

calls = []


def count_up(x):
    calls.append(x.shape)
    return np.cumsum(x, axis=0), np.int64(len(calls))


x = tf.placeholder(tf.float32, [None, 2], name="x")
summed, number = tf.py_func(count_up, [x], [tf.float32, tf.int64])
print(summed.get_shape(), number.get_shape())
summed.set_shape(x.get_shape())
loss = tf.reduce_sum(tf.square(summed))
words = tf.py_func(lambda s: s.upper() + b"?", [tf.constant("abc")], tf.string)
w = tf.Variable([1.0, -2.0])
stopped = tf.stop_gradient(tf.py_func(lambda v: np.float32(np.abs(v).sum()), [w], tf.float32))
through = tf.reduce_sum(w * stopped)


def fails(v):
    raise ValueError("no number is good enough")


bad = tf.py_func(fails, [w], tf.float32)


@tf.custom_gradient
def clipped(v):
    return tf.identity(v), lambda dy: tf.clip_by_value(dy, -1.0, 1.0)


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for rows in (2, 3):
        out, times = sess.run([summed, number], {x: np.ones((rows, 2))})
        print(out.tolist(), times, calls[-1])
    print(sess.run(loss, {x: [[1.0, 2.0], [3.0, 4.0]]}), len(calls), sess.run(words))
    print(sess.run(tf.gradients(through, w)[0]).tolist(), tf.gradients(loss, x))
    print(sess.run(tf.gradients(tf.reduce_sum(clipped(w) * [5.0, 0.5]), w)[0]).tolist())
    for _ in range(2):
        sess.run(w.assign_add([1.0, 1.0]))
        print(sess.run(stopped))
    try:
        sess.run(bad)
    except tf.errors.OpError as error:
        print(type(error).__name__, "no number is good enough" in str(error))
