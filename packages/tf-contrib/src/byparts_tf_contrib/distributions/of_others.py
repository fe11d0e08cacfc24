"""Distributions made of others, and near to others: mixtures, relaxed classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.broadcast_to import broadcast_to
from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import zeros_like
from byparts_frontend_tf.api.math.gamma import lgamma
from byparts_frontend_tf.api.math.reduce import reduce_logsumexp, reduce_sum
from byparts_frontend_tf.api.math.unary import absolute, log
from byparts_frontend_tf.api.nn.softmax import log_softmax, softmax
from byparts_frontend_tf.api.random.random import random_uniform
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.stack import stack
from byparts_frontend_tf.api.where import where_v2
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_tf_contrib.distributions.distribution import (
    Distribution,
    RegisterKL,
    distribution_symbol,
    kl_divergence,
)
from byparts_tf_contrib.distributions.of_classes import OfClasses
from byparts_tf_contrib.distributions.of_numbers import OfNumbers


@distribution_symbol("RelaxedOneHotCategorical")
class RelaxedOneHotCategorical(OfClasses):
    """Nearly 1 at one place, nearly 0 at others: softmax((logits + Gumbel) / temperature)."""

    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedOneHotCategorical",
    ) -> None:
        super().__init__(name, (validate_args, allow_nan_stats), logits, probs)
        self.temperature = convert_to_tensor(temperature, self.dtype)

    def _event_shape_tensor(self) -> Tensor:
        shape: Tensor = shape_of(self._whole)[-1:]
        return shape

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        size = concat([[n], shape_of(self._whole)], 0)
        least = float(np.finfo(self.dtype.as_numpy_dtype).tiny)
        gumbel = -log(-log(random_uniform(size, least, 1.0, self.dtype, seed)))
        return softmax((self.logits + gumbel) / self.temperature)

    def _log_prob(self, x: Tensor) -> Tensor:
        count = cast(self.event_size, self.dtype)
        norm = lgamma(count) + (count - 1.0) * log(self.temperature)
        inner = log_softmax(self.logits - log(x) * self.temperature)
        log_prob: Tensor = norm + reduce_sum(inner - log(x), -1)
        return log_prob


@distribution_symbol("Independent")
class Independent(Distribution):
    """A distribution whose last batch axes are part of a draw."""

    def __init__(
        self,
        distribution: Distribution,
        reinterpreted_batch_ndims: Optional[int] = None,
        validate_args: bool = False,
        name: Optional[str] = None,
    ) -> None:
        rank = distribution.batch_shape.ndims
        moved = (rank or 1) - 1 if reinterpreted_batch_ndims is None else reinterpreted_batch_ndims
        self.distribution, self.reinterpreted_batch_ndims = distribution, int(moved)
        super().__init__(
            distribution.dtype,
            distribution.reparameterization_type,
            validate_args,
            name=name or f"Independent{distribution.name}",
        )

    def _batch_shape_tensor(self) -> Tensor:
        whole = self.distribution.batch_shape_tensor()
        shape: Tensor = whole[: shape_of(whole)[0] - self.reinterpreted_batch_ndims]
        return shape

    def _event_shape_tensor(self) -> Tensor:
        whole = self.distribution.batch_shape_tensor()
        moved = whole[shape_of(whole)[0] - self.reinterpreted_batch_ndims :]
        return concat([moved, self.distribution.event_shape_tensor()], 0)

    def _summed(self, x: Tensor) -> Tensor:
        count = self.reinterpreted_batch_ndims
        return reduce_sum(x, list(range(-count, 0))) if count else x

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        return self.distribution.sample(n, seed)

    def _log_prob(self, x: Tensor) -> Tensor:
        return self._summed(self.distribution.log_prob(x))

    def _entropy(self) -> Tensor:
        return self._summed(self.distribution.entropy())

    def _mean(self) -> Tensor:
        return self.distribution.mean()

    def _mode(self) -> Tensor:
        return self.distribution.mode()

    def _variance(self) -> Tensor:
        return self.distribution.variance()


@RegisterKL(Independent, Independent)
def _independents(a: Independent, b: Independent, name: Any = None) -> Tensor:
    return a._summed(kl_divergence(a.distribution, b.distribution))


@distribution_symbol("Mixture")
class Mixture(Distribution):
    """A mixture: a distribution drawn from several.

    Args:
        cat: a Categorical that says which.
        components: the distributions, of one batch and event shape.

    Raises:
        ValueError: there is none.
    """

    def __init__(
        self,
        cat: Any,
        components: Sequence[Distribution],
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        use_static_graph: bool = False,
        name: str = "Mixture",
    ) -> None:
        if not components:
            raise ValueError("components must be a non-empty list or tuple")
        self.cat, self.components = cat, list(components)
        self.num_components = len(self.components)
        super().__init__(
            components[0].dtype,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            name=name,
        )

    def _batch_shape_tensor(self) -> Tensor:
        return self.components[0].batch_shape_tensor()

    def _event_shape_tensor(self) -> Tensor:
        return self.components[0].event_shape_tensor()

    def _chances(self, extra: int) -> Tensor:
        """The probabilities of the components, with axes for those of an event: [..., k]."""
        probs = self.cat.probs
        for _ in range(extra):
            probs = probs[..., None, :]
        chances: Tensor = probs
        return chances

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        which = self.cat.sample(n, seed)
        draws = self.components[0].sample(n, seed)
        extra = self.event_shape.ndims or 0
        for i, component in enumerate(self.components[1:], 1):
            mine = which >= i
            for _ in range(extra):
                mine = mine[..., None]
            other = component.sample(n, None if seed is None else seed + i)
            draws = where_v2(mine, other, draws)
        return draws

    def _log_prob(self, x: Tensor) -> Tensor:
        each = stack([c.log_prob(x) for c in self.components], -1)
        log_prob: Tensor = reduce_logsumexp(each + log_softmax(self.cat.logits), -1)
        return log_prob

    def _mean(self) -> Tensor:
        extra = self.event_shape.ndims or 0
        each = stack([c.mean() for c in self.components], -1)
        return reduce_sum(each * self._chances(extra), -1)


@distribution_symbol("Deterministic")
class Deterministic(OfNumbers):
    """Always `loc`."""

    loc: Tensor

    def __init__(
        self,
        loc: Any,
        atol: Any = None,
        rtol: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Deterministic",
    ) -> None:
        super().__init__(name, (validate_args, allow_nan_stats), {"loc": loc})

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        return broadcast_to(self.loc, self._size(n))

    def _prob(self, x: Tensor) -> Tensor:
        prob: Tensor = cast(absolute(x - self.loc) <= 0.0, self.dtype)
        return prob

    def _entropy(self) -> Tensor:
        return zeros_like(self.loc)

    def _mean(self) -> Tensor:
        mean: Tensor = self.loc + 0.0
        return mean

    def _mode(self) -> Tensor:
        mode: Tensor = self.loc + 0.0
        return mode

    def _variance(self) -> Tensor:
        return zeros_like(self.loc)
