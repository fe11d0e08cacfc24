"""Distributions over vectors, and distributions made of others."""

from __future__ import annotations

import math
from typing import Any

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import ones_like, zeros_like
from byparts_frontend_tf.api.linalg.diag import matrix_diag, matrix_diag_part
from byparts_frontend_tf.api.linalg.linear_operators import LinearOperatorDiag
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.linalg.solve import cholesky, matrix_triangular_solve
from byparts_frontend_tf.api.math.gamma import digamma, lbeta
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.math.unary import absolute, log, softplus, square
from byparts_frontend_tf.api.random.gamma import random_gamma
from byparts_frontend_tf.api.random.random import random_normal
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.transpose import matrix_transpose
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_tf_contrib.distributions.distribution import (
    FULLY_REPARAMETERIZED,
    Distribution,
    RegisterKL,
    distribution_symbol,
    kl_divergence,
    parameters,
)
from byparts_tf_contrib.distributions.of_numbers import Normal, OfNumbers


class _OfVectors(OfNumbers):
    """A distribution whose parameters' last axis is that of a draw."""

    def _batch_shape_tensor(self) -> Tensor:
        shape: Tensor = shape_of(self._whole)[:-1]
        return shape

    def _event_shape_tensor(self) -> Tensor:
        shape: Tensor = shape_of(self._whole)[-1:]
        return shape


@distribution_symbol("Dirichlet")
class Dirichlet(_OfVectors):
    """Positive numbers whose sum is 1."""

    concentration: Tensor

    def __init__(
        self,
        concentration: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Dirichlet",
    ) -> None:
        flags = validate_args, allow_nan_stats
        super().__init__(name, flags, {"concentration": concentration})

    @property
    def total_concentration(self) -> Tensor:
        """The sum of all."""
        return reduce_sum(self.concentration, -1)

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        drawn = random_gamma([n], self.concentration, None, self.dtype, seed)
        draws: Tensor = drawn / reduce_sum(drawn, -1, True)
        return draws

    def _log_prob(self, x: Tensor) -> Tensor:
        a = self.concentration
        log_prob: Tensor = reduce_sum((a - 1.0) * log(x), -1) - lbeta(a)
        return log_prob

    def _entropy(self) -> Tensor:
        a, total = self.concentration, self.total_concentration
        count = cast(shape_of(a)[-1], self.dtype)
        entropy: Tensor = (
            lbeta(a) + (total - count) * digamma(total) - reduce_sum((a - 1.0) * digamma(a), -1)
        )
        return entropy

    def _mean(self) -> Tensor:
        mean: Tensor = self.concentration / self.total_concentration[..., None]
        return mean

    def _variance(self) -> Tensor:
        mean, total = self._mean(), self.total_concentration[..., None]
        variance: Tensor = mean * (1.0 - mean) / (1.0 + total)
        return variance


@RegisterKL(Dirichlet, Dirichlet)
def _dirichlets(a: Dirichlet, b: Dirichlet, name: Any = None) -> Tensor:
    slope = digamma(a.concentration) - digamma(a.total_concentration[..., None])
    divergence: Tensor = reduce_sum((a.concentration - b.concentration) * slope, -1)
    return divergence - lbeta(a.concentration) + lbeta(b.concentration)  # type: ignore[no-any-return]


@distribution_symbol("MultivariateNormalDiag")
class MultivariateNormalDiag(_OfVectors):
    """Normal vectors around `loc`, whose elements are independent."""

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ) -> None:
        arguments = {"loc": loc, "diag": scale_diag, "times": scale_identity_multiplier}
        if loc is None and scale_diag is None:
            raise ValueError("Must specify one or both of `loc`, `scale_diag`.")
        _, tensors = parameters(name, **arguments)
        diag = tensors["diag"]
        if diag is None:
            diag = ones_like(tensors["loc"])
            if tensors["times"] is not None:
                diag = diag * tensors["times"][..., None]
        elif tensors["times"] is not None:
            diag = diag + tensors["times"][..., None]
        where_ = zeros_like(diag) if tensors["loc"] is None else tensors["loc"]
        flags = validate_args, allow_nan_stats
        super().__init__(name, flags, {"loc": where_, "scale_diag": diag})

    loc: Tensor
    scale_diag: Tensor

    @property
    def scale(self) -> Any:
        """The scale, as an operator that has `diag_part`, `to_dense` and the like."""
        return LinearOperatorDiag(self.scale_diag)

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        size = concat([[n], shape_of(self._whole)], 0)
        drawn = random_normal(size, dtype=self.dtype, seed=seed)
        draws: Tensor = drawn * self.scale_diag + self.loc
        return draws

    def _normal(self) -> Normal:
        return Normal(self.loc + 0.0 * self._whole, self.scale_diag + 0.0 * self._whole)

    def _log_prob(self, x: Tensor) -> Tensor:
        z = (x - self.loc) / self.scale_diag
        size = log(absolute(self.scale_diag)) + 0.0 * self._whole
        log_prob: Tensor = reduce_sum(-0.5 * square(z) - 0.5 * math.log(2.0 * math.pi) - size, -1)
        return log_prob

    def _entropy(self) -> Tensor:
        size = log(absolute(self.scale_diag)) + 0.0 * self._whole
        return reduce_sum(0.5 + 0.5 * math.log(2.0 * math.pi) + size, -1)

    def _mean(self) -> Tensor:
        mean: Tensor = self.loc + 0.0 * self._whole
        return mean

    def _mode(self) -> Tensor:
        return self._mean()

    def _stddev(self) -> Tensor:
        stddev: Tensor = absolute(self.scale_diag) + 0.0 * self._whole
        return stddev

    def _covariance(self) -> Tensor:
        return matrix_diag(square(self._stddev()))


