"""Gradients: of lists, with weights, unconnected, of gradients; clipped in every way."""
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None], name="x")
w = tf.Variable([3.0, 4.0], name="w")
b = tf.Variable(1.0, name="b")
unused = tf.Variable(1.0, name="unused")
y = tf.reduce_sum(w * x) + tf.square(b)
z = tf.exp(-b) * tf.reduce_sum(x)

grads = tf.gradients([y, z], [w, b, unused, x])
print([g if g is None else g.dtype for g in grads])
weighted = tf.gradients([w, w * 2.0], w, grad_ys=[tf.constant([1.0, 2.0]), tf.constant([10.0, 0.0])])[0]
second = tf.gradients(tf.gradients(b ** 3, b)[0], b)[0]
through = tf.gradients(y, [w, w * x])
hessian = tf.hessians(tf.reduce_sum(w ** 3), w)[0]
stopped = tf.gradients(w * tf.stop_gradient(w), w, stop_gradients=None)[0]
held = tf.gradients(y * b, [b], stop_gradients=[y])[0]
clipped, norm = tf.clip_by_global_norm([g for g in grads if g is not None], 2.0)
by_norm = tf.clip_by_norm(w, 1.0)
by_row = tf.clip_by_norm(tf.stack([w, w * 0.1]), 1.0, axes=[1])
by_value = tf.clip_by_value(w, -1.0, 3.5)
average = tf.clip_by_average_norm(w, 1.0)

optimizer = tf.train.AdamOptimizer(0.1)
pairs = [(tf.clip_by_value(g, -1.0, 1.0), v) for g, v in optimizer.compute_gradients(y + z) if g is not None]
print([v.op.name for _, v in pairs])
train = optimizer.apply_gradients(pairs)
print([v.name for v in tf.global_variables()])
print(optimizer.get_slot_names(), optimizer.get_slot(w, "m").name)


@tf.RegisterGradient("Doubled")
def _doubled(op, grad):
    return 2.0 * grad


with tf.get_default_graph().gradient_override_map({"Identity": "Doubled"}):
    doubled = tf.gradients(tf.identity(b) * 3.0, b)[0]

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {x: [1.0, 2.0]}
    print([np.round(g, 5).tolist() for g in sess.run([g for g in grads if g is not None], feed)])
    print(sess.run([weighted, second, stopped, held, doubled], feed))
    print(sess.run(through[0], feed), through[1], sess.run(hessian).tolist())
    print([np.round(g, 5).tolist() for g in sess.run(clipped, feed)], "%.5f" % sess.run(norm, feed))
    for t in (by_norm, by_row, by_value, average):
        print(np.round(sess.run(t), 5).tolist())
    for _ in range(3):
        sess.run(train, feed)
    print(np.round(sess.run(w), 5).tolist(), "%.5f" % sess.run(b), sess.run(optimizer.get_slot(b, "v")) > 0)
    print("%.6f" % sess.run(optimizer._beta1_power if hasattr(optimizer, "_beta1_power")
                            else tf.get_default_graph().get_tensor_by_name("beta1_power:0")))
try:
    tf.train.AdamOptimizer().minimize(tf.constant(1.0) * x[0], var_list=[unused])
except ValueError as error:
    print(type(error).__name__)
