"""What distributions say, with any TensorFlow 1.

TF_USE_LEGACY_KERAS=1 python distribution_values.py > data/distributions.json     records TensorFlow's
own, where `tensorflow.compat.v1` is installed
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

SAID = ("mean", "stddev", "variance", "mode", "entropy")
Pair = tuple[Any, Any, Any]  # a distribution, another one, values
A, B = np.array([[0.5], [2.0]], np.float32), np.array([1.5, 2.5, 3.0], np.float32)
SCORES = np.sin(np.arange(12, dtype=np.float32)).reshape(3, 4)
MIX = np.array([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]], np.float32)


def pairs(tf: Any) -> dict[str, Callable[[], Pair]]:
    """Name -> two distributions of a kind, and values for the first."""
    d = tf.distributions
    return {
        "Normal": lambda: (d.Normal(A, B), d.Normal(1.0, 2.0), [[0.3], [-1.0]]),
        "Laplace": lambda: (d.Laplace(A, B), None, [[0.3], [-1.0]]),
        "Uniform": lambda: (d.Uniform(A, B + 2), d.Uniform(0.0, 9.0), [[0.9], [3.0]]),
        "Gamma": lambda: (d.Gamma(A + 1.5, B), d.Gamma(2.0, 0.5), [[0.3], [4.0]]),
        "Beta": lambda: (d.Beta(A + 1.0, B), d.Beta(2.0, 0.5), [[0.3], [0.9]]),
        "Exponential": lambda: (d.Exponential(B), d.Exponential(0.5), [[0.3], [4.0]]),
        "StudentT": lambda: (d.StudentT(A + 1.0, B, 2.0), None, [[0.3], [4.0]]),
        "Bernoulli": lambda: (d.Bernoulli(logits=A), d.Bernoulli(probs=[0.2]), [[1], [0]]),
        "Bernoulli by probs": lambda: (d.Bernoulli(probs=MIX), None, [[1, 0, 1], [0, 1, 1]]),
        "Categorical": lambda: (
            d.Categorical(logits=SCORES),
            d.Categorical(probs=[0.1, 0.2, 0.3, 0.4]),
            [0, 3, 1],
        ),
        "Multinomial": lambda: (
            d.Multinomial([4.0, 5.0], probs=MIX),
            None,
            [[1.0, 1.0, 2.0], [5.0, 0.0, 0.0]],
        ),
        "Dirichlet": lambda: (d.Dirichlet(MIX + 1), d.Dirichlet([1.0, 2.0, 3.0]), MIX),
    }


def value(tf: Any, pair: Callable[[], Pair]) -> dict[str, Any]:
    """All that a distribution says; `None` where TensorFlow says nothing."""
    with tf.Graph().as_default(), tf.Session() as session:
        first, second, x = pair()
        made: dict[str, Any] = {}
        for name in SAID:
            try:
                made[name] = getattr(first, name)()
            except (NotImplementedError, ValueError):
                made[name] = None
        made["log_prob"], made["prob"] = first.log_prob(x), first.prob(x)
        if type(first).__name__ in ("Normal", "Laplace", "Uniform", "Exponential"):
            made["cdf"] = first.cdf(x)
        try:
            made["divergence"] = None if second is None else first.kl_divergence(second)
        except NotImplementedError:
            made["divergence"] = None
        arrays = {k: None if t is None else session.run(t).tolist() for k, t in made.items()}
        drawn = first.sample([5, 2])
        shapes = [first.batch_shape, first.event_shape, first.sample().shape, drawn.shape]
        arrays["shapes"] = [s.as_list() for s in shapes]
        arrays["dtype"] = drawn.dtype.name
        return arrays


if __name__ == "__main__":
    import json

    import tensorflow.compat.v1 as tensorflow  # type: ignore[import-untyped,import-not-found,unused-ignore]

    tensorflow.disable_v2_behavior()
    found = {k: value(tensorflow, f) for k, f in pairs(tensorflow).items()}
    print(json.dumps({"tensorflow": tensorflow.__version__, **found}))