@RegisterKL(MultivariateNormalDiag, MultivariateNormalDiag)
def _diagonals(a: MultivariateNormalDiag, b: MultivariateNormalDiag, name: Any = None) -> Tensor:
    return reduce_sum(kl_divergence(a._normal(), b._normal()), -1)


@distribution_symbol("MultivariateNormalDiagWithSoftplusScale")
class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """A `MultivariateNormalDiag` with the scale softplus(scale_diag)."""

    def __init__(self, loc: Any, scale_diag: Any, *flags: Any, **named: Any) -> None:
        super().__init__(loc, softplus(convert_to_tensor(scale_diag)), None, *flags, **named)


@distribution_symbol("MultivariateNormalTriL")
class MultivariateNormalTriL(Distribution):
    """Normal vectors around `loc` with the covariance scale_tril scale_tril^T."""

    def __init__(
        self,
        loc: Any = None,
        scale_tril: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalTriL",
    ) -> None:
        arguments = {"loc": loc, "scale_tril": scale_tril}
        scope, tensors = parameters(name, **arguments)
        self.scale_tril: Tensor = tensors["scale_tril"]
        self.loc: Tensor = (
            zeros_like(self.scale_tril[..., 0]) if tensors["loc"] is None else tensors["loc"]
        )
        super().__init__(
            self.scale_tril.dtype.base_dtype,
            FULLY_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            {**arguments, "name": name},
            name=scope,
        )
        self._whole: Tensor = self.loc + 0.0 * self.scale_tril[..., 0]

    def _batch_shape_tensor(self) -> Tensor:
        shape: Tensor = shape_of(self._whole)[:-1]
        return shape

    def _event_shape_tensor(self) -> Tensor:
        shape: Tensor = shape_of(self._whole)[-1:]
        return shape

    def _factor(self) -> Tensor:
        """The factor, for each of the batch."""
        factor: Tensor = self.scale_tril + 0.0 * self._whole[..., None]
        return factor

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        size = concat([[n], shape_of(self._whole)], 0)
        drawn = random_normal(size, dtype=self.dtype, seed=seed)
        draws: Tensor = matmul(self._factor(), drawn[..., None])[..., 0] + self.loc
        return draws

    def _log_size(self) -> Tensor:
        return reduce_sum(log(absolute(matrix_diag_part(self._factor()))), -1)

    def _norm(self) -> Tensor:
        count = cast(shape_of(self._whole)[-1], self.dtype)
        norm: Tensor = self._log_size() + 0.5 * math.log(2.0 * math.pi) * count
        return norm

    def _log_prob(self, x: Tensor) -> Tensor:
        away = x - self.loc
        factor = self._factor() + 0.0 * away[..., None]
        z = matrix_triangular_solve(factor, away[..., None])[..., 0]
        log_prob: Tensor = -0.5 * reduce_sum(square(z), -1) - self._norm()
        return log_prob

    def _entropy(self) -> Tensor:
        entropy: Tensor = self._norm() + 0.5 * cast(shape_of(self._whole)[-1], self.dtype)
        return entropy

    def _mean(self) -> Tensor:
        mean: Tensor = self._whole + 0.0
        return mean

    def _mode(self) -> Tensor:
        return self._mean()

    def _covariance(self) -> Tensor:
        return matmul(self._factor(), matrix_transpose(self._factor()))

    def _variance(self) -> Tensor:
        return matrix_diag_part(self._covariance())


@RegisterKL(MultivariateNormalTriL, MultivariateNormalTriL)
def _triangles(a: MultivariateNormalTriL, b: MultivariateNormalTriL, name: Any = None) -> Tensor:
    ratio = matrix_triangular_solve(b._factor(), a._factor())
    away = matrix_triangular_solve(b._factor(), (b.loc - a.loc)[..., None])
    count = cast(shape_of(a._whole)[-1], a.dtype)
    squares = reduce_sum(square(ratio), [-2, -1]) + reduce_sum(square(away), [-2, -1])
    divergence: Tensor = b._log_size() - a._log_size() + 0.5 * (squares - count)
    return divergence


@distribution_symbol("MultivariateNormalFullCovariance")
class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """Normal vectors around `loc` with this covariance."""

    def __init__(
        self,
        loc: Any = None,
        covariance_matrix: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalFullCovariance",
    ) -> None:
        factor = cholesky(convert_to_tensor(covariance_matrix))
        super().__init__(loc, factor, validate_args, allow_nan_stats, name)
