"""A small residual network on CIFAR-10."""

import sys

import byparts_tinyflow as tf
from byparts_tinyflow.datasets import get_cifar10

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 500
BATCH = int(sys.argv[2]) if len(sys.argv) > 2 else 100


def conv_factory(x, filter_size, in_filters, out_filters):
    x = tf.nn.conv2d(
        x, num_filter=out_filters, ksize=[1, filter_size, filter_size, 1], padding="SAME"
    )
    return tf.nn.batch_normalization(x)


def residual_factory(x, in_filters, out_filters):
    if in_filters == out_filters:
        orig_x = x
        conv1 = tf.nn.relu(conv_factory(x, 3, in_filters, out_filters))
        conv2 = conv_factory(conv1, 3, out_filters, out_filters)
        return tf.nn.relu(orig_x + conv2)
    conv1 = tf.nn.relu(conv_factory(x, 3, in_filters, out_filters))
    conv2 = conv_factory(conv1, 3, out_filters, out_filters)
    project_x = conv_factory(x, 1, in_filters, out_filters)
    return tf.nn.relu(project_x + conv2)


def resnet(x):
    conv = tf.nn.conv2d(x, num_filter=16, ksize=[1, 5, 5, 1], padding="SAME")
    res = residual_factory(conv, 16, 16)
    res = residual_factory(res, 16, 32)
    res = residual_factory(res, 32, 64)
    pool1 = tf.nn.avg_pool(
        res, ksize=[1, 4, 4, 1], strides=[1, 2, 2, 1], padding="SAME", data_format="NCHW"
    )
    conv1 = tf.nn.conv2d(pool1, num_filter=16, ksize=[1, 5, 5, 1])
    flatten = tf.nn.flatten_layer(tf.nn.relu(conv1))
    return tf.nn.linear(flatten, num_hidden=10, name="fc1")


x = tf.placeholder(tf.float32)
label = tf.placeholder(tf.float32)
fc1 = resnet(x)
cross_entropy = tf.nn.mean_sparse_softmax_cross_entropy_with_logits(fc1, label)
train_step = tf.train.AdamOptimizer(0.0005).minimize(cross_entropy)

sess = tf.Session(config="gpu")

known_shape = {x: [BATCH, 3, 32, 32], label: [BATCH]}
stdev = 0.01
init_step = []
for v, name, shape in tf.infer_variable_shapes(cross_entropy, feed_dict=known_shape):
    init_step.append(tf.assign(v, tf.normal(shape, stdev)))
    print("shape[%s]=%s" % (name, str(shape)))
sess.run(init_step)
sess.run(tf.initialize_all_variables())

correct_prediction = tf.equal(tf.argmax(fc1, 1), label)
accuracy = tf.reduce_mean(correct_prediction)

cifar = get_cifar10()
for step in range(STEPS):
    batch_xs, batch_ys = cifar.train.next_batch(BATCH)
    loss, _ = sess.run([cross_entropy, train_step], feed_dict={x: batch_xs, label: batch_ys})
    if step % 10 == 0:
        print("step[%d] cross_entropy=%g" % (step, loss))

images, labels = cifar.test.images[:100], cifar.test.labels[:100]
print(sess.run(accuracy, feed_dict={x: images, label: labels}))
