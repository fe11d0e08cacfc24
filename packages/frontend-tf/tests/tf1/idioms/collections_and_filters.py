"""Collections: the graph's own and the program's, filtered by scope, copied when asked for."""
import tensorflow as tf

with tf.variable_scope("encoder"):
    w = tf.get_variable("w", [2, 3], regularizer=tf.contrib.layers.l2_regularizer(0.5),
                        initializer=tf.ones_initializer())
    tf.add_to_collection("activations", tf.nn.relu(w, name="act"))
with tf.variable_scope("decoder"):
    v = tf.get_variable("w", [3], initializer=tf.constant_initializer([1.0, -2.0, 3.0]))
    tf.add_to_collection("activations", tf.nn.tanh(v))
    hidden = tf.Variable(7, trainable=False, name="counter", collections=["mine"])
tf.losses.mean_squared_error(tf.zeros([3]), v)
tf.losses.add_loss(tf.reduce_sum(v, name="extra"))
tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign(v, v * 2.0, name="double"))

graph = tf.get_default_graph()
print(sorted(graph.get_all_collection_keys()))
print([t.name for t in tf.get_collection("activations")])
print([t.name for t in tf.get_collection("activations", scope="decoder")])
print([t.name for t in tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "enc")])
print([t.op.name for t in tf.global_variables()], [t.op.name for t in tf.get_collection("mine")])
print([t.name for t in tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)])
print([t.name for t in tf.losses.get_losses()], tf.get_collection("nothing"))
copy = tf.get_collection("activations")
copy.append(None)
print(len(tf.get_collection("activations")), len(tf.get_collection_ref("activations")))
with tf.Session() as sess:
    sess.run(tf.variables_initializer([hidden] + tf.global_variables()))
    print(sess.run(tf.losses.get_total_loss()), sess.run(tf.add_n(
        tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))), hidden.eval())
    sess.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
    print(v.eval().tolist())
