"""What recurrent networks compute, and the names of their variables, with any TensorFlow 1.

TF_USE_LEGACY_KERAS=1 python rnn_values.py > data/rnn.json       records TensorFlow's own, where
`tensorflow.compat.v1` and tf_keras are installed
"""

from __future__ import annotations

from typing import Any

import numpy as np

CELLS: dict[str, Any] = {
    "lstm": lambda c: c.BasicLSTMCell(4),
    "lstm in one": lambda c: c.LSTMCell(4, state_is_tuple=False, forget_bias=0.5),
    "gru": lambda c: c.GRUCell(4),
    "rnn": lambda c: c.BasicRNNCell(4),
    "peepholes": lambda c: c.LSTMCell(4, use_peepholes=True, num_proj=2, cell_clip=0.5),
    "two": lambda c: c.MultiRNNCell([c.BasicLSTMCell(4), c.GRUCell(3)]),
    "residual": lambda c: c.ResidualWrapper(c.GRUCell(3)),
    "dropout": lambda c: c.DropoutWrapper(c.GRUCell(3), output_keep_prob=1.0),
}


def values(tf: Any, name: str) -> dict[str, Any]:
    """Sums of what each kind of network gives, its gradient, and names."""
    with tf.Graph().as_default(), tf.Session() as session:
        x, lengths = tf.placeholder(tf.float32, [2, 5, 3]), tf.constant([5, 3])

        def weights(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            size = int(np.prod(shape))
            return tf.constant(0.3 * np.sin(np.arange(size)).reshape(shape).astype(np.float32))

        def cell() -> Any:
            return CELLS[name](tf.nn.rnn_cell)

        with tf.variable_scope("net", initializer=weights):
            dynamic = tf.nn.dynamic_rnn(cell(), x, sequence_length=lengths, dtype=tf.float32)
            steps = tf.unstack(x, axis=1)
            static = tf.nn.static_rnn(cell(), steps, dtype=tf.float32, scope="static")
            both = tf.nn.bidirectional_dynamic_rnn(
                cell(), cell(), x, sequence_length=lengths, dtype=tf.float32
            )
            loss = tf.reduce_sum(dynamic[0] ** 2) + tf.reduce_sum(both[0][0] * both[0][1])
            gradient = tf.gradients(loss + tf.reduce_sum(static[0][-1]), x)[0]
        session.run(tf.global_variables_initializer())
        feed = {x: np.cos(np.arange(30)).reshape(2, 5, 3)}
        found = session.run([dynamic, static, both, gradient], feed)
        return {
            "sums": [float(np.abs(a).sum()) for a in arrays(found)],
            "names": [v.name for v in tf.global_variables()],
        }


def arrays(structure: Any) -> list[Any]:
    """The arrays of a structure, in order."""
    if isinstance(structure, (list, tuple)):
        return [a for part in structure for a in arrays(part)]
    return [structure]


if __name__ == "__main__":
    import json

    import tensorflow.compat.v1 as tensorflow  # type: ignore[import-untyped,import-not-found,unused-ignore]

    tensorflow.disable_v2_behavior()
    found = {name: values(tensorflow, name) for name in CELLS}
    print(json.dumps({"tensorflow": tensorflow.__version__, **found}, indent=1))
