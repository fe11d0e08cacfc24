"""Exponential moving averages of variables and tensors; reading them back under other names."""
import tensorflow as tf

step = tf.Variable(0, trainable=False, name="step")
w = tf.Variable([1.0, 2.0], name="w")
x = tf.placeholder(tf.float32, [])
loss = tf.reduce_sum(w) * x
ema = tf.train.ExponentialMovingAverage(0.9, num_updates=step)
update = tf.assign(w, w * x)
with tf.control_dependencies([update]):
    maintain = ema.apply([w])
batch = tf.train.ExponentialMovingAverage(decay=0.5, name="batch_average")
track = batch.apply([loss])
simple = tf.train.ExponentialMovingAverage(0.75, zero_debias=True)
shadow = simple.apply([loss])

print(ema.average(w).name, ema.average_name(w), batch.average(loss).op.name)
print([v.name for v in tf.global_variables()])
print([v.name for v in tf.moving_average_variables()], [v.name for v in tf.trainable_variables()])
print(sorted(ema.variables_to_restore()))


def averaged(getter, name, *args, **kwargs):
    return ema.average(getter(name, *args, **kwargs))


with tf.variable_scope("", reuse=tf.AUTO_REUSE):
    q = tf.get_variable("q", initializer=2.0)
apply_q = ema.apply([q])
with tf.variable_scope("", reuse=True, custom_getter=averaged):
    slow_q = tf.get_variable("q")
print(q.name, slow_q.name)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(4):
        sess.run(maintain, {x: i + 1.0})
        sess.run([track, shadow], {x: i + 1.0})
        sess.run(step.assign_add(20))
        sess.run(apply_q)
        sess.run(q.assign_add(1.0))
        print(" ".join("%.5f" % v for v in sess.run(
            [ema.average(w)[0], ema.average(w)[1], batch.average(loss), simple.average(loss), slow_q])))
