"""Distributions over positive numbers: gamma, exponential, beta."""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_frontend_tf.api.constant import ones_like, zeros_like
from byparts_frontend_tf.api.math.binary import maximum
from byparts_frontend_tf.api.math.gamma import digamma, lgamma
from byparts_frontend_tf.api.math.unary import expm1, log, log1p, square
from byparts_frontend_tf.api.random.gamma import random_gamma
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_tf_contrib.distributions.distribution import (
    RegisterKL,
    distribution_symbol,
)
from byparts_tf_contrib.distributions.of_numbers import OfNumbers


@distribution_symbol("Gamma")
class Gamma(OfNumbers):
    """Positive numbers, with the density x^(concentration - 1) exp(-rate x), normed."""

    concentration: Tensor
    rate: Tensor

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gamma",
    ) -> None:
        arguments = {"concentration": concentration, "rate": rate}
        super().__init__(name, (validate_args, allow_nan_stats), arguments)

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        a, b = self._spread(self.concentration), self.rate
        return random_gamma([n], a - 0.0 * b, b, self.dtype, seed)

    def _log_prob(self, x: Tensor) -> Tensor:
        a, b = self.concentration, self.rate
        log_prob: Tensor = (a - 1.0) * log(x) - b * x - (lgamma(a) - a * log(b))
        return log_prob

    def _entropy(self) -> Tensor:
        a = self.concentration
        entropy: Tensor = a - log(self.rate) + lgamma(a) + (1.0 - a) * digamma(a)
        return entropy

    def _mean(self) -> Tensor:
        mean: Tensor = self.concentration / self.rate
        return mean

    def _variance(self) -> Tensor:
        variance: Tensor = self.concentration / square(self.rate)
        return variance

    def _mode(self) -> Tensor:
        mode = (self.concentration - 1.0) / self.rate
        some = self.concentration + zeros_like(mode) > 1.0
        return where(some, mode, zeros_like(mode) + np.nan)


@RegisterKL(Gamma, Gamma)
def _gammas(a: Gamma, b: Gamma, name: Any = None) -> Tensor:
    divergence: Tensor = (
        (a.concentration - b.concentration) * digamma(a.concentration)
        + lgamma(b.concentration)
        - lgamma(a.concentration)
        + b.concentration * log(a.rate)
        - b.concentration * log(b.rate)
        + a.concentration * (b.rate / a.rate - 1.0)
    )
    return divergence


@distribution_symbol("Exponential")
class Exponential(Gamma):
    """Positive numbers, with the density rate exp(-rate x)."""

    def __init__(
        self,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Exponential",
    ) -> None:
        r = convert_to_tensor(rate, name="rate")
        super().__init__(ones_like(r), r, validate_args, allow_nan_stats, name)
        self.parameters = {"rate": rate, "validate_args": validate_args, "name": name}

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        least = float(np.finfo(self.dtype.as_numpy_dtype).tiny)
        draws: Tensor = -log(maximum(self._uniform(n, seed), least)) / self.rate
        return draws

    def _cdf(self, x: Tensor) -> Tensor:
        return -expm1(-self.rate * x)  # type: ignore[no-any-return]


@distribution_symbol("Beta")
class Beta(OfNumbers):
    """Numbers of (0, 1), with the density x^(c1 - 1) (1 - x)^(c0 - 1), normed."""

    concentration1: Tensor
    concentration0: Tensor

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Beta",
    ) -> None:
        arguments = {"concentration1": concentration1, "concentration0": concentration0}
        super().__init__(name, (validate_args, allow_nan_stats), arguments)

    @property
    def total_concentration(self) -> Tensor:
        """The sum of both."""
        return self._whole

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        a, b = (c + 0.0 * self._whole for c in (self.concentration1, self.concentration0))
        other = None if seed is None else seed + 1
        x, y = (
            random_gamma([n], a, None, self.dtype, seed),
            random_gamma([n], b, None, self.dtype, other),
        )
        draws: Tensor = x / (x + y)
        return draws

    def log_norm(self) -> Tensor:
        """The logarithm of the integral of what is normed."""
        a, b = self.concentration1, self.concentration0
        log_norm: Tensor = lgamma(a) + lgamma(b) - lgamma(self._whole)
        return log_norm

    def _log_prob(self, x: Tensor) -> Tensor:
        a, b = self.concentration1, self.concentration0
        log_prob: Tensor = (a - 1.0) * log(x) + (b - 1.0) * log1p(-x) - self.log_norm()
        return log_prob

    def _entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        entropy: Tensor = (
            self.log_norm()
            - (a - 1.0) * digamma(a)
            - (b - 1.0) * digamma(b)
            + (self._whole - 2.0) * digamma(self._whole)
        )
        return entropy

    def _mean(self) -> Tensor:
        mean: Tensor = self.concentration1 / self._whole
        return mean

    def _variance(self) -> Tensor:
        variance: Tensor = self._mean() * (1.0 - self._mean()) / (1.0 + self._whole)
        return variance

    def _mode(self) -> Tensor:
        mode: Tensor = (self.concentration1 - 1.0) / (self._whole - 2.0)
        return mode


@RegisterKL(Beta, Beta)
def _betas(a: Beta, b: Beta, name: Any = None) -> Tensor:
    divergence: Tensor = b.log_norm() - a.log_norm()
    for x, y in (
        (a.concentration1, b.concentration1),
        (a.concentration0, b.concentration0),
        (b.total_concentration, a.total_concentration),
    ):
        total = a.total_concentration
        slope = digamma(total) if y is total else digamma(x)
        divergence = divergence + (x - y) * slope
    return divergence
