"""Distributions whose positive parameters are the softplus of what is given."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.api.math.unary import absolute, floor, softplus
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_tf_contrib.distributions.distribution import distribution_symbol
from byparts_tf_contrib.distributions.of_numbers import Laplace, Normal, StudentT
from byparts_tf_contrib.distributions.positive import Beta, Exponential, Gamma


def _positive(x: Any) -> Any:
    return softplus(convert_to_tensor(x))


@distribution_symbol("NormalWithSoftplusScale")
class NormalWithSoftplusScale(Normal):
    """A `Normal` with the scale softplus(scale)."""

    def __init__(self, loc: Any, scale: Any, *flags: Any, **named: Any) -> None:
        super().__init__(loc, _positive(scale), *flags, **named)


@distribution_symbol("LaplaceWithSoftplusScale")
class LaplaceWithSoftplusScale(Laplace):
    """A `Laplace` with the scale softplus(scale)."""

    def __init__(self, loc: Any, scale: Any, *flags: Any, **named: Any) -> None:
        super().__init__(loc, _positive(scale), *flags, **named)


@distribution_symbol("StudentTWithAbsDfSoftplusScale")
class StudentTWithAbsDfSoftplusScale(StudentT):
    """A `StudentT` with df = floor(|df|) and the scale softplus(scale)."""

    def __init__(self, df: Any, loc: Any, scale: Any, *flags: Any, **named: Any) -> None:
        whole = floor(absolute(convert_to_tensor(df)))
        super().__init__(whole, loc, _positive(scale), *flags, **named)


@distribution_symbol("ExponentialWithSoftplusRate")
class ExponentialWithSoftplusRate(Exponential):
    """An `Exponential` with the rate softplus(rate)."""

    def __init__(self, rate: Any, *flags: Any, **named: Any) -> None:
        super().__init__(_positive(rate), *flags, **named)


@distribution_symbol("GammaWithSoftplusConcentrationRate")
class GammaWithSoftplusConcentrationRate(Gamma):
    """A `Gamma` of the softplus of both parameters."""

    def __init__(self, concentration: Any, rate: Any, *flags: Any, **named: Any) -> None:
        super().__init__(_positive(concentration), _positive(rate), *flags, **named)


@distribution_symbol("BetaWithSoftplusConcentration")
class BetaWithSoftplusConcentration(Beta):
    """A `Beta` of the softplus of both parameters."""

    def __init__(self, concentration1: Any, concentration0: Any, *flags: Any, **named: Any) -> None:
        super().__init__(_positive(concentration1), _positive(concentration0), *flags, **named)
