"""Distributions over numbers on both sides: normal, Laplace, uniform, Student's t."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import ones_like, zeros_like
from byparts_frontend_tf.api.math.binary import logical_and
from byparts_frontend_tf.api.math.gamma import digamma, lgamma
from byparts_frontend_tf.api.math.unary import (
    absolute,
    erfc,
    exp,
    log,
    log1p,
    rsqrt,
    sign,
    square,
)
from byparts_frontend_tf.api.random.gamma import random_gamma
from byparts_frontend_tf.api.random.random import random_normal, random_uniform
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.operation import Tensor
from byparts_tf_contrib.distributions.distribution import (
    FULLY_REPARAMETERIZED,
    Distribution,
    RegisterKL,
    distribution_symbol,
    parameters,
)

_HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)


class OfNumbers(Distribution):
    """A distribution whose parameters are tensors that are repeated to one shape.

    Args:
        given: the parameters, as attributes of these names.
    """

    def __init__(
        self, name: str, flags: tuple[bool, bool], arguments: dict[str, Any], **more: Any
    ) -> None:
        scope, tensors = parameters(name, **arguments)
        own = [t for t in tensors.values() if t is not None]
        more.setdefault("dtype", own[0].dtype.base_dtype)
        more.setdefault("reparameterization_type", FULLY_REPARAMETERIZED)
        kept = {**arguments, "validate_args": flags[0], "allow_nan_stats": flags[1], "name": name}
        super().__init__(
            validate_args=flags[0], allow_nan_stats=flags[1], parameters=kept, name=scope, **more
        )
        for key, t in tensors.items():
            setattr(self, f"_{key}" if hasattr(type(self), key) else key, t)
        self._whole: Tensor = sum_of(own)

    def _batch_shape_tensor(self) -> Tensor:
        return shape_of(self._whole)

    def _size(self, n: Any) -> Tensor:
        return concat([[n], self._batch_shape_tensor()], 0)

    def _spread(self, x: Tensor) -> Tensor:
        """A parameter in the shape of all."""
        spread: Tensor = x + zeros_like(self._whole)
        return spread

    def _uniform(self, n: Any, seed: Any, low: Any = 0.0) -> Tensor:
        """Numbers above `low`, which is 0 or -1, and below 1."""
        return random_uniform(self._size(n), low, 1.0, self.dtype, seed)


def sum_of(tensors: list[Tensor]) -> Tensor:
    """The sum of tensors, repeated to one shape."""
    total = tensors[0]
    for t in tensors[1:]:
        total = total + t
    return total


@distribution_symbol("Normal")
class Normal(OfNumbers):
    """Normal numbers around `loc` with the standard deviation `scale`."""

    loc: Tensor
    scale: Tensor

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Normal",
    ) -> None:
        super().__init__(name, (validate_args, allow_nan_stats), {"loc": loc, "scale": scale})

    def _z(self, x: Tensor) -> Tensor:
        z: Tensor = (x - self.loc) / self.scale
        return z

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        drawn = random_normal(self._size(n), dtype=self.dtype, seed=seed)
        draws: Tensor = drawn * self.scale + self.loc
        return draws

    def _log_prob(self, x: Tensor) -> Tensor:
        log_prob: Tensor = -0.5 * square(self._z(x)) - (_HALF_LOG_2_PI + log(self.scale))
        return log_prob

    def _cdf(self, x: Tensor) -> Tensor:
        cdf: Tensor = 0.5 * erfc(-self._z(x) / math.sqrt(2.0))
        return cdf

    def _entropy(self) -> Tensor:
        entropy: Tensor = 0.5 + _HALF_LOG_2_PI + log(self._spread(self.scale) - 0.0 * self.loc)
        return entropy

    def _mean(self) -> Tensor:
        mean: Tensor = self.loc * ones_like(self.scale)
        return mean

    def _mode(self) -> Tensor:
        return self._mean()

    def _stddev(self) -> Tensor:
        stddev: Tensor = self.scale * ones_like(self.loc)
        return stddev


@RegisterKL(Normal, Normal)
def _normals(a: Normal, b: Normal, name: Any = None) -> Tensor:
    ratio = square(a.scale / b.scale)
    distance = square(a.loc - b.loc) / (2.0 * square(b.scale))
    divergence: Tensor = distance + 0.5 * (ratio - 1.0 - log(ratio))
    return divergence


@distribution_symbol("Laplace")
class Laplace(OfNumbers):
    """Numbers around `loc`, with the density exp(-|x - loc| / scale) / (2 scale)."""

    loc: Tensor
    scale: Tensor

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Laplace",
    ) -> None:
        super().__init__(name, (validate_args, allow_nan_stats), {"loc": loc, "scale": scale})

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        least = np.nextafter(self.dtype.as_numpy_dtype(-1.0), self.dtype.as_numpy_dtype(0.0))
        u = self._uniform(n, seed, float(least))
        draws: Tensor = self.loc - self.scale * sign(u) * log1p(-absolute(u))
        return draws

    def _z(self, x: Tensor) -> Tensor:
        z: Tensor = (x - self.loc) / self.scale
        return z

    def _log_prob(self, x: Tensor) -> Tensor:
        log_prob: Tensor = -absolute(self._z(x)) - math.log(2.0) - log(self.scale)
        return log_prob

    def _cdf(self, x: Tensor) -> Tensor:
        z = self._z(x)
        cdf: Tensor = 0.5 * (1.0 + sign(z) * (1.0 - exp(-absolute(z))))
        return cdf

    def _entropy(self) -> Tensor:
        entropy: Tensor = math.log(2.0) + 1 + log(self.scale + zeros_like(self.loc))
        return entropy

    def _mean(self) -> Tensor:
        return self._spread(self.loc)

    def _mode(self) -> Tensor:
        return self._mean()

    def _stddev(self) -> Tensor:
        return math.sqrt(2.0) * self._spread(self.scale)  # type: ignore[no-any-return]


@RegisterKL(Laplace, Laplace)
def _laplaces(a: Laplace, b: Laplace, name: Any = None) -> Tensor:
    distance = absolute(a.loc - b.loc)
    divergence: Tensor = (
        -log(a.scale / b.scale)
        + distance / b.scale
        + a.scale / b.scale * exp(-distance / a.scale)
        - 1.0
    )
    return divergence


@distribution_symbol("Uniform")
class Uniform(OfNumbers):
    """Numbers of [low, high), all alike likely."""

    low: Tensor
    high: Tensor

    def __init__(
        self,
        low: Any = 0.0,
        high: Any = 1.0,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Uniform",
    ) -> None:
        super().__init__(name, (validate_args, allow_nan_stats), {"low": low, "high": high})

    def range(self, name: str = "range") -> Tensor:
        """high - low."""
        extent: Tensor = self.high - self.low
        return extent

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        draws: Tensor = self.low + self.range() * self._uniform(n, seed)
        return draws

    def _prob(self, x: Tensor) -> Tensor:
        inside = logical_and(x >= self.low, x < self.high)
        prob: Tensor = cast(inside, self.dtype) * ones_like(self._whole) / self.range()
        return prob

    def _cdf(self, x: Tensor) -> Tensor:
        whole = x + zeros_like(self._whole)
        part = (whole - self.low) / self.range()
        return where(
            whole < self.low, zeros_like(part), where(whole >= self.high, ones_like(part), part)
        )

    def _entropy(self) -> Tensor:
        return log(self.range())

    def _mean(self) -> Tensor:
        mean: Tensor = (self.low + self.high) / 2.0
        return mean

    def _stddev(self) -> Tensor:
        stddev: Tensor = self.range() / math.sqrt(12.0)
        return stddev


@RegisterKL(Uniform, Uniform)
def _uniforms(a: Uniform, b: Uniform, name: Any = None) -> Tensor:
    within = logical_and(b.low <= a.low, a.high <= b.high)
    value = log(b.range()) - log(a.range())
    return where(within, value, zeros_like(value) + np.inf)


@distribution_symbol("StudentT")
class StudentT(OfNumbers):
    """Student's t with `df` degrees of freedom, times `scale`, around `loc`."""

    df: Tensor
    loc: Tensor
    scale: Tensor

    def __init__(
        self,
        df: Any,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentT",
    ) -> None:
        arguments = {"df": df, "loc": loc, "scale": scale}
        super().__init__(name, (validate_args, allow_nan_stats), arguments)

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        normal = random_normal(self._size(n), dtype=self.dtype, seed=seed)
        df = self.df + 0.0 * self._whole
        chi = random_gamma([n], 0.5 * df, 0.5 * ones_like(df), self.dtype, seed)
        draws: Tensor = normal * rsqrt(chi / df) * self.scale + self.loc
        return draws

    def _log_prob(self, x: Tensor) -> Tensor:
        y = (x - self.loc) / self.scale
        half = 0.5 * self.df
        norm = log(absolute(self.scale)) + 0.5 * log(self.df) + 0.5 * math.log(math.pi)
        norm += lgamma(half) - lgamma(half + 0.5)
        log_prob: Tensor = -0.5 * (self.df + 1.0) * log1p(square(y) / self.df) - norm
        return log_prob

    def _entropy(self) -> Tensor:
        half, more = 0.5 * self.df, 0.5 * (self.df + 1.0)
        beta = lgamma(half) + math.lgamma(0.5) - lgamma(more)
        entropy: Tensor = (
            log(absolute(self.scale) + zeros_like(self._whole))
            + 0.5 * log(self.df)
            + beta
            + more * (digamma(more) - digamma(half))
        )
        return entropy

    def _mean(self) -> Tensor:
        mean = self.loc + 0.0 * self._whole
        return where(self.df + zeros_like(mean) > 1.0, mean, zeros_like(mean) + np.nan)

    def _mode(self) -> Tensor:
        mode: Tensor = self.loc + 0.0
        return mode

    def _variance(self) -> Tensor:
        df = self.df + zeros_like(self._whole)
        finite = square(self.scale) * df / where(df > 2.0, df - 2.0, ones_like(df))
        large = where(df > 2.0, finite, zeros_like(df) + np.inf)
        return where(df > 1.0, large, zeros_like(df) + np.nan)
