"""Sizes that are not known, or are none, where a shape has to be: TensorFlow 1.15's errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import byparts_frontend_tf as tf

TAKERS: dict[str, Callable[[Any], Any]] = {
    "zeros": tf.zeros,
    "ones": tf.ones,
    "fill": lambda s: tf.fill(s, 1.0),
    "constant": lambda s: tf.constant(1.0, shape=s),
    "reshape": lambda s: tf.reshape(tf.placeholder(tf.float32), s),
    "broadcast_to": lambda s: tf.broadcast_to(1.0, s),
    "tile": lambda s: tf.tile(tf.zeros([1, 1]), s),
    "slice": lambda s: tf.slice(tf.zeros([4, 4]), [0, 0], s),
    "random_normal": tf.random_normal,
    "random_uniform": tf.random_uniform,
    "truncated_normal": tf.truncated_normal,
    "random_gamma": lambda s: tf.random_gamma(s, 1.0),
    "scatter_nd": lambda s: tf.scatter_nd([[0]], [1.0], s),
    "zeros_initializer": lambda s: tf.zeros_initializer()(s),
    "random_normal_initializer": lambda s: tf.random_normal_initializer()(s),
    "convert_to_tensor": tf.convert_to_tensor,
}
CONVERTED = [name for name in TAKERS if name != "constant"]  # which takes numbers, no tensor


def unknown() -> Any:
    """A size that is not known."""
    return tf.placeholder(tf.float32, [None, 3]).shape[0]


@pytest.mark.parametrize("name", TAKERS)
def test_a_list_with_an_unknown_size_is_no_shape(name: str) -> None:
    """A Dimension or `None` in a list is a TypeError, as in any list that is no tensor."""
    for shape in ([unknown(), 3], (unknown(), 3), [None, 3]):
        with pytest.raises(TypeError, match=r"Failed to convert|Expected int32, got None|not full"):
            TAKERS[name](shape)


@pytest.mark.parametrize("name", CONVERTED)
def test_a_shape_that_is_known_in_part_is_a_value_error(name: str) -> None:
    """A TensorShape is refused with itself, and a Dimension alone."""
    with pytest.raises(ValueError, match=r"partially known TensorShape to a Tensor: \(\?, 3\)"):
        TAKERS[name](tf.TensorShape([None, 3]))
    with pytest.raises(ValueError, match=r"unknown Dimension|partially known"):
        TAKERS[name](unknown())


@pytest.mark.parametrize("name", CONVERTED[:-1])
def test_a_size_is_no_fraction(name: str) -> None:
    with pytest.raises(TypeError, match=r"DataType float32 not in|Expected int32, got 1\.5"):
        TAKERS[name]([1.5, 2])


@pytest.mark.parametrize(
    "take",
    [lambda s: tf.placeholder("float", s), tf.TensorShape, lambda s: tf.get_variable("v", s)],
)
def test_a_fraction_is_no_dimension(take: Callable[[Any], Any]) -> None:
    """Neither cut off nor rounded."""
    with pytest.raises(ValueError, match=r"Ambiguous dimension: 1\.5"):
        take([1.5, 2])


def test_sizes_that_are_known_are_taken() -> None:
    """Dimensions in lists and alone, and what may be unknown."""
    size = tf.placeholder(tf.float32, [None, 3]).shape[1]

    assert [tf.zeros(s).shape.as_list() for s in ([size, 2], size, [size * 2])] == [
        [3, 2],
        [3],
        [6],
    ]
    assert str(tf.placeholder(tf.float32, [unknown(), None, 3]).shape) == "(?, ?, 3)"
