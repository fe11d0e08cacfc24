"""Two layers whose weights get their shapes from the data."""

import sys

import byparts_tinyflow as tf
from byparts_tinyflow.datasets import get_mnist

EPOCHS = int(sys.argv[1]) if len(sys.argv) > 1 else 10

x = tf.placeholder(tf.float32)
fc1 = tf.nn.linear(x, num_hidden=100, name="fc1", no_bias=False)
relu1 = tf.nn.relu(fc1)
fc2 = tf.nn.linear(relu1, num_hidden=10, name="fc2")

label = tf.placeholder(tf.float32)
cross_entropy = tf.nn.mean_sparse_softmax_cross_entropy_with_logits(fc2, label)
train_step = tf.train.GradientDescentOptimizer(0.5).minimize(cross_entropy)

sess = tf.Session(config="gpu")

known_shape = {x: [100, 784], label: [100]}
stdev = 0.01
init_step = []
for v, name, shape in tf.infer_variable_shapes(cross_entropy, feed_dict=known_shape):
    init_step.append(tf.assign(v, tf.normal(shape, stdev)))
    print("shape[%s]=%s" % (name, str(shape)))
sess.run(init_step)

mnist = get_mnist(flatten=True, onehot=False)
num_batch = len(mnist.train.images) // 100
for epoch in range(EPOCHS):
    sum_loss = 0.0
    for _ in range(num_batch):
        batch_xs, batch_ys = mnist.train.next_batch(100)
        loss, _ = sess.run([cross_entropy, train_step], feed_dict={x: batch_xs, label: batch_ys})
        sum_loss += loss
    print("epoch[%d] cross_entropy=%g" % (epoch, sum_loss / num_batch))

correct_prediction = tf.equal(tf.argmax(fc2, 1), label)
accuracy = tf.reduce_mean(correct_prediction)
print(sess.run(accuracy, feed_dict={x: mnist.test.images, label: mnist.test.labels}))
