"""while_loop, TensorArray, map_fn, scan, foldl and foldr, with gradients through them."""
import tensorflow as tf

n = tf.placeholder(tf.int32, [])
w = tf.Variable(2.0, name="w")
i, product = tf.while_loop(lambda i, p: i < n, lambda i, p: (i + 1, p * w), (0, tf.constant(1.0)))
dw, = tf.gradients(product, [w])

array = tf.TensorArray(tf.float32, size=n, clear_after_read=False)
_, filled = tf.while_loop(
    lambda i, a: tf.less(i, n), lambda i, a: (i + 1, a.write(i, tf.to_float(i) * w)), [0, array])
stacked = filled.stack()
growing = tf.TensorArray(tf.float32, size=0, dynamic_size=True, infer_shape=False)
_, grown = tf.while_loop(lambda i, *_: i < 3, lambda i, a: (i + 1, a.write(i, tf.fill([i + 1], w))),
                         [0, growing])
together = grown.concat()
parts = tf.TensorArray(tf.float32, 3).unstack(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))

_, rows = tf.while_loop(
    lambda i, t: i < 3, lambda i, t: [i + 1, tf.concat([t, t[-1:] + w], 0)], [tf.constant(0), tf.ones([1, 2])],
    shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])])
single = tf.while_loop(lambda x: x < 100, lambda x: x * 3, [2])
capped = tf.while_loop(lambda x: True, lambda x: x + 1, [0], maximum_iterations=4)


def outer(i, total):
    _, inner = tf.while_loop(lambda j, s: j < i, lambda j, s: (j + 1, s + w * tf.to_float(j)), (0, 0.0))
    return i + 1, total + inner


nested = tf.while_loop(lambda i, t: i < 4, outer, (0, 0.0))[1]
elems = tf.constant([1.0, 2.0, 3.0])
mapped = tf.map_fn(lambda x: x * w + 1.0, elems)
both = tf.map_fn(lambda xy: (xy[0] + xy[1], xy[0] > 1.0), (elems, elems), dtype=(tf.float32, tf.bool))
sums = tf.scan(lambda a, x: a * w + x, elems)
fibonacci = tf.scan(lambda a, _: (a[1], a[0] + a[1]), elems, initializer=(0, 1))
left = tf.foldl(lambda a, x: a - x, elems, initializer=10.0)
right = tf.foldr(lambda a, x: a * 2.0 - x, elems)
total = tf.reduce_sum(stacked) + tf.reduce_sum(mapped) + tf.reduce_sum(sums) + nested + \
    tf.reduce_sum(together) + tf.reduce_sum(rows)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for steps in (0, 3, 5):
        print(sess.run([i, product, dw], {n: steps}), sess.run(stacked, {n: steps}))
    print(sess.run(together), sess.run(parts.read(1)), sess.run(parts.gather([2, 0])).tolist())
    print(sess.run(rows).tolist(), rows.get_shape(), sess.run([single, capped]), sess.run(nested))
    print(sess.run(mapped), [v.tolist() for v in sess.run(both)], sess.run(sums))
    print([v.tolist() for v in sess.run(fibonacci)], sess.run([left, right]))
    print(sess.run(tf.gradients(total, w), {n: 4}))
    try:
        tf.while_loop(lambda x: tf.reduce_sum(x) < 9, lambda x: tf.concat([x, x], 0), [tf.ones([1])])
    except ValueError as error:
        print(type(error).__name__)
