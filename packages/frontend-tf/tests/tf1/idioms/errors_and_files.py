"""Errors that programs catch, gfile, flags, logging and compat."""
import os
import sys
import tempfile

import tensorflow as tf

sys.argv = ["program", "--rate=0.5", "--noverbose", "--names=a,b", "left"]
tf.app.flags.DEFINE_float("rate", 0.1, "a rate")
tf.app.flags.DEFINE_boolean("verbose", True, "talk")
tf.app.flags.DEFINE_list("names", [], "names")
tf.app.flags.DEFINE_integer("count", 3, "how many")
tf.app.flags.DEFINE_enum("mode", "train", ["train", "test"], "what to do")
tf.flags.DEFINE_string("where", None, "a place")
FLAGS = tf.app.flags.FLAGS

folder = tempfile.mkdtemp()
name = os.path.join(folder, "a", "b", "file.txt")


def attempt(label, call):
    try:
        print(label, call())
    except Exception as error:
        kinds = [k.__name__ for k in type(error).__mro__ if k.__module__.startswith("tensorflow")
                 or "byparts" in k.__module__ or k in (ValueError, RuntimeError, KeyError, TypeError)]
        print(label, kinds[:2])


def main(argv):
    print(argv[1:], FLAGS.rate, FLAGS.verbose, FLAGS.names, FLAGS.count, FLAGS.mode, FLAGS.where)
    FLAGS.count = 9
    print(FLAGS.count, sorted(k for k in ("rate", "where", "none") if k in FLAGS))
    tf.gfile.MakeDirs(os.path.dirname(name))
    with tf.gfile.Open(name, "w") as f:
        f.write("one\ntwo\n")
    with tf.gfile.GFile(name) as f:
        print(f.readline().strip(), f.read().strip(), tf.gfile.Exists(name), tf.gfile.IsDirectory(folder))
    print(tf.gfile.ListDirectory(folder), [os.path.basename(p) for p in tf.gfile.Glob(name[:-4] + "*")])
    tf.gfile.Copy(name, name + "2")
    tf.gfile.Remove(name)
    print(sorted(os.listdir(os.path.dirname(name))), [os.path.basename(d) for d, _, _ in tf.gfile.Walk(folder)][1:])
    attempt("no file", lambda: tf.gfile.GFile(name).read())
    tf.gfile.DeleteRecursively(os.path.join(folder, "a"))
    print(os.listdir(folder), tf.compat.as_str(b"bytes"), tf.compat.as_bytes("text"), tf.compat.as_text(b"t"))
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.logging.info("not shown")
    x = tf.placeholder(tf.int32, [None], name="x")
    v = tf.Variable(tf.zeros([2]), name="v")
    sess = tf.Session()
    attempt("no feed", lambda: sess.run(x + 1))
    attempt("not initialized", lambda: sess.run(v))
    attempt("index", lambda: sess.run(tf.gather(tf.constant([1, 2]), x), {x: [5]}))
    attempt("reshape", lambda: sess.run(tf.reshape(x, [2, 2]), {x: [1, 2, 3]}))
    attempt("matmul", lambda: sess.run(tf.matmul(tf.ones([2, 2]), tf.reshape(tf.to_float(x), [-1, 1])), {x: [1]}))
    attempt("add", lambda: sess.run(tf.zeros([2]) + tf.to_float(x), {x: [1, 2, 3]}))
    attempt("number", lambda: sess.run(tf.string_to_number("text")))
    attempt("key", lambda: tf.get_default_graph().get_operation_by_name("none"))
    attempt("graph", lambda: tf.get_default_graph().as_graph_element("none:0"))
    attempt("dtype", lambda: tf.zeros([1]) + x)
    attempt("singular", lambda: sess.run(tf.matrix_inverse(tf.zeros([2, 2]))))
    attempt("assign", lambda: tf.assign(v, [1.0, 2.0, 3.0]))
    try:
        sess.run(v + 1.0)
    except tf.errors.OpError as error:
        print(error.error_code == tf.errors.FAILED_PRECONDITION, error.op.name, "v" in error.message)
    print(issubclass(tf.errors.OutOfRangeError, tf.errors.OpError), tf.__version__.split(".")[0])
    return 3


if __name__ == "__main__":
    try:
        tf.app.run()
    except SystemExit as error:
        print("exit", error.code)
