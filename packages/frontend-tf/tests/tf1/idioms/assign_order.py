"""Control dependencies order reads after writes; everything else sees the start of the run."""
import tensorflow as tf

v = tf.Variable(1.0, name="v")
w = tf.Variable(10.0, name="w")
count = tf.Variable(0, trainable=False)

add = tf.assign_add(v, 1.0)
with tf.control_dependencies([add]):
    after = v.read_value()
    doubled = tf.identity(v) * 2.0
    set_w = tf.assign(w, v * 100.0)
with tf.control_dependencies([set_w]):
    both = tf.group(tf.assign_add(count, 1), name="both")
    outside = tf.constant(5.0)
chained = tf.assign(v, 3.0) + 1.0
swap_v, swap_w = tf.tuple([v + 0.0, w + 0.0])
with tf.control_dependencies([swap_v, swap_w]):
    swap = tf.group(v.assign(swap_w), w.assign(swap_v))
no_op = tf.no_op(name="nothing")
with tf.control_dependencies([add]):
    with tf.control_dependencies(None):
        free = tf.identity(w)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([after, doubled]), v.eval())
    print(sess.run(set_w), v.eval(), w.eval(), count.eval())
    sess.run(both)
    print(v.eval(), w.eval(), count.eval())
    print(sess.run(outside), v.eval())
    print(sess.run(chained), v.eval())
    sess.run(swap)
    print(v.eval(), w.eval())
    sess.run(free)
    print(v.eval(), sess.run(no_op))
    for _ in range(2):
        sess.run(v.assign(v * 2.0))
    print(v.eval(), sess.run(tf.assign_sub(v, 0.5)))
    sess.run(count.initializer)
    print(count.eval(), sess.run(count.count_up_to(2)), count.eval())
    try:
        sess.run([count.count_up_to(2)])
        sess.run([count.count_up_to(2)])
    except tf.errors.OutOfRangeError:
        print("counted")
