"""tf.cond: what is made in a branch is run only there, what is made outside always is."""
import tensorflow as tf

v = tf.Variable(0.0, name="v")
u = tf.Variable([1.0, 2.0], name="u")
flag = tf.placeholder(tf.bool, [])
x = tf.placeholder(tf.float32, [None])
made_outside = tf.assign_add(v, 100.0)

inside = tf.cond(flag, lambda: tf.assign_add(v, 1.0), lambda: tf.identity(v))
outside = tf.cond(flag, lambda: made_outside, lambda: tf.constant(-1.0))
several = tf.cond(tf.reduce_sum(x) > 2.0, lambda: [x * 2.0, 1], lambda: [x - 1.0, 2])
nested = tf.cond(flag, lambda: tf.cond(x[0] > 0.0, lambda: 1.0, lambda: 2.0), lambda: 3.0)


def update():
    with tf.control_dependencies([u.assign(u * 2.0)]):
        return tf.no_op()


maybe = tf.cond(flag, update, tf.no_op)
squared = tf.cond(flag, lambda: tf.reduce_sum(u ** 2), lambda: tf.reduce_sum(u) * 3.0)
gradient = tf.gradients(squared, u)[0]
safe = tf.cond(tf.size(x) > 0, lambda: tf.reduce_max(x), lambda: tf.constant(-9.0))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for on in (True, False, True):
        print(on, sess.run(inside, {flag: on}), v.eval())
    for on in (True, False):
        print(on, sess.run(outside, {flag: on}), v.eval())
    for data in ([1.0, 2.0], [0.5]):
        values, which = sess.run(several, {x: data})
        print(values.tolist(), which, sess.run(nested, {x: data, flag: True}), sess.run(safe, {x: data}))
    print(sess.run(safe, {x: []}), sess.run(nested, {flag: False, x: [1.0]}))
    sess.run(maybe, {flag: False})
    print(u.eval().tolist(), sess.run(gradient, {flag: True}), sess.run(gradient, {flag: False}))
    sess.run(maybe, {flag: True})
    print(u.eval().tolist(), sess.run([squared, gradient], {flag: True})[1].tolist())
    for build in (lambda: tf.cond(True, lambda: 1, lambda: 2),
                  lambda: tf.cond(flag, lambda: 1, lambda: 2.0),
                  lambda: tf.cond(flag, lambda: [x, x], lambda: [x])):
        try:
            build()
        except (TypeError, ValueError) as error:
            print(type(error).__name__)
