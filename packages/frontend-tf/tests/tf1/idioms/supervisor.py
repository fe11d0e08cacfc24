"""tf.train.Supervisor: initializes or restores, saves at the end, counts steps."""
import os
import tempfile

import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
folder = os.path.join(tempfile.mkdtemp(), "log")


def train(steps):
    with tf.Graph().as_default():
        global_step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", initializer=5.0)
        loss = tf.square(w - 1.0)
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=global_step)
        tf.summary.scalar("loss", loss)
        sv = tf.train.Supervisor(logdir=folder, global_step=global_step, save_model_secs=0, summary_op=None)
        with sv.managed_session() as sess:
            while not sv.should_stop():
                _, step = sess.run([train_op, global_step])
                if sess.run(global_step) % steps == 0:
                    sv.saver.save(sess, sv.save_path, global_step=global_step)
                    sv.request_stop()
            print("step %d w %.5f loss %.5f" % tuple(sess.run([global_step, w, loss])))
        print(sv.should_stop(), os.path.basename(tf.train.latest_checkpoint(folder)))


train(4)
train(10)
try:
    with tf.Graph().as_default():
        v = tf.Variable(1.0)
        sv = tf.train.Supervisor(logdir=None)
        with sv.managed_session() as sess:
            print(sess.run(v))
            try:
                tf.constant(1.0)
            except RuntimeError as error:
                print("finalized:", type(error).__name__)
            raise ValueError("the program's own")
except ValueError as error:
    print(error)
