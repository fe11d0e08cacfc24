"""Losses and labels of scores over time, with any TensorFlow 1.

TF_USE_LEGACY_KERAS=1 python ctc_values.py > data/ctc.json      records TensorFlow's own, where
`tensorflow.compat.v1` is installed
"""

from __future__ import annotations

from typing import Any

import numpy as np

SCORES = 3 * np.sin(1.3 * np.arange(6 * 3 * 4, dtype=np.float32) ** 1.1).reshape(6, 3, 4)
STEPS = [6, 4, 5]
PLACES, LABELS = [[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [2, 1]], [1, 1, 2, 0, 2, 0]


def values(tf: Any) -> dict[str, Any]:
    """Losses, gradients, decoded labels, their distance from the truth."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(SCORES)
        y = tf.SparseTensor(PLACES, tf.constant(LABELS, tf.int32), [3, 3])
        loss = tf.nn.ctc_loss(y, x, STEPS)
        short = tf.nn.ctc_loss(y, x, [2, 4, 5], ignore_longer_outputs_than_inputs=True)
        greedy, scores = tf.nn.ctc_greedy_decoder(x, STEPS)
        beams, chances = tf.nn.ctc_beam_search_decoder(x, STEPS, 30, 2, merge_repeated=False)
        distance = tf.edit_distance(tf.cast(greedy[0], tf.int32), y)
        made = {
            "loss": loss,
            "gradient": tf.gradients(loss * [1.0, 2.0, 3.0], x)[0],
            "short": short,
            "gradient of short": tf.gradients(short, x)[0],
            "greedy": tf.sparse_tensor_to_dense(greedy[0], -1),
            "scores": scores,
            "first": tf.sparse_tensor_to_dense(beams[0], -1),
            "second": tf.sparse_tensor_to_dense(beams[1], -1),
            "chances": chances,
            "distance": distance,
        }
        return {k: v.tolist() for k, v in session.run(made).items()}


if __name__ == "__main__":
    import json

    import tensorflow.compat.v1 as tensorflow  # type: ignore[import-untyped,import-not-found,unused-ignore]

    tensorflow.disable_v2_behavior()
    print(json.dumps({"tensorflow": tensorflow.__version__, **values(tensorflow)}))
