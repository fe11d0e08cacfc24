"""More distributions over numbers: logistic, Cauchy, half normal, inverse gamma, chi-squared."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from byparts_frontend_tf.api.math.gamma import digamma, lgamma
from byparts_frontend_tf.api.math.unary import (
    absolute,
    atan,
    erf,
    log,
    log1p,
    sigmoid,
    softplus,
    square,
    tan,
)
from byparts_frontend_tf.api.random.gamma import random_gamma
from byparts_frontend_tf.api.random.random import random_normal
from byparts_frontend_tf.api.where import where_v2
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_tf_contrib.distributions.distribution import distribution_symbol
from byparts_tf_contrib.distributions.of_numbers import OfNumbers
from byparts_tf_contrib.distributions.positive import Gamma


class _Located(OfNumbers):
    """A distribution around `loc`, `scale` wide."""

    loc: Tensor
    scale: Tensor

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str | None = None,
    ) -> None:
        arguments = {"loc": loc, "scale": scale}
        super().__init__(name or type(self).__name__, (validate_args, allow_nan_stats), arguments)

    def _z(self, x: Any) -> Any:
        return (x - self.loc) / self.scale

    def _between(self, n: Any, seed: Any) -> Any:
        """Numbers above 0 and below 1."""
        least = float(np.finfo(self.dtype.as_numpy_dtype).tiny)
        return self._uniform(n, seed, least)

    def _mode(self) -> Tensor:
        return self._spread(self.loc)


@distribution_symbol("Logistic")
class Logistic(_Located):
    """Numbers whose distribution function is the sigmoid of (x - loc) / scale."""

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        u = self._between(n, seed)
        return (log(u) - log1p(-u)) * self.scale + self.loc

    def _log_prob(self, x: Tensor) -> Any:
        z = self._z(x)
        return -z - 2.0 * softplus(-z) - log(self.scale)

    def _cdf(self, x: Tensor) -> Any:
        return sigmoid(self._z(x))

    def _log_cdf(self, x: Tensor) -> Any:
        return -softplus(-self._z(x))

    def _entropy(self) -> Any:
        return 2.0 + log(self._spread(self.scale))

    def _mean(self) -> Tensor:
        return self._spread(self.loc)

    def _stddev(self) -> Any:
        return self._spread(self.scale) * (math.pi / math.sqrt(3.0))


@distribution_symbol("Cauchy")
class Cauchy(_Located):
    """Numbers with the density 1 / (pi scale (1 + z^2)); they have no mean."""

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return self.loc + self.scale * tan(math.pi * (self._between(n, seed) - 0.5))

    def _log_prob(self, x: Tensor) -> Any:
        return -math.log(math.pi) - log(self.scale) - log1p(square(self._z(x)))

    def _cdf(self, x: Tensor) -> Any:
        return atan(self._z(x)) / math.pi + 0.5

    def _entropy(self) -> Any:
        return math.log(4.0 * math.pi) + log(self._spread(self.scale))


@distribution_symbol("HalfNormal")
class HalfNormal(OfNumbers):
    """The sizes of normal numbers around 0."""

    scale: Tensor

    def __init__(
        self,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "HalfNormal",
    ) -> None:
        super().__init__(name, (validate_args, allow_nan_stats), {"scale": scale})

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return absolute(random_normal(self._size(n), dtype=self.dtype, seed=seed) * self.scale)

    def _log_prob(self, x: Tensor) -> Any:
        inside = 0.5 * math.log(2.0 / math.pi) - log(self.scale) - 0.5 * square(x / self.scale)
        return where_v2(x >= 0.0, inside, inside - math.inf)

    def _cdf(self, x: Tensor) -> Any:
        return where_v2(x >= 0.0, erf(x / (self.scale * math.sqrt(2.0))), 0.0 * x)

    def _entropy(self) -> Any:
        return 0.5 * math.log(math.pi / 2.0) + 0.5 + log(self.scale)

    def _mean(self) -> Any:
        return self.scale * math.sqrt(2.0 / math.pi)

    def _variance(self) -> Any:
        return square(self.scale) * (1.0 - 2.0 / math.pi)


@distribution_symbol("InverseGamma")
class InverseGamma(OfNumbers):
    """Numbers 1 / x of gamma numbers x with the rate `rate`."""

    concentration: Tensor
    rate: Tensor

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGamma",
    ) -> None:
        arguments = {"concentration": concentration, "rate": rate}
        super().__init__(name, (validate_args, allow_nan_stats), arguments)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        a = self._spread(self.concentration)
        return 1.0 / random_gamma([n], a, self.rate + 0.0 * a, self.dtype, seed)

    def _log_prob(self, x: Tensor) -> Any:
        a, b = self.concentration, self.rate
        return a * log(b) - lgamma(a) - (a + 1.0) * log(x) - b / x

    def _entropy(self) -> Any:
        a = self.concentration
        return a + log(self.rate) + lgamma(a) - (1.0 + a) * digamma(a)

    def _mean(self) -> Any:
        return self.rate / (self.concentration - 1.0)

    def _mode(self) -> Any:
        return self.rate / (1.0 + self.concentration)


@distribution_symbol("Chi2")
class Chi2(Gamma):
    """Sums of the squares of `df` normal numbers."""

    def __init__(
        self,
        df: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Chi2",
    ) -> None:
        self.df = convert_to_tensor(df, name="df")
        half = 0.5 * self.df
        super().__init__(half, 0.0 * half + 0.5, validate_args, allow_nan_stats, name)
        self.parameters = {"df": df, "validate_args": validate_args, "name": name}
