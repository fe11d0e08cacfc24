"""Keras's optimizers by their names; SGD, and those of `tf.train` in Keras's manner."""

from __future__ import annotations

from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.api.train.row_updates import Rule
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_keras.adam_optimizers import Adam, Adamax, Nadam
from byparts_tf_keras.adaptive_optimizers import Adadelta, Adagrad, RMSprop
from byparts_tf_keras.objects import finder, serialize as _serialize
from byparts_tf_keras.optimizer import Optimizer
from byparts_tf_keras.state import track_variable

_PLAIN = Rule("KerasDescent", lambda var, rate, grad: var - rate * grad)


def _keras_momentum(
    var: Value, accum: Value, rate: Value, momentum: Value, grad: Value
) -> tuple[Value, Value]:
    new = accum * momentum - rate * grad
    return var + new, new


def _keras_nesterov(
    var: Value, accum: Value, rate: Value, momentum: Value, grad: Value
) -> tuple[Value, Value]:
    new = accum * momentum - rate * grad
    return var + new * momentum - rate * grad, new


_MOMENTUM = Rule("KerasMomentum", _keras_momentum, 2)
_NESTEROV = Rule("KerasNesterov", _keras_nesterov, 2)


@symbol("keras.optimizers.SGD")
class SGD(Optimizer):
    """Gradient descent, with momentum, or Nesterov's."""

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: Any = 0.0,
        nesterov: bool = False,
        name: str = "SGD",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._hyper["learning_rate"] = kwargs.get("lr", learning_rate)
        self._hyper["decay"] = self._initial_decay
        if isinstance(momentum, (int, float)) and not 0 <= momentum <= 1:
            raise ValueError("`momentum` must be between [0, 1].")
        self._hyper["momentum"] = momentum
        self._moves = not isinstance(momentum, (int, float)) or momentum > 0
        self.nesterov = nesterov
        self.slots = ("momentum",) if self._moves else ()

    def _rule(self) -> Any:
        return (_NESTEROV if self.nesterov else _MOMENTUM) if self._moves else _PLAIN

    def _rates(self, dtype: Any) -> list[Any]:
        return [self._decayed_lr(dtype), *([self._get_hyper("momentum")] if self._moves else [])]


class TFOptimizer(Optimizer):
    """An optimizer of `tf.train` in the place of one of Keras's."""

    def __init__(self, optimizer: Any) -> None:
        super().__init__("TFOptimizer")
        self.optimizer = optimizer

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        """Operations that take one step."""
        pairs = self.optimizer.compute_gradients(loss, params)
        before = len(tf.global_variables())
        update = self.optimizer.apply_gradients(pairs, global_step=self.iterations)
        for v in tf.global_variables()[before:]:
            track_variable(v)
        return [update]

    def get_config(self) -> dict[str, Any]:
        """Refused.

        Raises:
            NotImplementedError: an optimizer of `tf.train` has no configuration.
        """
        raise NotImplementedError


_NAMED = {k.__name__.lower(): k for k in (SGD, RMSprop, Adagrad, Adadelta, Adam, Adamax, Nadam)}
_find = finder(lambda: {**_NAMED, **{k.__name__: k for k in _NAMED.values()}}, "optimizer")


@symbol("keras.optimizers.get", "keras.optimizers.deserialize")
def get(identifier: Any, custom_objects: Any = None) -> Any:
    """The optimizer of this name or configuration; one of `tf.train` is wrapped.

    Raises:
        ValueError: there is none.
    """
    if isinstance(identifier, Optimizer):
        return identifier
    if isinstance(identifier, tf.train.Optimizer):
        return TFOptimizer(identifier)
    if isinstance(identifier, str):
        identifier = identifier.lower() if identifier.lower() in _NAMED else identifier
    if isinstance(identifier, dict) and identifier.get("class_name", "").lower() in _NAMED:
        identifier = {**identifier, "class_name": identifier["class_name"].lower()}
    if not isinstance(identifier, (str, dict)):
        raise ValueError(f"Could not interpret optimizer identifier: {identifier}")
    return _find(identifier, custom_objects)


@symbol("keras.optimizers.serialize")
def serialize(optimizer: Any) -> Any:
    """Class and arguments of an optimizer, as data."""
    return _serialize(optimizer)
