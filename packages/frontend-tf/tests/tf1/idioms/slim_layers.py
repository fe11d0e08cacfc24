"""slim and contrib.layers: argument scopes, normalizers, regularizers, collections, names."""
import numpy as np
import tensorflow as tf

slim = tf.contrib.slim
rng = np.random.RandomState(4)


def arg_scope(weight_decay=0.1):
    with slim.arg_scope([slim.conv2d, slim.fully_connected], activation_fn=tf.nn.relu,
                        weights_regularizer=slim.l2_regularizer(weight_decay),
                        weights_initializer=tf.truncated_normal_initializer(stddev=0.01)):
        with slim.arg_scope([slim.conv2d], padding="SAME", normalizer_fn=slim.batch_norm) as scope:
            return scope


@slim.add_arg_scope
def shift(x, amount=1.0):
    return x + amount


def net(images, is_training=True, reuse=None):
    with tf.variable_scope("net", "net", [images], reuse=reuse) as scope:
        with slim.arg_scope([slim.batch_norm], is_training=is_training, decay=0.9):
            with slim.arg_scope([slim.conv2d, slim.max_pool2d], outputs_collections=scope.name + "_ends"):
                y = slim.conv2d(images, 4, [3, 3], scope="conv1")
                y = slim.max_pool2d(y, [2, 2], scope="pool1")
                y = slim.repeat(y, 2, slim.conv2d, 3, [1, 1], scope="conv2")
                y = slim.flatten(y)
                y = slim.stack(y, slim.fully_connected, [5, 4], scope="fc")
                y = slim.dropout(y, 0.5, is_training=False, scope="dropout")
                y = slim.fully_connected(y, 2, activation_fn=None, normalizer_fn=None, scope="logits")
    return y, slim.utils.convert_collection_to_dict(scope.name + "_ends")


x = tf.placeholder(tf.float32, [None, 4, 4, 2])
with slim.arg_scope(arg_scope()):
    logits, ends = net(x)
    tested, _ = net(x, is_training=False, reuse=True)
with slim.arg_scope([shift], amount=5.0):
    print(shift(1.0), shift(1.0, amount=2.0))
print([(k, v.get_shape().as_list()) for k, v in ends.items()])
for v in slim.get_model_variables():
    print(v.op.name, v.get_shape().as_list())
print([v.op.name for v in slim.get_variables_by_suffix("weights")][:3], len(tf.trainable_variables()))
slim.losses.softmax_cross_entropy(logits, slim.one_hot_encoding([1, 0], 2))
total = tf.losses.get_total_loss()
train = slim.learning.create_train_op(total, tf.train.GradientDescentOptimizer(0.1))
other = tf.contrib.layers.fully_connected(
    tf.contrib.layers.flatten(x), 3, tf.tanh, biases_initializer=tf.constant_initializer(0.5),
    weights_initializer=tf.contrib.layers.xavier_initializer(seed=1))
normed = tf.contrib.layers.layer_norm(tf.contrib.layers.conv2d_transpose(x, 2, 3, stride=2))
print(other.name, normed.get_shape(), [v.op.name for v in tf.global_variables()][-8:])

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for v in slim.get_variables_by_suffix("weights"):
        v.load(rng.normal(0, 0.5, v.get_shape().as_list()), sess)
    images = rng.randn(2, 4, 4, 2)
    for _ in range(4):
        print("%.5f" % sess.run(train, {x: images}), np.round(sess.run(tested, {x: images}), 4).tolist())
    print(np.round(sess.run(slim.get_variables_by_name("moving_variance")[0]), 5).tolist(),
          sess.run(tf.train.get_global_step()))
    print(np.round(sess.run(other, {x: images}), 4).tolist(), "%.4f" % np.abs(sess.run(normed, {x: images})).mean())
