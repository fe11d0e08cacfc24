"""`contrib.image`: images turned, moved, distorted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

image = tf.contrib.image
RECORDED = dict(np.load(Path(__file__).parent / "recorded" / "transforms.npz"))
X = (np.arange(2 * 4 * 5 * 2).reshape(2, 4, 5, 2) % 17).astype(np.float32)
TRANSFORMS = [
    [1.1, 0.2, -0.3, -0.1, 0.9, 0.4, 0.01, -0.02],
    [0.8, -0.3, 1.0, 0.2, 1.0, -0.5, 0.0, 0.0],
]


def run(made: Any) -> Any:
    """What a tensor is, by NumPy."""
    with tf.Session(backends=("numpy",)) as session:
        return session.run(made)


def test_projections_are_tensorflows() -> None:
    for name in ("nearest", "bilinear"):
        found = image.transform(X, TRANSFORMS, name.upper(), output_shape=[3, 6])
        assert found.shape.as_list() == [2, 3, 6, 2]
        np.testing.assert_allclose(run(found), RECORDED[name], rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match="rank between 2 and 4"):
        image.transform(X[None], TRANSFORMS[0])


def test_a_quarter_turn_and_a_move() -> None:
    """Of one image without channels; what lies outside is 0."""
    turned = image.rotate(np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), np.pi / 2)
    moved = image.translate(X[0], [1.0, -1.0])

    assert run(turned).tolist() == [[2.0, 4.0], [1.0, 3.0]]
    expected = np.zeros_like(X[0])
    expected[:-1, 1:] = X[0, 1:, :-1]
    np.testing.assert_array_equal(run(moved), expected)


def test_colours_in_yiq() -> None:
    """A hue of 2 pi and scales of 1 change nothing; grey has no saturation to scale."""
    x = np.random.RandomState(0).uniform(size=(2, 3, 3)).astype(np.float32)
    grey = np.full((1, 1, 3), 0.5, np.float32)

    np.testing.assert_allclose(run(image.adjust_hsv_in_yiq(x, 2 * np.pi)), x, atol=2e-3)
    np.testing.assert_allclose(run(image.adjust_hsv_in_yiq(grey, 1.0, 3.0, 0.5)), 0.25, atol=3e-3)
    drawn = run(image.random_hsv_in_yiq(x, 0.5, 0.5, 1.5, seed=1))
    assert drawn.shape == x.shape and np.abs(drawn - x).max() > 1e-3
    with pytest.raises(ValueError, match="at most upper_saturation"):
        image.random_hsv_in_yiq(x, 0.5, 2.0, 1.5)
