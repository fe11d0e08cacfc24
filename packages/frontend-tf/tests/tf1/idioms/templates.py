"""make_template shares variables between calls; partials and custom getters see each creation."""
import functools

import tensorflow as tf


def scale(x, named, value):
    factor = tf.get_variable(named, shape=[], initializer=tf.constant_initializer(value))
    offset = tf.Variable(0.5, name="offset", trainable=False)
    return factor * x + offset


scaler = tf.make_template("scaler", scale, named="factor", value=3.0)
a, b = scaler(tf.constant(1.0)), scaler(tf.constant(10.0))
other = tf.make_template("scaler", scale, named="factor", value=4.0)
c = other(tf.constant(1.0))
unique = tf.make_template("net", functools.partial(tf.layers.dense, units=2), create_scope_now_=True)
d, e = unique(tf.ones([1, 3])), unique(tf.zeros([5, 3]))
print([v.op.name for v in tf.global_variables()])
print(a.name, b.name, scaler.name, scaler.var_scope.name)


def frozen(getter, name, *args, **kwargs):
    print("getting", name, kwargs.get("trainable"))
    kwargs["trainable"] = False
    return getter(name, *args, **kwargs)


with tf.variable_scope("quiet", custom_getter=frozen):
    w = tf.get_variable("w", [1], initializer=tf.ones_initializer())
    with tf.variable_scope("deep"):
        v = tf.get_variable("w", [2], tf.float64, tf.zeros_initializer())
print([v.op.name for v in tf.trainable_variables()], v.dtype)
try:
    wrong = tf.make_template("wrong", lambda x: x * tf.Variable(2.0))
    wrong(1.0), wrong(2.0)
except ValueError as error:
    print(str(error).split(",")[0])
with tf.variable_scope("typed", dtype=tf.float64, regularizer=tf.contrib.layers.l1_regularizer(0.1)):
    t = tf.get_variable("t", initializer=tf.constant_initializer([1.0, 2.0]), shape=[2])
print(t.dtype, [r.name for r in tf.losses.get_regularization_losses()])
with tf.Session() as sess:
    tf.global_variables_initializer().run()
    print(sess.run([a, b, c]), sess.run(e).shape, sess.run(tf.losses.get_regularization_loss()))
