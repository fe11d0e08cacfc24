"""Sparse placeholders, their feeds and fetches, products, and back to dense."""
import numpy as np
import tensorflow as tf

sp = tf.sparse_placeholder(tf.float32, name="sp")
w = tf.Variable(np.arange(8.0).reshape(4, 2).astype(np.float32))
product = tf.sparse_tensor_dense_matmul(sp, w)
dense = tf.sparse_tensor_to_dense(sp, default_value=-1.0)
row_sums = tf.sparse_reduce_sum(sp, axis=1)
scaled = sp * 2.0
soft = tf.sparse_softmax(sp)
kept = tf.sparse_retain(sp, sp.values > 1.5)
reshaped = tf.sparse_reshape(sp, [4, 3])
added = tf.sparse_add(sp, kept)
turned = tf.sparse_transpose(sp)
made = tf.sparse_to_dense([[0, 1], [1, 0]], [2, 2], [5, 6], default_value=0)
gradient = tf.gradients(tf.reduce_sum(tf.square(product)), [w, sp.values])
words = tf.string_split(["a b", "c", ""], " ")
numbers = tf.string_to_number(tf.constant(["1.5", "-2"]))
hashed = tf.string_to_hash_bucket_fast(["x", "y", "x"], 100)
joined = tf.reduce_join([["a", "b"], ["c", "d"]], 1)

value = tf.SparseTensorValue(indices=[[0, 1], [1, 0], [2, 3]], values=[1.0, 2.0, 3.0], dense_shape=[3, 4])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {sp: value}
    print(sess.run(product, feed).tolist())
    print(sess.run(dense, {sp: (np.array([[0, 0]]), np.array([9.0]), np.array([3, 4]))}).tolist())
    print(sess.run(row_sums, feed).tolist(), sess.run(made).tolist())
    for t in (scaled, soft, kept, reshaped, added, turned):
        out = sess.run(t, feed)
        print(out.indices.tolist(), out.values.tolist(), out.dense_shape.tolist())
    print([v.tolist() for v in sess.run(gradient, feed)])
    out = sess.run(words)
    print(out.values.tolist(), out.indices.tolist(), sess.run(numbers))
    codes = sess.run(hashed)
    print(codes[0] == codes[2], sess.run(joined).tolist(), sp.get_shape(), product.shape)
