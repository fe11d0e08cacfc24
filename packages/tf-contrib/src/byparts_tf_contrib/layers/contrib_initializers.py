"""Initializers of `tf.contrib.layers`."""

from __future__ import annotations

import math
from typing import Any, Optional

from byparts_frontend_tf.api.initializers import Initializer
from byparts_frontend_tf.api.random.random import random_uniform, truncated_normal
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import as_dtype, float32


class _Factor(Initializer):
    """Random numbers whose variance is about factor over the inputs, outputs, or their mean."""

    def __init__(self, factor: float, mode: str, uniform: bool, seed: Any, dtype: Any) -> None:
        self.factor, self.mode, self.uniform = factor, mode, uniform
        self.seed, self.dtype = seed, as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        dims = [int(d) for d in (shape.as_list() if hasattr(shape, "as_list") else shape)]
        inputs = float(dims[-2]) if len(dims) > 1 else float(dims[-1] if dims else 1)
        outputs = float(dims[-1] if dims else 1)
        for d in dims[:-2]:
            inputs, outputs = inputs * d, outputs * d
        count = {"FAN_IN": inputs, "FAN_OUT": outputs, "FAN_AVG": (inputs + outputs) / 2}
        kind, n = self._dtype(dtype), count[self.mode]
        if self.uniform:
            limit = math.sqrt(3.0 * self.factor / n)
            return random_uniform(dims, -limit, limit, kind, seed=self.seed)
        spread = math.sqrt(1.3 * self.factor / n)
        return truncated_normal(dims, 0.0, spread, kind, seed=self.seed)


@symbol("contrib.layers.variance_scaling_initializer", "contrib.slim.variance_scaling_initializer")
def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: Optional[int] = None,
    dtype: Any = float32,
) -> Initializer:
    """Random numbers whose variance suits the fans of a layer; He et al. 2015, by default.

    Raises:
        TypeError: another mode, or not of floats.
    """
    if not as_dtype(dtype).is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")
    return _Factor(factor, mode, uniform, seed, dtype)


@symbol(
    *("contrib.layers.xavier_initializer", "contrib.layers.xavier_initializer_conv2d"),
    *("contrib.slim.xavier_initializer", "contrib.slim.xavier_initializer_conv2d"),
)
def xavier_initializer(
    uniform: bool = True, seed: Optional[int] = None, dtype: Any = float32
) -> Initializer:
    """Glorot and Bengio 2010."""
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)
