"""Queues, queue runners and a coordinator; the end of the input is OutOfRangeError."""
import threading

import numpy as np
import tensorflow as tf

queue = tf.FIFOQueue(capacity=10, dtypes=[tf.float32, tf.int32], shapes=[[2], []], name="queue")
x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int32, [None])
put = queue.enqueue_many([x, y])
one = queue.dequeue()
some = queue.dequeue_many(2)
size = queue.size()
close = queue.close()

with tf.Session() as sess:
    sess.run(put, {x: np.arange(10.0).reshape(5, 2), y: np.arange(5)})
    print(sess.run(size), [v.tolist() for v in sess.run(one)])
    print([v.tolist() for v in sess.run(some)], sess.run(size), some[0].get_shape())
    sess.run(close)
    try:
        while True:
            print(sess.run(one[1]))
    except tf.errors.OutOfRangeError:
        print("queue is closed and empty")

tf.reset_default_graph()
letters = tf.train.input_producer(["a", "b", "c"], num_epochs=2, shuffle=False).dequeue()
number, image = tf.train.slice_input_producer(
    [tf.range(6), tf.reshape(tf.range(12), [6, 2])], num_epochs=1, shuffle=False)
batch = tf.train.batch([number, image], batch_size=4, allow_smaller_final_batch=True)
print(len(tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)), batch[1].get_shape())
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)
    try:
        while not coord.should_stop():
            a, b = sess.run(batch)
            print(a.tolist(), b.sum(), sess.run(letters))
    except tf.errors.OutOfRangeError:
        print("done")
    finally:
        coord.request_stop()
    coord.join(threads)

coord = tf.train.Coordinator()
seen = []


def work(number):
    while not coord.should_stop():
        seen.append(number)
        coord.request_stop()


workers = [threading.Thread(target=work, args=(i,)) for i in range(2)]
for t in workers:
    t.start()
coord.join(workers)
print(len(seen) > 0, coord.should_stop())
