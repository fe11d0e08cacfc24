"""`TransformedDistribution`: what a bijector makes of the draws of a distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_tf_contrib.bijectors.bijector import Bijector
from byparts_tf_contrib.bijectors.elementwise import Identity
from byparts_tf_contrib.distributions.distribution import Distribution, distribution_symbol
from byparts_tf_files.shape import TensorShape


@distribution_symbol("TransformedDistribution")
class TransformedDistribution(Distribution):
    """y = bijector(x) of draws x.

    Args:
        distribution: of x.
        bijector: makes y of x.
        batch_shape: refused.
        event_shape: of one draw, where the distribution is over numbers and has no batch.
        validate_args: accepted.
        name: its name scope.

    Raises:
        NotImplementedError: a shape is given that the distribution cannot have.
    """

    def __init__(
        self,
        distribution: Distribution,
        bijector: Bijector | None = None,
        batch_shape: Any = None,
        event_shape: Any = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        self.distribution, self.bijector = distribution, bijector or Identity()
        self._extra = [] if event_shape is None else [int(d) for d in np.reshape(event_shape, -1)]
        alone = distribution.batch_shape.ndims == 0 and distribution.event_shape.ndims == 0
        if batch_shape is not None or (self._extra and not alone):
            raise NotImplementedError("TransformedDistribution: batch_shape is not here")
        super().__init__(
            distribution.dtype,
            distribution.reparameterization_type,
            validate_args,
            distribution.allow_nan_stats,
            {"distribution": distribution, "bijector": self.bijector, "event_shape": event_shape},
            name=name or self.bijector.name + distribution.name.rstrip("/").rpartition("/")[2],
        )

    def _batch_shape_tensor(self) -> Any:
        return self.distribution.batch_shape_tensor()

    def _event_shape_tensor(self) -> Any:
        own = self.distribution.event_shape_tensor()
        return self.bijector.forward_event_shape_tensor(self._extra if self._extra else own)

    def _event_shape(self) -> TensorShape:
        own = self.distribution.event_shape
        return self.bijector.forward_event_shape(self._extra if self._extra else own)

    def _rank(self) -> int:
        return len(self._extra) or self.distribution.event_shape.ndims or 0

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        size = concat([[n], self._extra], 0) if self._extra else n
        return self.bijector.forward(self.distribution.sample(size, seed))

    def _own_log_prob(self, x: Any) -> Any:
        log_prob = self.distribution.log_prob(x)
        return reduce_sum(log_prob, list(range(-len(self._extra), 0))) if self._extra else log_prob

    def _log_prob(self, y: Any) -> Any:
        x = self.bijector.inverse(y)
        ndims = self.event_shape.ndims
        change = self.bijector.inverse_log_det_jacobian(y, self._rank() if ndims is None else ndims)
        return change + self._own_log_prob(x)

    def _cdf(self, y: Any) -> Any:
        return self.distribution.cdf(self.bijector.inverse(y))

    def _mean(self) -> Any:
        if not self.bijector.is_constant_jacobian:
            raise NotImplementedError("mean is not implemented for non-affine bijectors")
        return self.bijector.forward(self.distribution.mean())
