"""Numbers rounded to few bits, and their gradients, against TensorFlow's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

RECORDED = json.loads((Path(__file__).parent / "data" / "fake_quant.json").read_text())
X = np.linspace(-8, 9, 23).astype(np.float32)


@pytest.mark.parametrize("name", RECORDED)
def test_levels_and_gradients_are_tensorflows(name: str) -> None:
    """A narrow range, one that is learned, one for each channel, an empty one."""
    quantized: dict[str, Any] = {
        "narrow": lambda x: tf.fake_quant_with_min_max_args(x, -1, 4.3, 4, True),
        "vars": lambda x, low, high: tf.fake_quant_with_min_max_vars(x, low, high, 3),
        "channels": lambda *t: tf.fake_quant_with_min_max_vars_per_channel(*t, num_bits=4),
        "zero": lambda x: tf.fake_quant_with_min_max_vars(x, tf.constant(0.0), tf.constant(0.0)),
    }
    given: dict[str, list[Any]] = {
        "vars": [X, -3.1, 5.2],
        "channels": [X[:22].reshape(11, 2), [-1.0, -2.0], [3.0, 0.7]],
    }
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.constant(a) for a in given.get(name, [X])]
        y = quantized[name](*inputs)
        weights = np.cos(np.arange(23)).astype(np.float32)
        found = session.run([y, *tf.gradients(y if name == "channels" else y * weights, inputs)])

    for a, b in zip(found, RECORDED[name], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match="min has to be smaller"):
        tf.fake_quant_with_min_max_args(X, 1.0, 1.0)
    with pytest.raises(ValueError, match="num_bits must be between 2 and 16"):
        tf.fake_quant_with_min_max_args(X, num_bits=1)
