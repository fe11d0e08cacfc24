"""Mixtures of one family, nearly discrete choices, and numbers rounded up."""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.math.binary import maximum, minimum
from byparts_frontend_tf.api.math.gamma import lgamma
from byparts_frontend_tf.api.math.reduce import reduce_logsumexp, reduce_sum
from byparts_frontend_tf.api.math.unary import ceil, log, log1p, sigmoid, softplus
from byparts_frontend_tf.api.nn.softmax import log_softmax, softmax
from byparts_frontend_tf.api.one_hot import one_hot
from byparts_frontend_tf.api.where import where_v2
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_tf_contrib.distributions.distribution import (
    NOT_REPARAMETERIZED,
    Distribution,
    distribution_symbol,
)
from byparts_tf_contrib.distributions.of_classes import OfClasses
from byparts_tf_contrib.distributions.of_counts import Probable
from byparts_tf_contrib.distributions.of_others import RelaxedOneHotCategorical


@distribution_symbol("ExpRelaxedOneHotCategorical")
class ExpRelaxedOneHotCategorical(RelaxedOneHotCategorical):
    """The logarithms of draws of `RelaxedOneHotCategorical`."""

    def __init__(self, temperature: Any, *arguments: Any, **named: Any) -> None:
        named.setdefault("name", "ExpRelaxedOneHotCategorical")
        super().__init__(temperature, *arguments, **named)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return log(super()._sample_n(n, seed))

    def _log_prob(self, x: Tensor) -> Any:
        count = cast(self.event_size, self.dtype)
        norm = lgamma(count) + (count - 1.0) * log(self.temperature)
        return norm + reduce_sum(log_softmax(self.logits - x * self.temperature), -1)


@distribution_symbol("RelaxedBernoulli")
class RelaxedBernoulli(Probable):
    """Numbers of (0, 1), near to its ends: sigmoid((logits + logistic) / temperature)."""

    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedBernoulli",
    ) -> None:
        super().__init__(name, (validate_args, allow_nan_stats), logits, probs)
        self.temperature = convert_to_tensor(temperature, self.dtype)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        u = self._uniform(n, seed, float(np.finfo(self.dtype.as_numpy_dtype).tiny))
        return sigmoid((log(u) - log1p(-u) + self.logits) / self.temperature)

    def _log_prob(self, x: Tensor) -> Any:
        y = log(x) - log1p(-x)
        z = self.temperature * y - self.logits
        return -z - 2.0 * softplus(-z) + log(self.temperature) + softplus(-y) + softplus(y)


@distribution_symbol("MixtureSameFamily")
class MixtureSameFamily(Distribution):
    """A mixture: a distribution drawn from those along the last axis of a batch.

    Args:
        mixture_distribution: a Categorical that says which.
        components_distribution: whose last batch axis is that of the components.
    """

    def __init__(
        self,
        mixture_distribution: OfClasses,
        components_distribution: Distribution,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MixtureSameFamily",
    ) -> None:
        self.mixture_distribution = mixture_distribution
        self.components_distribution = components_distribution
        dtype, flags = components_distribution.dtype, (validate_args, allow_nan_stats)
        super().__init__(dtype, NOT_REPARAMETERIZED, *flags, name=name)

    def _batch_shape_tensor(self) -> Any:
        return self.components_distribution.batch_shape_tensor()[:-1]

    def _event_shape_tensor(self) -> Any:
        return self.components_distribution.event_shape_tensor()

    def _axes(self) -> int:
        return self.components_distribution.event_shape.ndims or 0

    def _with_axis(self, x: Any) -> Any:
        """The axis of the components, before those of an event."""
        for _ in range(self._axes()):
            x = x[..., None]
        return x

    def _mixed(self, values: Any, chances: Any) -> Any:
        return reduce_sum(values * self._with_axis(chances), -1 - self._axes())

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        drawn = self.components_distribution.sample(n, seed)
        which = self.mixture_distribution.sample(n, None if seed is None else seed + 1)
        mask = one_hot(which, self.mixture_distribution.event_size, dtype=drawn.dtype)
        return self._mixed(drawn, mask)

    def _log_prob(self, x: Any) -> Any:
        places = (..., None, *([slice(None)] * self._axes()))
        at = x[places]
        each = self.components_distribution.log_prob(at)
        return reduce_logsumexp(each + log_softmax(self.mixture_distribution.logits), -1)

    def _mean(self) -> Any:
        chances = softmax(self.mixture_distribution.logits)
        return self._mixed(self.components_distribution.mean(), chances)


@distribution_symbol("QuantizedDistribution")
class QuantizedDistribution(Distribution):
    """Numbers of another distribution, rounded up; those beyond `low` and `high` are these."""

    def __init__(
        self,
        distribution: Any,
        low: Any = None,
        high: Any = None,
        validate_args: bool = False,
        name: str = "QuantizedDistribution",
    ) -> None:
        self.distribution = distribution
        self._low, self._high = (
            None if end is None else convert_to_tensor(end, distribution.dtype)
            for end in (low, high)
        )
        super().__init__(distribution.dtype, NOT_REPARAMETERIZED, validate_args, name=name)

    def _batch_shape_tensor(self) -> Any:
        return self.distribution.batch_shape_tensor()

    def _event_shape_tensor(self) -> Any:
        return self.distribution.event_shape_tensor()

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        draws = ceil(self.distribution.sample(n, seed))
        draws = draws if self._low is None else maximum(draws, self._low)
        return draws if self._high is None else minimum(draws, self._high)

    def _cdf(self, x: Any) -> Any:
        cdf = self.distribution.cdf(x)
        cdf = cdf if self._low is None else where_v2(x < self._low, 0.0 * cdf, cdf)
        return cdf if self._high is None else where_v2(x < self._high, cdf, 0.0 * cdf + 1.0)

    def _prob(self, x: Any) -> Any:
        return self._cdf(x) - self._cdf(x - 1.0)


@distribution_symbol("Binomial")
class Binomial(Probable):
    """The number of times that something of a probability happens, of `total_count`."""

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Binomial",
    ) -> None:
        flags = validate_args, allow_nan_stats
        super().__init__(name, flags, logits, probs, reparameterization_type=NOT_REPARAMETERIZED)
        self.total_count = convert_to_tensor(total_count, self.dtype, "total_count")
        self.parameters["total_count"] = total_count
        self._whole = self._whole + 0.0 * self.total_count

    def _log_prob(self, x: Tensor) -> Any:
        n = self.total_count
        ways = lgamma(n + 1.0) - lgamma(x + 1.0) - lgamma(n - x + 1.0)
        return ways + x * self.logits - n * softplus(self.logits)

    def _mean(self) -> Any:
        return self.total_count * self.probs

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self.probs)
