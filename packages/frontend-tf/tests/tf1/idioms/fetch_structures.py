"""Fetches of every shape: nested lists, tuples, dicts, named tuples, names, operations."""
import collections

import numpy as np
import tensorflow as tf

Pair = collections.namedtuple("Pair", ["left", "right"])

a = tf.constant(1.5, name="a")
b = tf.Variable([2, 3], name="b")
s = tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[1.0, 2.0], dense_shape=[3, 4])
r = tf.random_uniform([3])
step = b.assign_add([1, 1]).op

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    value = sess.run(a)
    print(type(value).__name__, type(sess.run(b)).__name__, sess.run(tf.constant("text")))
    print(sess.run([]), sess.run({}), sess.run([step]), sess.run(step))
    out = sess.run({"one": a, "list": [b, (a, "a:0")], "pair": Pair(left=a, right=[b])})
    print(sorted(out), out["list"][0].tolist(), out["list"][1], out["pair"].left)
    print(type(out["pair"]).__name__, type(out["list"][1]).__name__, out["pair"].right[0].tolist())
    ordered = sess.run(collections.OrderedDict([("z", a), ("y", b)]))
    print(type(ordered).__name__, list(ordered))
    sparse = sess.run(s)
    print(type(sparse).__name__, sparse.indices.tolist(), sparse.values.tolist(),
          sparse.dense_shape.tolist())
    first, second, third = sess.run([r, r, tf.identity(r)])
    print(np.array_equal(first, second), np.array_equal(first, third))
    print(sess.run("b:0").tolist(), sess.run(["init"] if False else ["a"]))
    for wrong in (None, 1, "missing", [a, None]):
        try:
            sess.run(wrong)
        except (TypeError, ValueError) as error:
            print(wrong if not isinstance(wrong, list) else "list", type(error).__name__)
    other = tf.Graph()
    with other.as_default():
        foreign = tf.constant(1)
    try:
        sess.run(foreign)
    except ValueError as error:
        print("foreign", type(error).__name__)
run = tf.Session().make_callable(a * 2.0)
print(run())
