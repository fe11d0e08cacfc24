"""Summaries: tags, merge_all, written by hand, and event files read back."""
import os
import tempfile

import numpy as np
import tensorflow as tf

folder = tempfile.mkdtemp()
x = tf.placeholder(tf.float32, [None], name="x")
with tf.name_scope("stats"):
    mean = tf.reduce_mean(x)
    a = tf.summary.scalar("mean of x", mean)
    tf.summary.histogram("x", x)
b = tf.summary.scalar("largest", tf.reduce_max(x), collections=["other"])
picture = tf.summary.image("pictures", tf.reshape(x, [2, 2, 2, 1]), max_outputs=2)
note = tf.summary.text("note", tf.constant("hello"))
merged, other, two = tf.summary.merge_all(), tf.summary.merge_all(key="other"), tf.summary.merge([a, b])
print(tf.summary.merge_all(key="none"), a.dtype, a.op.name, merged.op.type)

with tf.Session() as sess:
    writer = tf.summary.FileWriter(os.path.join(folder, "run"), sess.graph)
    data = np.arange(8.0)
    for step in range(3):
        out = sess.run(merged, {x: data * (step + 1)})
        writer.add_summary(out, step)
    summary = tf.Summary()
    summary.ParseFromString(sess.run(two, {x: data}))
    print([(v.tag, v.simple_value) for v in summary.value])
    print([(v.tag, v.simple_value) for v in tf.Summary.FromString(sess.run(other, {x: data})).value])
    by_hand = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.25)])
    by_hand.value.add(tag="accuracy", simple_value=0.5)
    writer.add_summary(by_hand, global_step=7)
    full = tf.Summary.FromString(out)
    for value in full.value:
        kind = value.WhichOneof("value")
        print(value.tag, kind, end=" ")
        if kind == "histo":
            print(value.histo.min, value.histo.max, value.histo.num, value.histo.sum, value.histo.sum_squares)
        elif kind == "image":
            print(value.image.height, value.image.width, value.image.colorspace)
        else:
            print("%.3f" % value.simple_value)
    writer.flush()
    writer.close()

path, = tf.gfile.Glob(os.path.join(folder, "run", "events.out.tfevents.*"))
for event in tf.train.summary_iterator(path):
    if event.HasField("summary"):
        print(event.step, [v.tag for v in event.summary.value])
    else:
        print(event.WhichOneof("what"))
