"""The base of bijectors: functions with an inverse, whose change of volume is known.

A bijector says `_forward`, `_inverse`, and one of the two logarithms of the Jacobian's determinant
for an event of its least rank; here they are summed over events of a higher rank.  What was
computed from a tensor is kept, so that the inverse of a result is the very argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from byparts_frontend_tf.api.constant import ones
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import F, symbol
from byparts_tf_files.shape import TensorShape

_PLACE = "contrib.distributions.bijectors."


def bijector_symbol(*names: str) -> Callable[[F], F]:
    """The class or function below is these names of contrib's bijectors."""
    return symbol(*[_PLACE + name for name in names])


@bijector_symbol("Bijector", "ConditionalBijector")
class Bijector:
    """A function with an inverse.

    Attributes:
        forward_min_event_ndims: the least rank of what it is applied to as a whole.
        inverse_min_event_ndims: likewise, of its results.
        name: its name scope.
    """

    def __init__(
        self,
        graph_parents: Any = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        dtype: Any = None,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str | None = None,
    ) -> None:
        if forward_min_event_ndims is None and inverse_min_event_ndims is None:
            raise ValueError(
                "Must specify at least one of `forward_min_event_ndims` and "
                "`inverse_min_event_ndims`."
            )
        first, last = forward_min_event_ndims, inverse_min_event_ndims
        self.forward_min_event_ndims: int = last if first is None else first  # type: ignore[assignment]  # one is given
        self.inverse_min_event_ndims: int = first if last is None else last  # type: ignore[assignment]  # likewise
        self.graph_parents, self.dtype = list(graph_parents or ()), dtype
        self.is_constant_jacobian, self.validate_args = is_constant_jacobian, validate_args
        self.name = name or type(self).__name__.lower()
        self._pairs: list[tuple[Any, Any]] = []  # of arguments and results

    # What a class says

    def _forward(self, x: Any) -> Any:
        raise NotImplementedError("forward not implemented")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError("inverse not implemented")

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return input_shape

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        return output_shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return input_shape

    # Functions

    def forward(self, x: Any, name: str = "forward", **condition: Any) -> Any:
        """The value of the function at x."""
        with name_scope(f"{self.name}/{name}"):
            argument = convert_to_tensor(x)
            value = self._known(0, argument, condition)
            if value is None:
                value = self._forward(argument, **condition)
                self._keep(argument, value, condition)
            return value

    def inverse(self, y: Any, name: str = "inverse", **condition: Any) -> Any:
        """The argument whose value this is."""
        with name_scope(f"{self.name}/{name}"):
            value = convert_to_tensor(y)
            argument = self._known(1, value, condition)
            if argument is None:
                argument = self._inverse(value, **condition)
                self._keep(argument, value, condition)
            return argument

    def _known(self, side: int, tensor: Any, condition: Any) -> Any:
        if condition:
            return None
        return next((pair[1 - side] for pair in self._pairs if pair[side] is tensor), None)

    def _keep(self, x: Any, y: Any, condition: Any) -> None:
        if not condition and x is not y:
            self._pairs.append((x, y))

    def forward_log_det_jacobian(
        self, x: Any, event_ndims: Any, name: str = "forward_log_det_jacobian", **condition: Any
    ) -> Any:
        """The logarithm of how much it stretches volumes, for events of this rank."""
        with name_scope(f"{self.name}/{name}"):
            argument, least = convert_to_tensor(x), self.forward_min_event_ndims
            if hasattr(self, "_forward_log_det_jacobian"):
                log_det = self._forward_log_det_jacobian(argument, **condition)
                return self._summed(argument, log_det, least, int(event_ndims))
            y = self.forward(argument, **condition)
            own: Any = self
            log_det = -own._inverse_log_det_jacobian(y, **condition)
            ndims = int(event_ndims) + self.inverse_min_event_ndims - least
            return self._summed(y, log_det, self.inverse_min_event_ndims, ndims)

    def inverse_log_det_jacobian(
        self, y: Any, event_ndims: Any, name: str = "inverse_log_det_jacobian", **condition: Any
    ) -> Any:
        """Likewise, of the inverse."""
        with name_scope(f"{self.name}/{name}"):
            value, least = convert_to_tensor(y), self.inverse_min_event_ndims
            if hasattr(self, "_inverse_log_det_jacobian"):
                log_det = self._inverse_log_det_jacobian(value, **condition)
                return self._summed(value, log_det, least, int(event_ndims))
            x = self.inverse(value, **condition)
            own: Any = self
            log_det = -own._forward_log_det_jacobian(x, **condition)
            ndims = int(event_ndims) + self.forward_min_event_ndims - least
            return self._summed(x, log_det, self.forward_min_event_ndims, ndims)

    def _summed(self, x: Any, logs: Any, least: int, ndims: int) -> Any:
        """Sum logarithms for events of the least rank over events of rank `ndims`."""
        if ndims < least:
            raise ValueError(f"event_ndims ({ndims}) must be at least {least}: {self.name}")
        logs = convert_to_tensor(logs, x.dtype.base_dtype)
        if ndims == least:
            return logs
        rank = x.shape.ndims
        over = shape_of(x)[rank - ndims : rank - least]
        axes = list(range(least - ndims, 0))
        return reduce_sum(ones(over, logs.dtype.base_dtype) * logs, axes)

    def forward_event_shape(self, input_shape: Any) -> TensorShape:
        """The shape that an event becomes."""
        return self._forward_event_shape(TensorShape(input_shape))

    def inverse_event_shape(self, output_shape: Any) -> TensorShape:
        """The shape that an event comes from."""
        return self._inverse_event_shape(TensorShape(output_shape))

    def forward_event_shape_tensor(self, input_shape: Any, name: str = "shape") -> Any:
        """The shape as of `forward_event_shape`, of a tensor and as a tensor."""
        return self._forward_event_shape_tensor(convert_to_tensor(input_shape))


