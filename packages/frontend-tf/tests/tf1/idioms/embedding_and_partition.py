"""Embeddings: duplicates, several shards, sparse ids, and updates of rows alone."""
import numpy as np
import tensorflow as tf

table = tf.Variable(np.arange(12.0).reshape(6, 2).astype(np.float32), name="table")
ids = tf.placeholder(tf.int32, [None])
rows = tf.nn.embedding_lookup(table, ids)
loss = tf.reduce_sum(rows * [[1.0, 2.0]])
gradient = tf.gradients(loss, table)[0]
print(type(gradient).__name__, gradient.values.get_shape())

shards = [tf.Variable(tf.fill([2, 1], float(i))) for i in range(3)]
mod = tf.nn.embedding_lookup(shards, [0, 1, 2, 5])
div = tf.nn.embedding_lookup(shards, [[0, 1], [2, 5]], partition_strategy="div")
words = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, 3, 0], tf.int64), [3, 2])
bags = {how: tf.nn.embedding_lookup_sparse(table, words, None, combiner=how)
        for how in ("sum", "mean", "sqrtn")}
with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2)):
    split = tf.get_variable("table", [4, 2], initializer=tf.ones_initializer())
from_split = tf.nn.embedding_lookup(split, [3, 0])

pieces = tf.dynamic_partition(tf.range(6), [0, 1, 0, 2, 1, 0], 3)
joined = tf.dynamic_stitch([[0, 3], [1, 2]], [[10, 40], [20, 30]])
summed = tf.unsorted_segment_sum(rows, ids, 6)
means = tf.segment_mean(tf.constant([1.0, 3.0, 5.0]), tf.constant([0, 0, 2]))
unique, where = tf.unique(ids)
optimizers = [tf.train.GradientDescentOptimizer(0.1), tf.train.AdagradOptimizer(0.5),
              tf.train.MomentumOptimizer(0.1, 0.9), tf.train.AdamOptimizer(0.1)]
steps = [optimizer.minimize(loss) for optimizer in optimizers]

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {ids: [4, 1, 4]}
    print(sess.run(rows, feed).tolist(), sess.run(gradient, feed).indices.tolist())
    print(sess.run(tf.convert_to_tensor(gradient), feed).tolist())
    print(sess.run(mod).ravel(), sess.run(div).ravel(), div.get_shape(), sess.run(from_split).tolist())
    for how in sorted(bags):
        print(how, np.round(sess.run(bags[how]), 4).tolist())
    print([p.tolist() for p in sess.run(pieces)], sess.run(joined), sess.run(means))
    print(sess.run(summed, feed).tolist(), [v.tolist() for v in sess.run([unique, where], feed)])
    for optimizer, step in zip(optimizers, steps):
        sess.run(tf.global_variables_initializer())
        for batch in ([4, 1, 4], [0, 1]):
            sess.run(step, {ids: batch})
        print(optimizer.get_name(), np.round(sess.run(table), 5).tolist())
    print(sess.run(tf.scatter_update(table, [0, 2], tf.zeros([2, 2])))[:3].tolist())
    print(sess.run(tf.scatter_add(table, [0, 0], tf.ones([2, 2])))[0].tolist())
