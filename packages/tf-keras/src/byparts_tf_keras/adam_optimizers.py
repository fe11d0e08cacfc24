"""Keras's Adam and its kin: Adamax, Nadam."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import byparts_frontend_tf as tf
import byparts_opset as ops
from byparts_frontend_tf.api.train.adagrad import _adamax
from byparts_frontend_tf.api.train.gradient_descent import _adam
from byparts_frontend_tf.api.train.row_updates import Rule
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_keras.optimizer import Optimizer


def _amsgrad(
    var: Value,
    m: Value,
    v: Value,
    largest: Value,
    beta1_power: Value,
    beta2_power: Value,
    rate: Value,
    beta1: Value,
    beta2: Value,
    epsilon: Value,
    grad: Value,
) -> Any:
    step = rate * ops.sqrt(1.0 - beta2_power) / (1.0 - beta1_power)
    new_m = m + (grad - m) * (1.0 - beta1)
    new_v = v + (ops.square(grad) - v) * (1.0 - beta2)
    most = ops.maximum(largest, new_v)
    return var - step * new_m / (ops.sqrt(most) + epsilon), new_m, new_v, most


_ADAM, _AMSGRAD = Rule("KerasAdam", _adam, 3), Rule("KerasAmsgrad", _amsgrad, 4)


class _Moments(Optimizer):
    """An optimizer with two moving means; rows without a gradient decay, too."""

    slots: Sequence[str] = ("m", "v")

    def __init__(
        self, learning_rate: Any, beta_1: Any, beta_2: Any, epsilon: Any, name: str, kwargs: Any
    ) -> None:
        super().__init__(name, **kwargs)
        self._hyper["learning_rate"] = kwargs.get("lr", learning_rate)
        self._hyper.update(decay=self._initial_decay, beta_1=beta_1, beta_2=beta_2)
        self.epsilon = 1e-7 if epsilon is None else epsilon

    def _betas(self, dtype: Any) -> list[Any]:
        return [self._get_hyper("beta_1", dtype), self._get_hyper("beta_2", dtype)]

    def _rates(self, dtype: Any) -> list[Any]:
        step = tf.cast(self.iterations + 1, dtype)
        betas = self._betas(dtype)
        powers = [tf.pow(b, step) for b in betas]
        return [*powers, self._decayed_lr(dtype), *betas, self.epsilon]

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        shape = tf.constant(var.shape.as_list(), tf.int32)
        return self._changed(tf.convert_to_tensor(tf.IndexedSlices(grad, indices, shape)), var)


@symbol("keras.optimizers.Adam", "python.keras.optimizer_v2.adam.Adam")
class Adam(_Moments):
    """Kingma and Ba 2015."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: Any = 1e-7,
        amsgrad: bool = False,
        name: str = "Adam",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, kwargs)
        self.amsgrad = amsgrad
        self.slots = ("m", "v", "vhat") if amsgrad else ("m", "v")

    def _rule(self) -> Any:
        return _AMSGRAD if self.amsgrad else _ADAM


@symbol("keras.optimizers.Adamax")
class Adamax(_Moments):
    """Adam with the largest gradient in the place of the mean square."""

    rule = Rule("KerasAdamax", _adamax, 3)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: Any = 1e-7,
        name: str = "Adamax",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, kwargs)

    def _rates(self, dtype: Any) -> list[Any]:
        first, _, *rest = super()._rates(dtype)
        return [first, *rest]


def _nadam(
    var: Value,
    m: Value,
    v: Value,
    power2: Value,
    rate: Value,
    beta1: Value,
    beta2: Value,
    epsilon: Value,
    now: Value,
    following: Value,
    product: Value,
    grad: Value,
) -> Any:
    """Dozat 2016; `now` and `following` are momenta, `product` is of all momenta until now."""
    new_m, new_v = beta1 * m + (1.0 - beta1) * grad, beta2 * v + (1.0 - beta2) * ops.square(grad)
    m_hat = new_m / (1.0 - product * following)
    mixed = (1.0 - now) * grad / (1.0 - product) + following * m_hat
    return var - rate * mixed / (ops.sqrt(new_v / (1.0 - power2)) + epsilon), new_m, new_v


@symbol("keras.optimizers.Nadam")
class Nadam(_Moments):
    """Adam with Nesterov's momentum."""

    rule = Rule("KerasNadam", _nadam, 3)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: Any = 1e-7,
        name: str = "Nadam",
        **kwargs: Any,
    ) -> None:
        kwargs.setdefault("decay", kwargs.pop("schedule_decay", 0.004))
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, kwargs)
        self._product: Any = None

    def _momentum(self, step: Any) -> Any:
        beta = self._get_hyper("beta_1", tf.float32)
        return beta * (1.0 - 0.5 * tf.pow(0.96, self._initial_decay * step))

    def _prepare(self, var_list: Sequence[Any]) -> None:
        if self._product is None:
            self._product = self.add_weight("momentum_cache", (), initializer="ones")
        step = tf.cast(self.iterations + 1, tf.float32)
        self._now, self._following = self._momentum(step), self._momentum(step + 1.0)
        self._new_product = self._product * self._now

    def apply_gradients(self, grads_and_vars: Any, name: Any = None) -> Any:
        """An operation that changes variables by gradients."""
        updates = super().apply_gradients(grads_and_vars, name)
        with tf.control_dependencies([updates]):
            return tf.assign(self._product, self._new_product).op

    def _rates(self, dtype: Any) -> list[Any]:
        _, power2, _, *rest = super()._rates(dtype)
        rate = self._get_hyper("learning_rate", dtype)
        return [power2, rate, *rest, self._now, self._following, self._new_product]
