"""MonitoredTrainingSession with hooks: checkpoints, stopping, recovery of what was trained."""
import os
import tempfile

import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
folder = tempfile.mkdtemp()


class Watch(tf.train.SessionRunHook):
    """Prints what it is told."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.events = []

    def begin(self):
        self.events.append("begin")

    def after_create_session(self, session, coord):
        self.events.append("created")

    def before_run(self, run_context):
        self.events.append("before")
        return tf.train.SessionRunArgs(self.tensor)

    def after_run(self, run_context, run_values):
        self.events.append("%.4f" % run_values.results)

    def end(self, session):
        self.events.append("end at %d" % session.run(tf.train.get_global_step()))


def train(last_step):
    with tf.Graph().as_default():
        global_step = tf.train.get_or_create_global_step()
        x = tf.placeholder_with_default(1.0, [])
        w = tf.get_variable("w", initializer=0.0)
        loss = tf.square(w * x - 3.0, name="loss")
        train_op = tf.train.GradientDescentOptimizer(0.2).minimize(loss, global_step)
        watch = Watch(loss)
        hooks = [watch, tf.train.StopAtStepHook(last_step=last_step),
                 tf.train.NanTensorHook(loss),
                 tf.train.LoggingTensorHook({"loss": "loss:0"}, every_n_iter=2)]
        with tf.train.MonitoredTrainingSession(
                checkpoint_dir=folder, hooks=hooks, save_checkpoint_secs=None, save_summaries_steps=None,
                save_checkpoint_steps=3, log_step_count_steps=None) as sess:
            while not sess.should_stop():
                sess.run(train_op, feed_dict={x: 0.5})
        print(watch.events)
        print(os.path.basename(tf.train.latest_checkpoint(folder)))


train(2)
train(5)
with tf.Graph().as_default():
    w = tf.get_variable("w", initializer=0.0)
    step = tf.train.get_or_create_global_step()
    creator = tf.train.ChiefSessionCreator(checkpoint_dir=folder)
    with tf.train.MonitoredSession(session_creator=creator) as sess:
        print("%.5f %d" % tuple(sess.run([w, step])))
    with tf.train.SingularMonitoredSession() as sess:
        print(sess.run(w), sess.raw_session().run(step))
