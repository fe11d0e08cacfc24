"""Print passes its input on; assertions stop a run where something depends on them."""
import tensorflow as tf

x = tf.placeholder(tf.float32, [None], name="x")
shown = tf.Print(x, [tf.shape(x), x], message="x is: ", summarize=3)
y = shown * 2.0
positive = tf.Assert(tf.reduce_all(x > 0), [x], name="positive")
with tf.control_dependencies([positive]):
    root = tf.sqrt(x)
with tf.control_dependencies([tf.assert_equal(tf.shape(x)[0], 2, message="two, please")]):
    pair = tf.identity(x)
with tf.control_dependencies([tf.assert_positive(x), tf.assert_less(x, 10.0), tf.assert_rank(x, 1)]):
    bounded = tf.reduce_sum(x)
checked = tf.check_numerics(tf.log(x), "log went wrong")

with tf.Session() as sess:
    print(sess.run(y, {x: [1.0, 2.0]}))
    for fetch in (root, pair, bounded, checked):
        for data in ([1.0, 4.0], [-1.0, 2.0], [20.0]):
            try:
                print(sess.run(fetch, {x: data}))
            except tf.errors.InvalidArgumentError as error:
                said = [s for s in ("two, please", "log went wrong", "assertion failed")
                        if s in error.message]
                print(type(error).__name__, said[:1], error.op.type)
    print(sess.run(x - x, {x: [-5.0]}))
with tf.Graph().as_default(), tf.Session() as sess:
    z = tf.placeholder(tf.float32, [2], name="z")
    inverse = tf.reciprocal(z, name="inverse")
    check = tf.add_check_numerics_ops()
    for data in ([1.0, 4.0], [0.0, 1.0]):
        try:
            print(sess.run([inverse, check], {z: data})[0])
        except tf.errors.InvalidArgumentError as error:
            print(type(error).__name__, "inverse:0" in error.message)
for static in (lambda: tf.assert_equal(1, 2), lambda: tf.assert_rank(x, 2)):
    try:
        static()
    except (tf.errors.InvalidArgumentError, ValueError) as error:
        print(type(error).__name__)
