"""What metrics are after each of two batches, with any TensorFlow 1.

TF_USE_LEGACY_KERAS=1 python metric_values.py > data/metrics.json    records TensorFlow's own, where
`tensorflow.compat.v1` is installed
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

ROWS = 6
SCORES = np.abs(np.sin(1 + 2.3 * np.arange(2 * ROWS))).astype(np.float32).reshape(2, ROWS)
TRUTH = (np.cos(0.9 * np.arange(2 * ROWS)) > 0).astype(np.int64).reshape(2, ROWS)
WEIGHTS = (1 + np.arange(2 * ROWS) % 3).astype(np.float32).reshape(2, ROWS)
LOGITS = np.sin(1.7 * np.arange(2 * ROWS * 4)).astype(np.float32).reshape(2, ROWS, 4)
CLASSES = (np.arange(2 * ROWS) * 5 % 7 % 4).astype(np.int64).reshape(2, ROWS)
SEVERAL = np.stack([CLASSES, (CLASSES + 1 + CLASSES % 2) % 4], -1)  # two labels for each row
Metric = Callable[[Any, Any, Any, Any], Any]


def metrics(tf: Any) -> dict[str, Metric]:
    """Name -> (truth, scores, weights, batch: what of LOGITS, CLASSES, SEVERAL) -> a metric."""
    m = tf.metrics
    made: dict[str, Metric] = {
        "auc": lambda y, x, w, b: m.auc(y, x),
        "auc weighted": lambda y, x, w, b: m.auc(y, x, w, num_thresholds=10),
        "auc of PR": lambda y, x, w, b: m.auc(y, x, curve="PR", num_thresholds=20),
        "auc minoring": lambda y, x, w, b: m.auc(y, x, summation_method="minoring", name="a"),
        "auc careful": lambda y, x, w, b: m.auc(
            y, x, curve="PR", summation_method="careful_interpolation"
        ),
        "sensitivity": lambda y, x, w, b: m.sensitivity_at_specificity(y, x, 0.7),
        "specificity": lambda y, x, w, b: m.specificity_at_sensitivity(y, x, 0.6, w),
        "precision": lambda y, x, w, b: m.precision(y, x > 0.5, w),
        "recall": lambda y, x, w, b: m.recall(y, x > 0.5),
        "rmse": lambda y, x, w, b: m.root_mean_squared_error(tf.cast(y, tf.float32), x, w),
        "relative": lambda y, x, w, b: m.mean_relative_error(tf.cast(y, tf.float32), x, w),
        "cosine": lambda y, x, w, b: m.mean_cosine_distance(tf.cast(y, tf.float32), x, 0),
        "below": lambda y, x, w, b: m.percentage_below(x, 0.5, w),
        "mean_tensor": lambda y, x, w, b: m.mean_tensor(x, w),
        "mean_iou": lambda y, x, w, b: m.mean_iou(b[1], tf.argmax(b[0], 1), 4, w),
        "per class": lambda y, x, w, b: m.mean_per_class_accuracy(b[1], tf.argmax(b[0], 1), 4),
        "precision_at_k": lambda y, x, w, b: m.precision_at_k(b[2], b[0], 2),
        "precision of 1": lambda y, x, w, b: m.precision_at_k(b[2], b[0], 2, class_id=1),
        "recall_at_k": lambda y, x, w, b: m.recall_at_k(b[2], b[0], 2, weights=w),
        "recall of one": lambda y, x, w, b: m.recall_at_k(b[1], b[0], 1),
        "average precision": lambda y, x, w, b: m.average_precision_at_k(b[2], b[0], 3),
    }
    for name in ("precision", "recall", "true_positives", "false_negatives"):
        made[f"{name} at"] = _at(getattr(m, f"{name}_at_thresholds"))
    for name in ("true_negatives", "false_positives"):
        made[name] = _counted(getattr(m, name))
    return made


def _at(metric: Callable[..., Any]) -> Metric:
    return lambda y, x, w, b: metric(y, x, [0.2, 0.5, 0.9])


def _counted(metric: Callable[..., Any]) -> Metric:
    return lambda y, x, w, b: metric(y, x > 0.4, w)


def value(tf: Any, metric: Metric) -> dict[str, Any]:
    """The values, the updates and the variables of a metric."""
    with tf.Graph().as_default(), tf.Session() as session:
        given = TRUTH, SCORES, WEIGHTS, LOGITS, CLASSES, SEVERAL
        y, x, w, *batch = [tf.placeholder(a.dtype, a.shape[1:]) for a in given]
        now, update = metric(y, x, w, batch)
        session.run(tf.local_variables_initializer())
        found = []
        for i in range(2):
            feed = dict(zip([y, x, w, *batch], [a[i] for a in given], strict=True))
            found += [np.asarray(session.run(t, feed)).tolist() for t in (update, now)]
        return {"found": found, "variables": [v.name for v in tf.local_variables()]}


if __name__ == "__main__":
    import json

    import tensorflow.compat.v1 as tensorflow  # type: ignore[import-untyped,import-not-found,unused-ignore]

    tensorflow.disable_v2_behavior()
    made = {k: value(tensorflow, f) for k, f in metrics(tensorflow).items()}
    print(json.dumps({"tensorflow": tensorflow.__version__, **made}))
