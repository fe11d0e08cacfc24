"""Graphs as data: freeze, write, import under a prefix, metagraphs."""
import os
import tempfile

import numpy as np
import tensorflow as tf

folder = tempfile.mkdtemp()
x = tf.placeholder(tf.float32, [None, 2], name="x")
w = tf.Variable([[1.0], [-2.0]], name="w")
with tf.name_scope("head"):
    y = tf.nn.relu(tf.matmul(x, w) + 0.5, name="y")
tf.add_to_collection("outputs", y)
saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(w.assign_add([[1.0], [1.0]]))
    frozen = tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, ["head/y"])
    saver.save(sess, os.path.join(folder, "model"))
    tf.train.write_graph(sess.graph_def, folder, "graph.pbtxt", as_text=True)
    with tf.gfile.GFile(os.path.join(folder, "frozen.pb"), "wb") as f:
        f.write(frozen.SerializeToString())
print(sorted((node.name, node.op) for node in frozen.node))
print(sorted(os.listdir(folder)))

with tf.Graph().as_default() as graph:
    graph_def = tf.GraphDef()
    with tf.gfile.FastGFile(os.path.join(folder, "frozen.pb"), "rb") as f:
        graph_def.ParseFromString(f.read())
    out, = tf.import_graph_def(graph_def, name="loaded", return_elements=["head/y:0"])
    mapped, = tf.import_graph_def(graph_def, input_map={"x:0": tf.ones([3, 2])}, return_elements=["head/y:0"])
    print(out.name, mapped.name, mapped.get_shape(), len(graph.get_operations()))
    with tf.Session() as sess:
        print(sess.run(out, {"loaded/x:0": [[1.0, 1.0], [0.0, 3.0]]}).tolist(), sess.run(mapped).tolist())

tf.reset_default_graph()
with tf.Session() as sess:
    saver = tf.train.import_meta_graph(os.path.join(folder, "model.meta"))
    saver.restore(sess, tf.train.latest_checkpoint(folder))
    print([v.name for v in tf.trainable_variables()], tf.get_collection("outputs")[0].name)
    graph = tf.get_default_graph()
    print(sess.run("head/y:0", {graph.get_tensor_by_name("x:0"): np.ones((1, 2))}).tolist())
    extended = tf.reduce_sum(graph.get_tensor_by_name("head/y:0"), name="total")
    print(sess.run(extended, {"x:0": [[2.0, 1.0]]}), extended.name)
proto = tf.make_tensor_proto([[1.0, 2.0]], shape=[1, 2])
print(tf.make_ndarray(proto).tolist(), proto.dtype == tf.float32.as_datatype_enum)
