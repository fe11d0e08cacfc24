"""Distributions over whole numbers: Bernoulli, Poisson."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.constant import zeros_like
from byparts_frontend_tf.api.math.gamma import lgamma
from byparts_frontend_tf.api.math.unary import exp, floor, log, log1p, sigmoid, softplus
from byparts_frontend_tf.api.random.gamma import POISSON
from byparts_frontend_tf.api.random.random import random_uniform
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_tf_contrib.distributions.distribution import (
    NOT_REPARAMETERIZED,
    RegisterKL,
    distribution_symbol,
)
from byparts_tf_contrib.distributions.of_numbers import OfNumbers
from byparts_tf_files.dtypes import as_dtype, int32


class Probable(OfNumbers):
    """A distribution whose parameter is a probability or its logit."""

    def __init__(
        self, name: str, flags: tuple[bool, bool], logits: Any, probs: Any, **more: Any
    ) -> None:
        if (logits is None) == (probs is None):
            raise ValueError("Must pass probs or logits, but not both.")
        arguments = {"logits": logits, "probs": probs}
        super().__init__(name, flags, arguments, **more)

    _logits: Any
    _probs: Any

    @property
    def logits(self) -> Tensor:
        """The logarithms of the odds."""
        if self._logits is None:
            self._logits = log(self._probs) - log1p(-self._probs)
        logits: Tensor = self._logits
        return logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of 1."""
        if self._probs is None:
            self._probs = sigmoid(self._logits)
        probs: Tensor = self._probs
        return probs


@distribution_symbol("Bernoulli")
class Bernoulli(Probable):
    """0 or 1."""

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ) -> None:
        super().__init__(
            name,
            (validate_args, allow_nan_stats),
            logits,
            probs,
            dtype=as_dtype(dtype),
            reparameterization_type=NOT_REPARAMETERIZED,
        )
        self.parameters["dtype"] = dtype

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        u = random_uniform(self._size(n), dtype=self.probs.dtype, seed=seed)
        drawn: Tensor = cast(u < self.probs, self.dtype)
        return drawn

    def _log_prob(self, x: Tensor) -> Tensor:
        logits = self.logits
        event = cast(x, logits.dtype)
        log_prob: Tensor = event * logits - softplus(logits + zeros_like(event))
        return log_prob

    def _entropy(self) -> Tensor:
        entropy: Tensor = softplus(self.logits) - self.probs * self.logits
        return entropy

    def _mean(self) -> Tensor:
        mean: Tensor = self.probs + 0.0
        return mean

    def _variance(self) -> Tensor:
        variance: Tensor = self.probs * (1.0 - self.probs)
        return variance

    def _mode(self) -> Tensor:
        mode: Tensor = cast(self.probs > 0.5, self.dtype)
        return mode


@RegisterKL(Bernoulli, Bernoulli)
def _bernoullis(a: Bernoulli, b: Bernoulli, name: Any = None) -> Tensor:
    divergence: Tensor = sigmoid(a.logits) * (softplus(-b.logits) - softplus(-a.logits)) + sigmoid(
        -a.logits
    ) * (softplus(b.logits) - softplus(a.logits))
    return divergence


@distribution_symbol("Poisson")
class Poisson(OfNumbers):
    """Counts at a rate."""

    def __init__(
        self,
        rate: Any = None,
        log_rate: Any = None,
        interpolate_nondiscrete: bool = True,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Poisson",
    ) -> None:
        if (rate is None) == (log_rate is None):
            raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
        of_log = convert_to_tensor(log_rate) if rate is None else None
        arguments = {"rate": exp(of_log) if of_log is not None else rate}
        super().__init__(
            name,
            (validate_args, allow_nan_stats),
            arguments,
            reparameterization_type=NOT_REPARAMETERIZED,
        )
        self.log_rate = log(self.rate) if of_log is None else of_log

    rate: Tensor

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        return POISSON.seeded(self._size(n), self.rate, name=None, seed=seed, dtype=self.dtype)[0]

    def _log_prob(self, x: Tensor) -> Tensor:
        log_prob: Tensor = x * self.log_rate - self.rate - lgamma(x + 1.0)
        return log_prob

    def _mean(self) -> Tensor:
        mean: Tensor = self.rate + 0.0
        return mean

    def _variance(self) -> Tensor:
        variance: Tensor = self.rate + 0.0
        return variance

    def _mode(self) -> Tensor:
        return floor(self.rate)
