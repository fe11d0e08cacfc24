"""Static shapes: partial, unknown, set by the program, and the arithmetic of dimensions."""
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 28, 28, 3])
free = tf.placeholder(tf.float32)
print(x.get_shape(), x.get_shape().as_list(), x.shape[1].value, x.get_shape()[0], free.get_shape())
print(repr(x.get_shape()[0]), x.shape.ndims, free.shape.ndims, x.shape.is_fully_defined())
flat = tf.reshape(x, [-1, int(np.prod(x.get_shape()[1:].as_list()))])
w = tf.get_variable("w", [flat.get_shape()[1], x.get_shape()[3] * 2])
print(flat, w.shape, tf.matmul(flat, w).shape)
batch = tf.shape(x)[0]
print(tf.reshape(flat, [batch, -1, 4]).shape, tf.reshape(flat, tf.stack([batch, 2, 1176])).shape)
print(tf.zeros([batch, 5]).shape, tf.fill([2, 3], 1).shape, tf.tile(x, [1, 2, 1, 1]).shape)
conv = tf.layers.conv2d(x, 8, 5, strides=2, padding="same")
print(conv.shape, tf.nn.max_pool(conv, [1, 3, 3, 1], [1, 2, 2, 1], "VALID").shape)
print(tf.concat([x, x], 3).shape, tf.stack([x, x], axis=1).shape, tf.expand_dims(x, -1).shape)
print(x[:, 1:5, ::2].shape, x[0].shape, x[..., tf.newaxis, 0].shape, x[:, -1].shape, tf.transpose(x).shape)
print([p.shape.as_list() for p in tf.split(x, [1, 2], axis=3)], tf.squeeze(x[:1, :1]).shape)
print(tf.reduce_sum(x, [1, 2]).shape, tf.reduce_mean(x, 3, keepdims=True).shape, tf.argmax(x, 1).shape)
free.set_shape([None, 10])
print(free.shape, (free + tf.zeros([4, 1])).shape, tf.one_hot(tf.argmax(free, 1), 7).shape)
free.set_shape([4, None])
print(free.shape, tf.TensorShape([2, None]).merge_with([None, 3]), tf.TensorShape([1]).concatenate([2, 3]))
print(tf.TensorShape(None), tf.TensorShape([None, 2]).is_compatible_with([7, 2]), tf.TensorShape([2]) == [2])
print(tf.Dimension(3) * 2 + 1, int(tf.Dimension(4)), tf.Dimension(None) + 1, tf.Dimension(7) // 2)
for fails in (lambda: free.set_shape([5, 10]), lambda: tf.TensorShape(None).as_list(),
              lambda: tf.matmul(free, tf.zeros([3, 3])), lambda: tf.zeros([2, 3]) + tf.zeros([3, 2]),
              lambda: tf.reshape(tf.zeros([6]), [4, -1]), lambda: tf.concat([tf.zeros([2]), tf.zeros([2, 2])], 0),
              lambda: tf.constant(1.0) + tf.constant(1), lambda: tf.get_variable("v", [None, 2]),
              lambda: bool(free), lambda: len(free), lambda: list(free), lambda: x.shape[0] > 3 or 1 / 0):
    try:
        fails()
        print("nothing")
    except (ValueError, TypeError, ZeroDivisionError) as error:
        print(type(error).__name__)
with tf.Session() as sess:
    print(sess.run(tf.shape(flat), {x: np.zeros((2, 28, 28, 3))}), sess.run([tf.rank(x), tf.size(tf.zeros([2, 3]))]))
