"""What optimizers, schedules, clipping and moving averages compute, with any TensorFlow 1.

python training_values.py > data/training.json       records TensorFlow's own numbers, where
`tensorflow.compat.v1` is installed
"""

from __future__ import annotations

from typing import Any

import numpy as np

OPTIMIZERS: dict[str, tuple[str, dict[str, Any]]] = {
    "adagrad": ("AdagradOptimizer", {"learning_rate": 0.1}),
    "adadelta": ("AdadeltaOptimizer", {"learning_rate": 0.5, "epsilon": 1e-4}),
    "rmsprop": ("RMSPropOptimizer", {"learning_rate": 0.1, "momentum": 0.8}),
    "centered": ("RMSPropOptimizer", {"learning_rate": 0.1, "momentum": 0.8, "centered": True}),
    "ftrl": (
        "FtrlOptimizer",
        {
            "learning_rate": 0.3,
            "l1_regularization_strength": 0.2,
            "l2_regularization_strength": 0.1,
        },
    ),
    "shrinking ftrl": (
        "FtrlOptimizer",
        {
            "learning_rate": 0.3,
            "learning_rate_power": -0.7,
            "l2_shrinkage_regularization_strength": 0.2,
        },
    ),
    "proximal": (
        "ProximalGradientDescentOptimizer",
        {
            "learning_rate": 0.1,
            "l1_regularization_strength": 0.5,
            "l2_regularization_strength": 0.3,
        },
    ),
    "proximal adagrad": (
        "ProximalAdagradOptimizer",
        {
            "learning_rate": 0.1,
            "l1_regularization_strength": 0.5,
            "l2_regularization_strength": 0.3,
        },
    ),
    "descent": ("GradientDescentOptimizer", {"learning_rate": 0.1}),
    "momentum": ("MomentumOptimizer", {"learning_rate": 0.1, "momentum": 0.9}),
    "nesterov": (
        "MomentumOptimizer",
        {"learning_rate": 0.1, "momentum": 0.9, "use_nesterov": True},
    ),
    "adam": ("AdamOptimizer", {"learning_rate": 0.1}),
}
X = np.array([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]], np.float32)
ROWS = np.array([2, 0, 2], np.int32)


def values(tf: Any) -> dict[str, Any]:
    """Name -> numbers or names."""
    made: dict[str, Any] = {}
    for name, (kind, arguments) in OPTIMIZERS.items():
        made[name] = trained(tf, getattr(tf.train, kind)(**arguments))
    made["rates"] = rates(tf)
    made["clipped"] = clipped(tf)
    made["averages"] = averages(tf)
    return made


def trained(tf: Any, optimizer: Any) -> dict[str, Any]:
    """Of a dense and a sparse gradient: the variables and slots after four steps."""
    with tf.Graph().as_default():
        w = tf.get_variable("w", [3], initializer=tf.constant_initializer([0.1, -0.2, 0.3]))
        table = tf.get_variable(
            "table", [4, 3], initializer=tf.constant_initializer(np.arange(12.0) / 10)
        )
        rows = tf.nn.embedding_lookup(table, ROWS)
        loss = tf.reduce_mean(tf.square(tf.reduce_sum(X * w, 1) - 1.0)) + tf.reduce_sum(
            rows * rows * [[1.0, -0.5, 2.0]]
        )
        step = tf.train.get_or_create_global_step()
        train = optimizer.minimize(loss, global_step=step)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            losses = [float(session.run([loss, train])[0]) for _ in range(4)]
            variables = tf.global_variables()
            numbers = [np.asarray(v).tolist() for v in session.run(variables)]
    return {
        "losses": losses,
        "variables": dict(zip([v.name for v in variables], numbers, strict=True)),
    }


def rates(tf: Any) -> dict[str, Any]:
    """Each schedule at some steps."""
    made: dict[str, Any] = {}
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.placeholder(tf.int64, [])
        t = tf.train
        schedules = {
            "exponential": t.exponential_decay(0.5, step, 10, 0.9),
            "stairs": t.exponential_decay(0.5, step, 10, 0.9, staircase=True),
            "natural": t.natural_exp_decay(0.5, step, 10, 0.9),
            "inverse": t.inverse_time_decay(0.5, step, 10, 0.9, staircase=True),
            "polynomial": t.polynomial_decay(0.5, step, 20, 0.1, power=2.0),
            "cycle": t.polynomial_decay(0.5, step, 20, 0.1, cycle=True),
            "cosine": t.cosine_decay(0.5, step, 20, 0.1),
            "linear cosine": t.linear_cosine_decay(0.5, step, 20),
            "restarts": t.cosine_decay_restarts(0.5, step, 8, m_mul=0.9),
            "piecewise": t.piecewise_constant(step, [5, 20], [1.0, 0.5, 0.25]),
        }
        for name, rate in schedules.items():
            made[name] = [float(session.run(rate, {step: n})) for n in (0, 3, 5, 10, 20, 21, 45)]
    return made


def clipped(tf: Any) -> dict[str, Any]:
    """Tensors that are clipped, and gradients through that."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(X)
        many, norm = tf.clip_by_global_norm([x, None, 2 * x], 1.5)
        of = {
            "value": tf.clip_by_value(x, -1.0, 0.75),
            "norm": tf.clip_by_norm(x, 2.0),
            "norms of rows": tf.clip_by_norm(x, 2.0, axes=[1]),
            "zero": tf.clip_by_norm(0 * x, 2.0),
            "average norm": tf.clip_by_average_norm(x, 0.1),
            "global norm": tf.global_norm([x, x]),
            "many": many[2],
            "their norm": norm,
            "infinite": tf.clip_by_global_norm([x / 0.0], 1.5)[0][0],
            "gradient of norm": tf.gradients(tf.clip_by_norm(x, 2.0) * [1.0, 2.0, 3.0], x)[0],
        }
        return {name: np.asarray(session.run(t)).tolist() for name, t in of.items()}


def averages(tf: Any) -> dict[str, Any]:
    """Moving averages of a variable and of a tensor, and names in a checkpoint."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", [2], initializer=tf.constant_initializer([1.0, 2.0]))
        x = tf.placeholder(tf.float32, [2])
        t = tf.multiply(x, 3.0, name="t")
        average = tf.train.ExponentialMovingAverage(0.9, num_updates=3, zero_debias=True)
        grow = v.assign_add([1.0, 1.0])
        with tf.control_dependencies([grow]):
            update = average.apply([v, t])
        session.run(tf.global_variables_initializer())
        for i in range(3):
            session.run(update, {x: [i + 1.0, i + 2.0]})
        numbers = session.run([average.average(v), average.average(t)])
        restored = {k: x.op.name for k, x in average.variables_to_restore([v]).items()}
        return {
            "numbers": [n.tolist() for n in numbers],
            "names": sorted(x.name for x in tf.global_variables()),
            "restored": restored,
            "averaged": [x.name for x in tf.moving_average_variables()],
        }


if __name__ == "__main__":
    import json

    import tensorflow.compat.v1 as tensorflow  # type: ignore[import-untyped,import-not-found,unused-ignore]

    tensorflow.disable_v2_behavior()
    print(json.dumps({"tensorflow": tensorflow.__version__, **values(tensorflow)}, indent=1))
