"""What operations, variables and gradients are called."""
import tensorflow as tf

a = tf.constant(1.0)
b = tf.constant(2.0, name="b")
with tf.name_scope("outer") as outer:
    c = tf.add(a, b)
    d = a + b - a * b
    with tf.name_scope("inner"):
        e = tf.matmul(tf.ones([2, 2]), tf.zeros([2, 1]), name="product")
        v = tf.Variable(3.0)
        w = tf.get_variable("w", initializer=4.0)
with tf.name_scope("outer"):
    f = tf.square(a)
    g = tf.Variable([1.0], name="v")
with tf.name_scope(outer):
    h = tf.identity(f)
with tf.name_scope(None):
    i = tf.identity(f)
with tf.variable_scope("net"):
    j = tf.layers.dense(tf.ones([1, 4]), 2, tf.nn.relu)
with tf.variable_scope("net", reuse=True):
    k = tf.layers.dense(tf.ones([1, 4]), 2, name="dense")
with tf.variable_scope(None, default_name="net") as scope:
    l = tf.layers.dense(tf.ones([1, 4]), 2)
    print(scope.name, scope.original_name_scope)
for t in (a, b, c, d, e, f, h, i, j, k, l):
    print(t.name, t.op.type)
print([x.name for x in tf.global_variables()])
gradient, = tf.gradients(tf.reduce_sum(d * v), [v])
print(gradient.name.split("/")[0], tf.gradients(f, a)[0].op.name.split("/")[0])
for name in ("ADD", "add", "Add", "sum"):
    print(tf.identity(a, name=name).name)
print(tf.reduce_sum(a).name, tf.reduce_sum(a).name, tf.zeros([2]).name, tf.zeros([2]).name)
print(tf.train.AdamOptimizer().minimize(tf.reduce_sum(d * v)).name)
print(tf.get_default_graph().unique_name("outer", mark_as_used=False))
