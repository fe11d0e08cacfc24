"""The base of distributions, and the divergence between two of them.

A distribution says `_log_prob` (or `_prob`), `_sample_n`, `_mean`, ... of its own; the functions
without an underscore put them in a name scope and into shape.  Its batch shape is that of its
parameters, its event shape that of one draw.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.math.binary import subtract
from byparts_frontend_tf.api.math.reduce import reduce_prod
from byparts_frontend_tf.api.math.unary import exp, log, sqrt, square
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.graph.convert import convert_to_tensor, shape_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_dims
from byparts_frontend_tf.symbols import F, symbol
from byparts_tf_files.dtypes import DType, as_dtype
from byparts_tf_files.shape import TensorShape

_PLACES = ("distributions.", "contrib.distributions.")


def distribution_symbol(*names: str) -> Callable[[F], F]:
    """The class or function below is these names of `tf.distributions` and of contrib's."""
    return symbol(*[place + name for place in _PLACES for name in names])


@distribution_symbol("ReparameterizationType")
class ReparameterizationType:
    """Whether gradients pass from draws to parameters."""

    def __init__(self, rep_type: str) -> None:
        self._name = rep_type

    def __repr__(self) -> str:
        return f"<Reparameteriation Type: {self._name}>"


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


@distribution_symbol("Distribution")
class Distribution:
    """A distribution over tensors.

    Attributes:
        dtype: of draws.
        name: its name scope.
        parameters: what it was made with.
    """

    def __init__(
        self,
        dtype: Any,
        reparameterization_type: Any = NOT_REPARAMETERIZED,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        parameters: Optional[dict[str, Any]] = None,
        graph_parents: Any = None,
        name: Optional[str] = None,
    ) -> None:
        self.dtype: DType = as_dtype(dtype)
        self.reparameterization_type = reparameterization_type
        self.validate_args, self.allow_nan_stats = validate_args, allow_nan_stats
        self.parameters = dict(parameters or {})
        self.name = name or type(self).__name__

    # What a class says

    def _batch_shape_tensor(self) -> Any:
        return np.zeros(0, np.int32)

    def _event_shape_tensor(self) -> Any:
        return np.zeros(0, np.int32)

    def _batch_shape(self) -> TensorShape:
        return TensorShape(static_dims(shape_tensor(self._batch_shape_tensor())))

    def _event_shape(self) -> TensorShape:
        return TensorShape(static_dims(shape_tensor(self._event_shape_tensor())))

    # Shapes

    @property
    def batch_shape(self) -> TensorShape:
        """The shape of the parameters, as far as known."""
        return self._batch_shape()

    @property
    def event_shape(self) -> TensorShape:
        """The shape of one draw, as far as known."""
        return self._event_shape()

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape of its parameters."""
        return shape_tensor(self._batch_shape_tensor())

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Tensor:
        """The shape of one draw."""
        return shape_tensor(self._event_shape_tensor())

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> bool:
        """Whether the distribution has a single set of parameters."""
        return self.batch_shape.ndims == 0

    def is_scalar_event(self, name: str = "is_scalar_event") -> bool:
        """Whether a draw is a number."""
        return self.event_shape.ndims == 0

    # Functions

    def sample(self, sample_shape: Any = (), seed: Any = None, name: str = "sample") -> Tensor:
        """Draws: [sample_shape, batch shape, event shape]."""
        with self._scope(name):
            size = shape_tensor(sample_shape)
            if size.dims == ():
                size = reshape(size, [1])
            known = static_dims(size)
            alone = known == ()
            count: Any = 1 if alone else reduce_prod(size)
            if known is not None and None not in known:
                count = int(np.prod(np.array(known, np.int64)))
            drawn = self._sample_n(count, seed)
            rest = [self.batch_shape_tensor(), self.event_shape_tensor()]
            draws = reshape(drawn, concat([size, *rest], 0))
            whole = (*(known or ()), *self._dims()) if known is not None else None
            if whole is not None and self.batch_shape.ndims is not None:
                draws.set_shape(whole)
            return draws

    def _dims(self) -> tuple[Optional[int], ...]:
        return (*(self.batch_shape._dims or ()), *(self.event_shape._dims or ()))

    def _scope(self, name: str) -> Any:
        return name_scope(f"{self.name.rstrip('/')}/{name}")

    def _as_draw(self, value: Any) -> Tensor:
        if hasattr(value, "dtype"):
            return convert_to_tensor(value, name="value")
        try:
            return convert_to_tensor(value, self.dtype, "value")
        except TypeError:  # numbers of classes may be floats
            return convert_to_tensor(value, name="value")

    def _either(self, name: str, other: str, by: Callable[..., Tensor], value: Any) -> Tensor:
        """A function, or the function `by` of another one that is said."""
        with self._scope(name):
            x = self._as_draw(value)
            own = getattr(self, f"_{name}", None)
            if own is None and hasattr(self, f"_{other}"):
                return by(getattr(self, f"_{other}")(x))
            if own is None:
                raise NotImplementedError(f"{name} is not implemented: {type(self).__name__}")
            result: Tensor = own(x)
            return result

    def log_prob(self, value: Any, name: str = "log_prob") -> Tensor:
        """The logarithm of the density or probability."""
        return self._either("log_prob", "prob", log, value)

    def prob(self, value: Any, name: str = "prob") -> Tensor:
        """The density or probability."""
        return self._either("prob", "log_prob", exp, value)

    def cdf(self, value: Any, name: str = "cdf") -> Tensor:
        """The probability of not more than this."""
        return self._either("cdf", "log_cdf", exp, value)

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Tensor:
        """The logarithm of `cdf`."""
        return self._either("log_cdf", "cdf", log, value)

    def survival_function(self, value: Any, name: str = "survival_function") -> Tensor:
        """The probability of more than this."""
        return subtract(1.0, self.cdf(value))

    def log_survival_function(self, value: Any, name: str = "log_survival_function") -> Tensor:
        """The logarithm of `survival_function`."""
        return log(self.survival_function(value))

    def quantile(self, value: Any, name: str = "quantile") -> Tensor:
        """The opposite of `cdf`."""
        return self._own("quantile", value)

    def _own(self, name: str, *arguments: Any) -> Tensor:
        with self._scope(name):
            own = getattr(self, f"_{name}", None)
            if own is None:
                raise NotImplementedError(f"{name} is not implemented: {type(self).__name__}")
            value: Tensor = own(*arguments)
            return value

    def entropy(self, name: str = "entropy") -> Tensor:
        """The mean of -log_prob."""
        return self._own("entropy")

    def mean(self, name: str = "mean") -> Tensor:
        """The mean of draws."""
        return self._own("mean")

    def mode(self, name: str = "mode") -> Tensor:
        """The likeliest draw."""
        return self._own("mode")

    def covariance(self, name: str = "covariance") -> Tensor:
        """The covariance of the elements of a draw."""
        return self._own("covariance")

    def variance(self, name: str = "variance") -> Tensor:
        """The variance of draws."""
        if not hasattr(self, "_variance") and hasattr(self, "_stddev"):
            return square(self.stddev())
        return self._own("variance")

    def stddev(self, name: str = "stddev") -> Tensor:
        """The root of the variance."""
        if not hasattr(self, "_stddev"):
            return sqrt(self.variance())
        return self._own("stddev")

    def cross_entropy(self, other: Distribution, name: str = "cross_entropy") -> Tensor:
        """The mean of -other.log_prob over its draws."""
        cross_entropy: Tensor = self.entropy() + kl_divergence(self, other)
        return cross_entropy

    def kl_divergence(self, other: Distribution, name: str = "kl_divergence") -> Tensor:
        """The divergence of another from this one."""
        return kl_divergence(self, other)

    def copy(self, **override_parameters_kwargs: Any) -> Distribution:
        """Another one with some parameters changed."""
        return type(self)(**{**self.parameters, **override_parameters_kwargs})

    def _sample_n(self, n: Any, seed: Any = None) -> Tensor:
        """Draws [n, batch shape, event shape]."""
        raise NotImplementedError(f"sample is not implemented: {type(self).__name__}")

    def __repr__(self) -> str:
        return (
            f"<tf.distributions.{type(self).__name__} '{self.name}' batch_shape={self.batch_shape} "
            f"event_shape={self.event_shape} dtype={self.dtype.name}>"
        )


def parameters(name: str, **values: Any) -> tuple[str, dict[str, Any]]:
    """The name scope of a distribution and its parameters as tensors of one dtype.

    Those that are `None` stay so.
    """
    dtype = next((v.dtype for v in values.values() if hasattr(v, "dtype")), None)
    with name_scope(name) as scope:
        tensors: dict[str, Any] = {}
        for key, value in values.items():
            hint = None if dtype is None or hasattr(value, "dtype") else as_dtype(dtype).base_dtype
            x = None if value is None else convert_to_tensor(value, hint, key)
            if x is not None and x.dtype.base_dtype.is_integer:
                x = convert_to_tensor(x) * 1
            tensors[key] = x
    return scope, tensors


_DIVERGENCES: dict[tuple[type, type], Callable[..., Tensor]] = {}


@distribution_symbol("RegisterKL")
class RegisterKL:
    """The function below is the divergence between distributions of these classes.

    Raises:
        ValueError: there is one.
    """

    def __init__(self, dist_cls_a: type, dist_cls_b: type) -> None:
        self._key = dist_cls_a, dist_cls_b

    def __call__(self, kl_fn: Callable[..., Tensor]) -> Callable[..., Tensor]:
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _DIVERGENCES:
            names = " || ".join([c.__name__ for c in self._key])
            raise ValueError(f"KL({names}) has already been registered")
        _DIVERGENCES[self._key] = kl_fn
        return kl_fn


@distribution_symbol("kl_divergence", "kl")
def kl_divergence(
    distribution_a: Distribution,
    distribution_b: Distribution,
    allow_nan_stats: bool = True,
    name: Optional[str] = None,
) -> Tensor:
    """The mean of log a - log b over draws of a.

    Raises:
        NotImplementedError: nobody said it for these two.
    """
    for a in type(distribution_a).__mro__:
        for b in type(distribution_b).__mro__:
            divergence = _DIVERGENCES.get((a, b))
            if divergence is not None:
                with name_scope(name, "KullbackLeibler"):
                    return divergence(distribution_a, distribution_b, name=None)
    raise NotImplementedError(
        f"No KL(distribution_a || distribution_b) registered for distribution_a type "
        f"{type(distribution_a).__name__} and distribution_b type {type(distribution_b).__name__}"
    )


SYMBOLS = {
    f"{place}{name}_REPARAMETERIZED": f"{name}_REPARAMETERIZED"
    for place in _PLACES
    for name in ("FULLY", "NOT")
}
