"""tf.layers as functions and objects, tf.losses with weights and reductions."""
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(12)
x = tf.placeholder(tf.float32, [2, 6, 6, 3])
training = tf.placeholder_with_default(False, [])
net = tf.layers.conv2d(x, 4, 3, strides=(2, 1), activation=tf.nn.elu, name="c1")
net = tf.layers.separable_conv2d(net, 2, 2, depth_multiplier=2, padding="same")
up = tf.layers.conv2d_transpose(net, 3, 3, strides=2, padding="same")
dense = tf.layers.Dense(5, activation=tf.nn.tanh, kernel_regularizer=tf.nn.l2_loss, name="shared")
flat = tf.layers.flatten(net)
one, two = dense(flat), dense(flat * 0.5)
sequence = tf.layers.conv1d(tf.reshape(x, [2, 12, 9]), 2, 3, dilation_rate=2)
pooled = tf.layers.max_pooling1d(sequence, 2, 2)
normed = tf.layers.batch_normalization(one, training=training, momentum=0.5, epsilon=1e-3)
dropped = tf.layers.dropout(normed, 0.999, training=training)


class Scale(tf.layers.Layer):
    def build(self, input_shape):
        self.gain = self.add_variable("gain", shape=[input_shape[-1].value], initializer=tf.ones_initializer())
        self.built = True

    def call(self, inputs):
        return inputs * self.gain


scaled = Scale(name="scale")(normed)
print([(v.op.name, v.get_shape().as_list()) for v in tf.trainable_variables()])
print(len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)))
print(dense.kernel.name, dense.bias.shape, len(dense.losses), dense.units, dense.name)
print(net.shape, up.shape, sequence.shape, pooled.shape)

labels = tf.constant([1, 4])
hot = tf.one_hot(labels, 5)
losses = [
    tf.losses.sparse_softmax_cross_entropy(labels, one), tf.losses.softmax_cross_entropy(hot, one, label_smoothing=0.1),
    tf.losses.sigmoid_cross_entropy(hot, one, weights=[[1.0], [0.0]]), tf.losses.mean_squared_error(hot, one, weights=2.0),
    tf.losses.absolute_difference(hot, one, reduction=tf.losses.Reduction.SUM), tf.losses.huber_loss(hot, one, delta=0.3),
    tf.losses.hinge_loss(hot, one), tf.losses.log_loss(hot, tf.nn.softmax(one)),
    tf.losses.cosine_distance(tf.nn.l2_normalize(hot, 1), tf.nn.l2_normalize(one, 1), axis=1),
    tf.losses.mean_squared_error(hot, one, weights=[[0.0], [0.0]]),
    tf.losses.compute_weighted_loss(one, hot), tf.reduce_mean(tf.losses.mean_squared_error(hot, one, reduction="none")),
    tf.reduce_sum(tf.nn.weighted_cross_entropy_with_logits(targets=hot, logits=one, pos_weight=3.0)),
    tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=hot, logits=one)), tf.nn.l2_loss(two)]
print(len(tf.losses.get_losses()), len(tf.get_collection(tf.GraphKeys.LOSSES)))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for v in tf.trainable_variables():
        if "kernel" in v.op.name:
            v.load(rng.normal(0, 0.4, v.get_shape().as_list()), sess)
    feed = {x: rng.randn(2, 6, 6, 3)}
    for t in (net, up, one, two, sequence, pooled, normed, scaled):
        value = sess.run(t, feed)
        print("%.5f %.5f" % (value.mean(), np.abs(value).mean()))
    print(" ".join("%.5f" % v for v in sess.run(losses, feed)))
    feed[training] = True
    print(" ".join("%.4f" % v for v in sess.run(normed, feed).ravel()))
    sess.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS), feed)
    mean, variance = [v for v in tf.global_variables() if "moving" in v.op.name]
    print(np.round(mean.eval(), 5).tolist(), np.round(variance.eval(), 5).tolist())
    print(sess.run(dropped, feed).shape)
