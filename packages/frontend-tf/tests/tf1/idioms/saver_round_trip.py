"""Checkpoints: files and their state, renaming, partial restore, and what goes wrong."""
import os
import tempfile

import tensorflow as tf

folder = tempfile.mkdtemp()
prefix = os.path.join(folder, "model.ckpt")


def build():
    tf.reset_default_graph()
    with tf.variable_scope("net"):
        w = tf.get_variable("w", initializer=tf.constant([[1.0, 2.0]]))
        b = tf.get_variable("b", initializer=tf.constant(3, tf.int64))
    return w, b


w, b = build()
step = tf.train.get_or_create_global_step()
saver = tf.train.Saver(max_to_keep=2)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(tf.train.latest_checkpoint(folder), tf.train.get_checkpoint_state(folder))
    for i in range(3):
        sess.run([tf.assign(w, w * 2.0), tf.assign_add(step, 5)])
        print(os.path.basename(saver.save(sess, prefix, global_step=step)))
    print([os.path.basename(p) for p in saver.last_checkpoints])
print(sorted(f for f in os.listdir(folder) if not f.endswith(".meta")))
state = tf.train.get_checkpoint_state(folder)
print(os.path.basename(state.model_checkpoint_path), len(state.all_model_checkpoint_paths))
latest = tf.train.latest_checkpoint(folder)
print(tf.train.checkpoint_exists(latest), latest.split("-")[-1])
print([(name, shape) for name, shape in tf.train.list_variables(latest)])
reader = tf.train.NewCheckpointReader(latest)
print(reader.has_tensor("net/w"), reader.get_tensor("net/w").tolist())
print(sorted(reader.get_variable_to_shape_map().items()))

w, b = build()
extra = tf.get_variable("extra", [2], initializer=tf.zeros_initializer())
with tf.Session() as sess:
    tf.train.Saver([w, b]).restore(sess, latest)
    print(sess.run([w, b]), sess.run(tf.report_uninitialized_variables()))
    tf.train.Saver({"net/w": w}).restore(sess, os.path.join(folder, "model.ckpt-10"))
    print(sess.run(w))
    for saver, path in ((tf.train.Saver(), latest), (tf.train.Saver([w]), prefix + "-5"),
                        (tf.train.Saver({"net/b": tf.Variable(1.0)}), latest)):
        try:
            saver.restore(sess, path)
        except (tf.errors.OpError, ValueError) as error:
            print(type(error).__name__)
