"""tf.train.Example, TFRecord files, and reading them by tf.data and by queues."""
import os
import tempfile

import numpy as np
import tensorflow as tf

path = os.path.join(tempfile.mkdtemp(), "data.tfrecords")


def int64_feature(values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


with tf.python_io.TFRecordWriter(path) as writer:
    for i in range(5):
        example = tf.train.Example(features=tf.train.Features(feature={
            "label": int64_feature([i % 2]), "ids": int64_feature(range(i)),
            "image": tf.train.Feature(bytes_list=tf.train.BytesList(
                value=[np.full((2, 2), i, np.uint8).tobytes()])),
            "weight": tf.train.Feature(float_list=tf.train.FloatList(value=[i / 2.0]))}))
        writer.write(example.SerializeToString())
print(os.path.getsize(path))
for record in tf.python_io.tf_record_iterator(path):
    example = tf.train.Example.FromString(record)
    feature = example.features.feature
    print(feature["label"].int64_list.value[0], list(feature["ids"].int64_list.value),
          feature["weight"].float_list.value[0], len(feature["image"].bytes_list.value[0]))

features = {"label": tf.FixedLenFeature([], tf.int64), "image": tf.FixedLenFeature([], tf.string),
            "ids": tf.VarLenFeature(tf.int64), "weight": tf.FixedLenFeature([1], tf.float32),
            "missing": tf.FixedLenFeature([], tf.int64, default_value=-7)}


def parse(record):
    parsed = tf.parse_single_example(record, features)
    image = tf.reshape(tf.decode_raw(parsed["image"], tf.uint8), [2, 2])
    return tf.cast(image, tf.float32) / 255.0, parsed["label"], tf.sparse_tensor_to_dense(parsed["ids"]), \
        parsed["missing"]


data = tf.data.TFRecordDataset([path]).map(parse, num_parallel_calls=2)
image, label, ids, missing = data.make_one_shot_iterator().get_next()
batch = tf.parse_example(
    tf.data.TFRecordDataset(path).batch(5).make_one_shot_iterator().get_next(), features)
reader = tf.TFRecordReader()
_, record = reader.read(tf.train.string_input_producer([path], num_epochs=1, shuffle=False))
weights = tf.train.batch([tf.parse_single_example(record, features)["weight"]], 2)
print(image.get_shape(), label.dtype, ids.get_shape(), weights.get_shape())

with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    try:
        while True:
            values = sess.run([image, label, ids, missing])
            print("%.4f" % values[0].sum(), values[1], values[2].tolist(), values[3])
    except tf.errors.OutOfRangeError:
        print("end")
    out = sess.run(batch)
    print(out["label"].tolist(), out["ids"].values.tolist(), out["weight"].ravel().tolist())
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(coord=coord)
    print(sess.run(weights).tolist(), sess.run(weights).tolist())
    coord.request_stop()
    coord.join(threads)
with open(path, "r+b") as file:
    file.seek(20)
    file.write(b"\xff")
try:
    list(tf.python_io.tf_record_iterator(path))
except tf.errors.DataLossError as error:
    print(type(error).__name__)
