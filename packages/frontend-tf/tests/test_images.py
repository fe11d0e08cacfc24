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


def test_boxes_that_are_kept_may_be_filled_to_the_largest_number() -> None:
    boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [0.5, 0.5, 2.0, 2.0]]
    with tf.Graph().as_default(), tf.Session() as session:
        made = [
            tf.image.non_max_suppression_padded(
                boxes, [0.5, 0.3, 0.9], 4, pad_to_max_output_size=padded
            )
            for padded in (True, False)
        ]
        (filled, count), (kept, also) = session.run(made)

    assert made[0][0].shape.as_list() == [4]
    assert (filled.tolist(), kept.tolist(), int(count), int(also)) == ([2, 0, 0, 0], [2, 0], 2, 2)


def test_areas_of_a_large_image_need_no_outer_product() -> None:
    """The two matrices of 256 by 256 that resize the sides never meet; it asked for 43 GB."""
    image = np.random.normal(size=(1, 256, 256, 3)).astype(np.float32)
    x = tf.placeholder(tf.float32, [1, 256, 256, 3])
    with tf.Session() as session:
        same, half = session.run(
            [tf.image.resize_area(x, [256, 256]), tf.image.resize_area(x, [128, 128])], {x: image}
        )

    np.testing.assert_allclose(same, image, atol=1e-6)
    np.testing.assert_allclose(half, image.reshape(1, 128, 2, 128, 2, 3).mean((2, 4)), atol=1e-5)
