"""Distributions over classes, and over counts of them."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import zeros_like
from byparts_frontend_tf.api.math.gamma import lgamma
from byparts_frontend_tf.api.math.reduce import argmax, reduce_sum
from byparts_frontend_tf.api.math.unary import log
from byparts_frontend_tf.api.nn.softmax import log_softmax, softmax
from byparts_frontend_tf.api.one_hot import one_hot
from byparts_frontend_tf.api.random.gamma import COUNTS
from byparts_frontend_tf.api.random.random import multinomial
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.transpose import transpose
from byparts_frontend_tf.api.where import where_v2
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_tf_contrib.distributions.distribution import (
    NOT_REPARAMETERIZED,
    RegisterKL,
    distribution_symbol,
)
from byparts_tf_contrib.distributions.of_numbers import OfNumbers
from byparts_tf_files.dtypes import as_dtype, int32


class OfClasses(OfNumbers):
    """A distribution whose last axis of parameters is classes, by logits or probabilities."""

    def __init__(
        self, name: str, flags: tuple[bool, bool], logits: Any, probs: Any, **more: Any
    ) -> None:
        if (logits is None) == (probs is None):
            raise ValueError("Must pass probs or logits, but not both.")
        super().__init__(name, flags, {"logits": logits, "probs": probs}, **more)

    _logits: Any
    _probs: Any

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities, but for a number."""
        if self._logits is None:
            self._logits = log(self._probs)
        logits: Tensor = self._logits
        return logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of the classes."""
        if self._probs is None:
            self._probs = softmax(self._logits)
        probs: Tensor = self._probs
        return probs

    @property
    def event_size(self) -> Tensor:
        """The number of classes."""
        event_size: Tensor = shape_of(self._whole)[-1]
        return event_size

    def _batch_shape_tensor(self) -> Tensor:
        shape: Tensor = shape_of(self._whole)[:-1]
        return shape

    def _classes(self, n: Any, seed: Any) -> Tensor:
        """Classes drawn: [n, batch]."""
        flat = reshape(self.logits, concat([[-1], [self.event_size]], 0))
        drawn = transpose(multinomial(flat, n, seed, output_dtype=int32))
        return reshape(drawn, concat([[n], self._batch_shape_tensor()], 0))

    def _class_entropy(self) -> Tensor:
        scores = log_softmax(self.logits)
        return -reduce_sum(softmax(self.logits) * scores, -1)  # type: ignore[no-any-return]

    def _classes_divergence(self, other: OfClasses) -> Tensor:
        difference = log_softmax(self.logits) - log_softmax(other.logits)
        return reduce_sum(softmax(self.logits) * difference, -1)


@distribution_symbol("Categorical")
class Categorical(OfClasses):
    """The number of a class."""

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
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
        draws: Tensor = cast(self._classes(n, seed), self.dtype)
        return draws

    def _log_prob(self, x: Tensor) -> Tensor:
        k = cast(x, int32)
        chosen = one_hot(k, self.event_size, dtype=self.logits.dtype)
        scores = log_softmax(self.logits)
        known = where_v2(chosen > 0, scores, zeros_like(scores))  # 0 * -inf is nan
        return reduce_sum(known, -1)

    def _entropy(self) -> Tensor:
        return self._class_entropy()

    def _mode(self) -> Tensor:
        mode: Tensor = cast(argmax(self.logits, -1), self.dtype)
        return mode


@RegisterKL(Categorical, Categorical)
def _categoricals(a: Categorical, b: Categorical, name: Any = None) -> Tensor:
    return a._classes_divergence(b)


@distribution_symbol("OneHotCategorical")
class OneHotCategorical(OfClasses):
    """1 at the place of a class, and 0 at the others."""

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "OneHotCategorical",
    ) -> None:
        super().__init__(
            name,
            (validate_args, allow_nan_stats),
            logits,
            probs,
            dtype=as_dtype(dtype),
            reparameterization_type=NOT_REPARAMETERIZED,
        )

    def _event_shape_tensor(self) -> Tensor:
        shape: Tensor = shape_of(self._whole)[-1:]
        return shape

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        return one_hot(self._classes(n, seed), self.event_size, dtype=self.dtype)

    def _log_prob(self, x: Tensor) -> Tensor:
        scores = log_softmax(self.logits)
        return reduce_sum(cast(x, scores.dtype) * scores, -1)

    def _entropy(self) -> Tensor:
        return self._class_entropy()

    def _mean(self) -> Tensor:
        mean: Tensor = self.probs + 0.0
        return mean

    def _mode(self) -> Tensor:
        return one_hot(argmax(self.logits, -1), self.event_size, dtype=self.dtype)

    def _variance(self) -> Tensor:
        variance: Tensor = self.probs * (1.0 - self.probs)
        return variance


@RegisterKL(OneHotCategorical, OneHotCategorical)
def _one_hots(a: OneHotCategorical, b: OneHotCategorical, name: Any = None) -> Tensor:
    return a._classes_divergence(b)


@distribution_symbol("Multinomial")
class Multinomial(OfClasses):
    """Counts of each class in `total_count` draws."""

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Multinomial",
    ) -> None:
        super().__init__(
            name,
            (validate_args, allow_nan_stats),
            logits,
            probs,
            reparameterization_type=NOT_REPARAMETERIZED,
        )
        self.total_count = convert_to_tensor(total_count, self._whole.dtype.base_dtype)
        self.parameters["total_count"] = total_count

    def _event_shape_tensor(self) -> Tensor:
        shape: Tensor = shape_of(self._whole)[-1:]
        return shape

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        size = concat([[n], shape_of(self._whole)], 0)
        total = self.total_count + 0.0 * self.probs[..., 0]
        return COUNTS.seeded(size, total, self.probs, name=None, seed=seed, dtype=self.dtype)[0]

    def _log_prob(self, x: Tensor) -> Tensor:
        ways = lgamma(self.total_count + 1.0) - reduce_sum(lgamma(x + 1.0), -1)
        log_prob: Tensor = reduce_sum(x * log_softmax(self.logits), -1) + ways
        return log_prob

    def _mean(self) -> Tensor:
        mean: Tensor = self.probs * self.total_count[..., None]
        return mean

    def _variance(self) -> Tensor:
        variance: Tensor = self._mean() * (1.0 - self.probs)
        return variance
