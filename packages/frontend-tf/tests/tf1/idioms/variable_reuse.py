"""Variable scopes: reuse, AUTO_REUSE, inherited initializers, and what is refused."""
import tensorflow as tf


def layer(x, reuse=None):
    with tf.variable_scope("layer", reuse=reuse):
        w = tf.get_variable("w", [3, 2])
        b = tf.get_variable("b", [2], initializer=tf.zeros_initializer())
        return tf.matmul(x, w) + b


x = tf.ones([1, 3])
with tf.variable_scope("model", initializer=tf.constant_initializer(0.5)) as scope:
    first = layer(x)
    scope.reuse_variables()
    second = layer(2.0 * x)
    print(tf.get_variable_scope().reuse, tf.get_variable_scope().name)
with tf.variable_scope(scope, reuse=True):
    third = tf.get_variable("layer/w")
    with tf.variable_scope("layer") as inner:
        print(inner.reuse, inner.name, third is tf.get_variable("w"))
for _ in range(2):
    with tf.variable_scope("auto", reuse=tf.AUTO_REUSE):
        shared = tf.get_variable("shared", initializer=tf.constant([1.0, 2.0]))
print([v.name for v in tf.global_variables()], shared.name)


def attempt(what, **how):
    try:
        with tf.variable_scope("model", reuse=how.pop("reuse", None)):
            tf.get_variable(what, **how)
        print(what, "made")
    except ValueError as error:
        print(what, type(error).__name__, "already exists" in str(error))


attempt("layer/w", shape=[3, 2])
attempt("layer/missing", shape=[1], reuse=True)
attempt("layer/w", shape=[2, 3], reuse=True)
attempt("fresh")
attempt("both", shape=[2], initializer=tf.constant([1.0, 2.0]))
attempt("unknown", shape=[None, 2])
attempt("new", shape=[2], trainable=False)
print([v.op.name for v in tf.trainable_variables()])
with tf.Session() as sess:
    tf.global_variables_initializer().run()
    print(sess.run([first, second, shared]))
