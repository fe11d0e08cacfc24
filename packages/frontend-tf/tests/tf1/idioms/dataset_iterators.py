"""tf.data: one-shot, initializable and reinitializable iterators, and their end."""
import numpy as np
import tensorflow as tf


def show(sess, tensors):
    """Every element until the iterator ends."""
    count = 0
    try:
        while True:
            print(count, [np.asarray(v).tolist() for v in sess.run(tensors)])
            count += 1
    except tf.errors.OutOfRangeError:
        print("end after", count)


numbers = tf.data.Dataset.range(7).map(lambda i: i * i).filter(lambda i: i % 2 < 1)
pairs = tf.data.Dataset.from_tensor_slices((np.arange(12.0).reshape(6, 2), ["a", "b", "c"] * 2))
pairs = pairs.map(lambda x, s: (x + 1.0, tf.string_join([s, "!"]))).batch(4)
lines = tf.data.Dataset.from_tensor_slices(["1,2,3", "4,5,6"]).map(
    lambda line: tf.string_to_number(tf.string_split([line], ",").values))


def generate():
    for i in range(1, 4):
        yield i, list(range(i))


ragged = tf.data.Dataset.from_generator(generate, (tf.int32, tf.int64), ([], [None]))
ragged = ragged.padded_batch(2, padded_shapes=([], [None]), padding_values=(0, tf.constant(-1, tf.int64)))
print(pairs.output_types, pairs.output_shapes)

one_shot = numbers.batch(3).make_one_shot_iterator().get_next()
pair = pairs.make_one_shot_iterator().get_next()
line = lines.repeat(2).skip(1).take(2).make_one_shot_iterator().get_next()
padded = ragged.make_one_shot_iterator().get_next()
x = tf.placeholder(tf.float32, [None])
fed = tf.data.Dataset.from_tensor_slices({"x": x, "twice": x * 2}).batch(2).prefetch(1)
again = fed.make_initializable_iterator()
element = again.get_next()

train = tf.data.Dataset.from_tensor_slices(np.arange(4)).map(lambda v: v * 10)
test = tf.data.Dataset.from_tensor_slices(np.arange(100, 102))
either = tf.data.Iterator.from_structure(train.output_types, train.output_shapes)
following = either.get_next()
to_train, to_test = either.make_initializer(train), either.make_initializer(test)
both = tf.data.Dataset.zip((train, train.shuffle(4, seed=1).apply(
    tf.data.experimental.unbatch()) if False else train.cache())).concatenate(
        tf.data.Dataset.zip((test, test)))
zipped = both.make_one_shot_iterator().get_next()
mixed = tf.data.Dataset.range(20).shuffle(buffer_size=20).repeat(1).batch(20)
shuffled = mixed.make_one_shot_iterator().get_next()

with tf.Session() as sess:
    show(sess, [one_shot])
    show(sess, pair)
    show(sess, [line])
    show(sess, padded)
    for data in ([1.0, 2.0, 3.0], [7.0]):
        sess.run(again.initializer, feed_dict={x: data})
        show(sess, [element["x"], element["twice"]])
    for start in (to_train, to_test, to_train):
        sess.run(start)
        print(sess.run(following))
    show(sess, zipped)
    order = sess.run(shuffled)
    print(sorted(order.tolist()) == list(range(20)), order.tolist() != list(range(20)))
