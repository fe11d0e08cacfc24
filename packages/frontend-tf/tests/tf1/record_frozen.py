"""Records frozen graphs of TensorFlow, with what it computes: run by hand where it is installed.

    python packages/frontend-tf/tests/tf1/record_frozen.py packages/frontend-tf/tests/recorded/frozen

Each function builds a graph and says what is fed and fetched; its variables become constants.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

Built = tuple[dict[str, Any], list[str]]  # what is fed, and what is fetched, by names


def images(tf: Any) -> Built:
    """A convolutional network with batch normalization behind a placeholder, and pools."""
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    training = tf.placeholder(tf.bool, [], name="training")
    w = tf.get_variable("w", [3, 3, 3, 4])
    scale, offset = tf.get_variable("scale", [4]), tf.get_variable("offset", [4])
    h = tf.nn.bias_add(tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME"), tf.get_variable("b", [4]))
    mean, variance = tf.constant([0.1, 0.2, 0.3, 0.4]), tf.constant([1.0, 2.0, 3.0, 4.0])

    def trained() -> Any:
        return tf.nn.fused_batch_norm(h, scale, offset, epsilon=1e-3)[0]

    def applied() -> Any:
        return tf.nn.fused_batch_norm(
            h, scale, offset, mean, variance, epsilon=1e-3, is_training=False
        )[0]

    h = tf.nn.relu(tf.cond(training, trained, applied))
    h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "VALID") + tf.pad(
        tf.nn.avg_pool(h, [1, 3, 3, 1], [1, 3, 3, 1], "VALID"), [[0, 0], [0, 1], [1, 0], [0, 0]]
    )
    h = tf.nn.conv2d_transpose(h, tf.get_variable("up", [2, 2, 5, 4]), [2, 4, 4, 5], [1, 2, 2, 1])
    flat = tf.reshape(h, [tf.shape(h)[0], -1])
    tf.nn.softmax(tf.matmul(flat, tf.get_variable("out", [80, 3])), name="y")
    feed = np.random.default_rng(0).normal(size=(2, 8, 8, 3)).astype("float32")
    return {"x:0": feed, "training:0": False}, ["y:0"]


def sequences(tf: Any) -> Built:
    """An LSTM over sequences of several lengths, by `tf.while_loop` and TensorArrays."""
    x = tf.placeholder(tf.float32, [None, 5, 3], name="x")
    lengths = tf.placeholder(tf.int32, [None], name="lengths")
    w, b = tf.get_variable("w", [7, 16]), tf.get_variable("b", [16])
    time = tf.transpose(x, [1, 0, 2])
    rows = tf.TensorArray(tf.float32, tf.shape(time)[0]).unstack(time)
    outputs = tf.TensorArray(tf.float32, tf.shape(time)[0])
    zero = tf.zeros(tf.stack([tf.shape(x)[0], 4]))

    def step(t: Any, outputs: Any, c: Any, h: Any) -> Any:
        gates = tf.matmul(tf.concat([rows.read(t), h], 1), w) + b
        i, j, f, o = tf.split(gates, 4, 1)
        new_c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        new_h = tf.tanh(new_c) * tf.sigmoid(o)
        alive = tf.less(t, lengths)
        h = tf.where(alive, new_h, h)
        shown = tf.cond(tf.reduce_any(alive), lambda: h * 2.0, lambda: tf.zeros_like(h))
        return t + 1, outputs.write(t, shown), tf.where(alive, new_c, c), h

    loop = tf.while_loop(lambda t, *_: t < 5, step, (0, outputs, zero, zero))
    tf.transpose(loop[1].stack(), [1, 0, 2], name="y")
    tf.identity(loop[3], name="h")
    feed = np.random.default_rng(1).normal(size=(3, 5, 3)).astype("float32")
    return {"x:0": feed, "lengths:0": np.array([5, 2, 0], "int32")}, ["y:0", "h:0"]


def arrays(tf: Any) -> Built:
    """Slices, gathers, reductions, and other operations on arrays."""
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    table = tf.get_variable("table", [6, 3])
    best = tf.argmax(x, 1, output_type=tf.int32)
    parts = [
        tf.reduce_sum(x[:, 1:-1] * x[..., :2], axis=1),
        tf.reduce_max(tf.expand_dims(x, 1), axis=[1, 2]),
        tf.reduce_mean(tf.gather(table, best), axis=-1),
        tf.cast(tf.shape(x)[0], tf.float32) * tf.reduce_prod(x[:, tf.newaxis, 0], 1),
        tf.reduce_sum(tf.one_hot(best, 4, 2.0, -1.0) * tf.reverse(x, [1]), 1),
        tf.reduce_sum(tf.cumsum(x, 1, exclusive=True), 1),
        tf.reduce_sum(tf.tile(tf.squeeze(tf.expand_dims(x, 0), [0]), [1, 2]), 1),
        tf.nn.top_k(x, 2)[0][:, 1],
        tf.norm(tf.pad(x, [[0, 0], [1, 1]], constant_values=0.5), axis=1),
        tf.reduce_sum(tf.stack(tf.unstack(x, axis=1)[::-1], 1)[:, ::2], 1),
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=best, logits=x),
        tf.clip_by_value(x, -0.5, 0.5)[:, 2] ** 2.0 % 3.0,
    ]
    tf.stack(parts, 1, name="y")
    feed = np.random.default_rng(2).normal(size=(5, 4)).astype("float32")
    return {"x:0": feed}, ["y:0"]


def training(tf: Any) -> Built:
    """A network with its gradients and three optimizers; what is fetched are losses of steps."""
    random = np.random.default_rng(3)

    def variable(name: str, *shape: int) -> Any:
        return tf.Variable(random.normal(size=shape, scale=0.3).astype("float32"), name=name)

    x = tf.placeholder(tf.float32, [None, 6, 6, 2], name="x")
    labels = tf.placeholder(tf.int32, [None], name="labels")
    h = tf.nn.conv2d(x, variable("w", 3, 3, 2, 3), [1, 1, 1, 1], "SAME")
    h = tf.nn.relu(tf.nn.bias_add(h, variable("b", 3)))
    h = tf.nn.fused_batch_norm(h, variable("scale", 3), variable("offset", 3))[0]
    h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    h = tf.nn.avg_pool(h, [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
    h = tf.sigmoid(tf.matmul(tf.reshape(h, [-1, 12]), variable("dense", 12, 4))) * 2.0
    h = h + tf.nn.embedding_lookup(variable("table", 3, 4), labels)
    logits = tf.matmul(tf.tanh(h[:, 1:]), variable("out", 3, 3))
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses, name="loss")
    tf.train.GradientDescentOptimizer(0.5).minimize(loss, name="descent")
    tf.train.MomentumOptimizer(0.2, 0.9).minimize(loss, name="momentum")
    tf.train.AdamOptimizer(0.1).minimize(loss, name="adam")
    tf.global_variables_initializer()
    feed = random.normal(size=(3, 6, 6, 2)).astype("float32")
    return {"x:0": feed, "labels:0": np.array([0, 2, 0], "int32")}, []


def record_training(tf: Any, folder: Path) -> None:
    """Write the graph of `training`, and the losses of three steps by each optimizer."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        feeds, _ = training(tf)
        found = {}
        for optimizer in ("descent", "momentum", "adam"):
            session.run("init")
            found[optimizer] = [session.run(["loss:0", optimizer], feeds)[0] for _ in range(4)]
        message = graph.as_graph_def(add_shapes=True)
    (folder / "training.pb").write_bytes(message.SerializeToString())
    arrays: dict[str, Any] = {f"feed {k}": v for k, v in feeds.items()} | found
    np.savez(folder / "training.npz", **arrays)


GRAPHS: dict[str, Callable[[Any], Built]] = {
    "images": images,
    "sequences": sequences,
    "arrays": arrays,
}


def record(folder: Path) -> None:
    """Write a `.pb` and a `.npz` for each graph."""
    tf: Any = import_module("tensorflow.compat.v1")
    tf.disable_v2_behavior()
    folder.mkdir(parents=True, exist_ok=True)
    record_training(tf, folder)
    for name, build in GRAPHS.items():
        with tf.Graph().as_default() as graph, tf.Session() as session:
            tf.set_random_seed(1)
            feeds, fetches = build(tf)
            session.run(tf.global_variables_initializer())
            results = session.run(fetches, feeds)
            names = [f.partition(":")[0] for f in fetches]
            frozen = tf.graph_util.convert_variables_to_constants(
                session, graph.as_graph_def(), names
            )
        (folder / f"{name}.pb").write_bytes(frozen.SerializeToString())
        given = {f"feed {k}": v for k, v in feeds.items()}
        np.savez(folder / f"{name}.npz", **given, **dict(zip(fetches, results, strict=True)))


if __name__ == "__main__":
    record(Path(sys.argv[1]))
