"""tf.metrics: values and updates over batches, local variables, reset by their initializer."""
import numpy as np
import tensorflow as tf

labels = tf.placeholder(tf.int64, [None])
scores = tf.placeholder(tf.float32, [None, 2])
predicted = tf.argmax(scores, 1)

with tf.name_scope("metrics"):
    accuracy = tf.metrics.accuracy(labels, predicted)
    precision = tf.metrics.precision(labels, predicted)
    recall = tf.metrics.recall(labels=labels, predictions=predicted)
    mean, mean_update = tf.metrics.mean(scores[:, 1])
    auc, auc_update = tf.metrics.auc(labels, scores[:, 1])
    rmse, rmse_update = tf.metrics.root_mean_squared_error(
        tf.cast(labels, tf.float32), scores[:, 1])

names = [v.name for v in tf.local_variables()]
print(len(tf.global_variables()), names)
values = [accuracy[0], precision[0], recall[0], mean, auc, rmse]
updates = [accuracy[1], precision[1], recall[1], mean_update, auc_update, rmse_update]
rng = np.random.RandomState(0)
running = [v for v in tf.get_collection(tf.GraphKeys.LOCAL_VARIABLES) if "accuracy" in v.name]
reset = tf.variables_initializer(var_list=running)
with tf.Session() as sess:
    try:
        sess.run(accuracy[0])
    except tf.errors.FailedPreconditionError as error:
        print(type(error).__name__)
    sess.run(tf.local_variables_initializer())
    print(sess.run(accuracy[0]))
    for _ in range(3):
        p = rng.uniform(size=20)
        feed = {labels: (p + 0.4 * rng.randn(20) > 0.5).astype(int), scores: np.stack([1 - p, p], 1)}
        print(" ".join("%.5f" % x for x in sess.run(updates, feed)))
    print(" ".join("%.5f" % x for x in sess.run(values)))
    sess.run(reset)
    print(" ".join("%.5f" % x for x in sess.run(values)), sess.run(running))
