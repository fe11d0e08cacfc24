"""`tf.keras.backend`: random tensors and variables."""

from __future__ import annotations

from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.backend import variable
from byparts_tf_keras.state import floatx


@symbol("keras.backend.random_uniform_variable")
def random_uniform_variable(
    shape: Any, low: float, high: float, dtype: Any = None, name: Any = None, seed: Any = None
) -> Any:
    """A variable of uniform numbers."""
    return variable(tf.random_uniform(shape, low, high, dtype or floatx(), seed), dtype, name)


@symbol("keras.backend.random_normal_variable")
def random_normal_variable(
    shape: Any, mean: float, scale: float, dtype: Any = None, name: Any = None, seed: Any = None
) -> Any:
    """A variable of normal numbers."""
    return variable(tf.random_normal(shape, mean, scale, dtype or floatx(), seed), dtype, name)


@symbol("keras.backend.random_uniform")
def random_uniform(
    shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Uniform numbers."""
    return tf.random_uniform(shape, minval, maxval, dtype or floatx(), seed)


@symbol("keras.backend.random_normal")
def random_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Normal numbers."""
    return tf.random_normal(shape, mean, stddev, dtype or floatx(), seed)


@symbol("keras.backend.truncated_normal")
def truncated_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Normal numbers within two deviations."""
    return tf.truncated_normal(shape, mean, stddev, dtype or floatx(), seed)


@symbol("keras.backend.random_binomial")
def random_binomial(shape: Any, p: float = 0.0, dtype: Any = None, seed: Any = None) -> Any:
    """Ones with a probability, else zeros."""
    return tf.cast(tf.random_uniform(shape, seed=seed) <= p, dtype or floatx())
