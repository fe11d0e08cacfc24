"""Keras's optimizers with a rate for each weight: RMSprop, Adagrad, Adadelta."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import byparts_frontend_tf as tf
import byparts_opset as ops
from byparts_frontend_tf.api.train.adagrad import _adadelta
from byparts_frontend_tf.api.train.row_updates import Rule
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_keras.optimizer import Optimizer


def _keras_rms(var: Value, rms: Value, rate: Value, rho: Value, eps: Value, grad: Value) -> Any:
    new = rho * rms + (1.0 - rho) * ops.square(grad)
    return var - rate * grad / (ops.sqrt(new) + eps), new


def _keras_centered(
    var: Value, rms: Value, mg: Value, rate: Value, rho: Value, eps: Value, grad: Value
) -> Any:
    new, mean = rho * rms + (1.0 - rho) * ops.square(grad), rho * mg + (1.0 - rho) * grad
    return var - rate * grad / (ops.sqrt(new - ops.square(mean)) + eps), new, mean


def _rms_momentum(
    var: Value,
    rms: Value,
    mom: Value,
    rate: Value,
    rho: Value,
    eps: Value,
    momentum: Value,
    grad: Value,
) -> Any:
    new = rho * rms + (1.0 - rho) * ops.square(grad)
    step = momentum * mom + rate * grad / ops.sqrt(new + eps)
    return var - step, new, step


_RMS = Rule("KerasRMSProp", _keras_rms, 2)
_CENTERED = Rule("KerasCenteredRMSProp", _keras_centered, 3)
_RMS_MOMENTUM = Rule("KerasRMSPropMomentum", _rms_momentum, 3)


@symbol("keras.optimizers.RMSprop")
class RMSprop(Optimizer):
    """The gradient over the root of the moving mean of its square."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-7,
        centered: bool = False,
        name: str = "RMSprop",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._hyper["learning_rate"] = kwargs.get("lr", learning_rate)
        self._hyper.update(rho=rho, decay=self._initial_decay, momentum=momentum)
        self.epsilon, self.centered = 1e-7 if epsilon is None else epsilon, centered
        self._moves = not isinstance(momentum, (int, float)) or momentum > 0
        self.slots = ("rms", "momentum") if self._moves else ("rms", *(["mg"] if centered else []))

    def _rule(self) -> Any:
        return _RMS_MOMENTUM if self._moves else _CENTERED if self.centered else _RMS

    def _rates(self, dtype: Any) -> list[Any]:
        more = [self._get_hyper("momentum")] if self._moves else []
        return [self._decayed_lr(dtype), self._get_hyper("rho"), self.epsilon, *more]


def _keras_adagrad(var: Value, accum: Value, rate: Value, eps: Value, grad: Value) -> Any:
    new = accum + ops.square(grad)
    return var - rate * grad / (ops.sqrt(new) + eps), new


@symbol("keras.optimizers.Adagrad")
class Adagrad(Optimizer):
    """Duchi and others 2011."""

    rule, slots = Rule("KerasAdagrad", _keras_adagrad, 2), ("accumulator",)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: Any = 1e-7,
        name: str = "Adagrad",
        **kwargs: Any,
    ) -> None:
        if initial_accumulator_value < 0.0:
            raise ValueError(
                f"initial_accumulator_value must be non-negative: {initial_accumulator_value}"
            )
        super().__init__(name, **kwargs)
        self._hyper["learning_rate"] = kwargs.get("lr", learning_rate)
        self._hyper["decay"] = self._initial_decay
        self._initial_accumulator_value = initial_accumulator_value
        self.epsilon = 1e-7 if epsilon is None else epsilon

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for v in var_list:
            start = tf.constant_initializer(self._initial_accumulator_value)
            self.add_slot(v, "accumulator", start)

    def _rates(self, dtype: Any) -> list[Any]:
        return [self._decayed_lr(dtype), self.epsilon]

    def get_config(self) -> dict[str, Any]:
        """Arguments that make an equal optimizer."""
        more = {"initial_accumulator_value": self._initial_accumulator_value}
        return {**super().get_config(), **more}


@symbol("keras.optimizers.Adadelta")
class Adadelta(Optimizer):
    """Zeiler 2012."""

    rule, slots = Rule("KerasAdadelta", _adadelta, 3), ("accum_grad", "accum_var")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-7,
        name: str = "Adadelta",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._hyper["learning_rate"] = kwargs.get("lr", learning_rate)
        self._hyper.update(decay=self._initial_decay, rho=rho)
        self.epsilon = 1e-7 if epsilon is None else epsilon

    def _rates(self, dtype: Any) -> list[Any]:
        return [self._decayed_lr(dtype), self._get_hyper("rho"), self.epsilon]
