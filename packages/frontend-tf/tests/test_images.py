"""Functions of `tf.image` against TensorFlow's recorded numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from image_values import functions, value

import byparts_frontend_tf as tf

RECORDED = json.loads((Path(__file__).parent / "data" / "image.json").read_text())


@pytest.mark.parametrize("name", functions(tf))
def test_a_function_computes_what_tensorflows_does(name: str) -> None:
    """Dtype, static shape, numbers, gradients."""
    found, wanted = value(tf, name), RECORDED[name]

    assert (found["dtype"], found["shape"]) == (wanted["dtype"], wanted["shape"])
    assert all(w in (None, f) for f, w in zip(found["static"], wanted["static"], strict=True))
    np.testing.assert_allclose(found["some"], wanted["some"], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found["sum"], wanted["sum"], rtol=1e-4, atol=1e-4)
    if wanted["gradients"]:
        np.testing.assert_allclose(found["gradients"], wanted["gradients"], rtol=1e-3, atol=1e-4)
