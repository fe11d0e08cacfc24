"""InteractiveSession: eval and run without naming a session; graphs and sessions as stacks."""
import tensorflow as tf

sess = tf.InteractiveSession(config=tf.ConfigProto(allow_soft_placement=True))
a = tf.Variable([1.0, 2.0], name="a")
x = tf.placeholder(tf.float32, name="x")
tf.initialize_all_variables().run()
y = tf.reduce_sum(a * x)
print(a.eval(), y.eval({x: 3.0}), y.eval(feed_dict={x: [1.0, 0.0]}), sess.run(y, {x: 1.0}))
a.assign([5.0, 5.0]).eval()
a.initializer.run()
tf.assign_add(a, [1.0, 1.0]).op.run()
print(a.eval().tolist(), a.initialized_value().eval().tolist(), tf.is_variable_initialized(a).eval())
print(tf.get_default_session() is sess, tf.get_default_graph() is sess.graph)
for i in range(2):
    print((y + float(i)).eval({x: 2.0}))
second = tf.Graph()
with second.as_default():
    b = tf.Variable(7)
    print(b.graph is second, tf.get_default_graph() is second)
    with tf.Session() as inner:
        try:
            b.eval()
        except tf.errors.FailedPreconditionError as error:
            print(type(error).__name__, "Variable" in error.message)
        inner.run(b.initializer)
        print(b.eval(), tf.get_default_session() is inner)
    try:
        a + tf.cast(b, tf.float32)
    except ValueError as error:
        print(type(error).__name__)
with sess.as_default():
    print(a.eval().sum())
sess.close()
try:
    sess.run(a)
except RuntimeError as error:
    print(type(error).__name__)
tf.reset_default_graph()
print(len(tf.get_default_graph().get_operations()), tf.global_variables())
with tf.Session(graph=second) as third:
    third.run(b.initializer)
    print(third.run(b), third.graph is second, [op.name for op in second.get_operations()])
second.finalize()
try:
    with second.as_default():
        tf.constant(1)
except RuntimeError as error:
    print(type(error).__name__)