@bijector_symbol("Invert")
class Invert(Bijector):
    """The inverse of another bijector."""

    def __init__(
        self, bijector: Bijector, validate_args: bool = False, name: str | None = None
    ) -> None:
        self.bijector = bijector
        super().__init__(
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            name=name or f"invert_{bijector.name}",
        )

    def _forward(self, x: Any, **condition: Any) -> Any:
        return self.bijector.inverse(x, **condition)

    def _inverse(self, y: Any, **condition: Any) -> Any:
        return self.bijector.forward(y, **condition)

    def _forward_log_det_jacobian(self, x: Any, **condition: Any) -> Any:
        least = self.forward_min_event_ndims
        return self.bijector.inverse_log_det_jacobian(x, least, **condition)

    def _inverse_log_det_jacobian(self, y: Any, **condition: Any) -> Any:
        least = self.inverse_min_event_ndims
        return self.bijector.forward_log_det_jacobian(y, least, **condition)


@bijector_symbol("Chain")
class Chain(Bijector):
    """Bijectors one after the other, the last of the list first."""

    def __init__(
        self, bijectors: Any = None, validate_args: bool = False, name: str | None = None
    ) -> None:
        self.bijectors = list(bijectors or ())
        least = max([b.forward_min_event_ndims for b in self.bijectors], default=0)
        usual = "_of_".join(["chain", *[b.name for b in self.bijectors]]) or "identity"
        super().__init__(forward_min_event_ndims=least, name=name or usual)

    def _forward(self, x: Any) -> Any:
        for bijector in reversed(self.bijectors):
            x = bijector.forward(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for bijector in self.bijectors:
            y = bijector.inverse(y)
        return y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        total: Any = 0.0
        for bijector in self.bijectors:
            total = total + bijector.inverse_log_det_jacobian(y, self.inverse_min_event_ndims)
            y = bijector.inverse(y)
        return total

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        total: Any = 0.0
        for bijector in reversed(self.bijectors):
            total = total + bijector.forward_log_det_jacobian(x, self.forward_min_event_ndims)
            x = bijector.forward(x)
        return total
