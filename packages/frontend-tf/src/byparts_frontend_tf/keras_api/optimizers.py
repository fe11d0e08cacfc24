"""Keras's optimizers: SGD, RMSprop, Adam and others, with their defaults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import byparts_frontend_tf as tf
import byparts_opset as ops
from byparts_frontend_tf.api.optimizers.adaptive import _adadelta, _adamax
from byparts_frontend_tf.api.optimizers.descent import _adam
from byparts_frontend_tf.api.optimizers.rules import Rule
from byparts_frontend_tf.keras_api.objects import finder, serialize as _serialize
from byparts_frontend_tf.keras_api.optimizer import LearningRateSchedule, Optimizer
from byparts_frontend_tf.keras_api.state import track_variable
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value

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
        **given: Any,
    ) -> None:
        super().__init__(name, **given)
        self._hyper["learning_rate"] = given.get("lr", learning_rate)
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
        **given: Any,
    ) -> None:
        super().__init__(name, **given)
        self._hyper["learning_rate"] = given.get("lr", learning_rate)
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
        **given: Any,
    ) -> None:
        if initial_accumulator_value < 0.0:
            raise ValueError(
                f"initial_accumulator_value must be non-negative: {initial_accumulator_value}"
            )
        super().__init__(name, **given)
        self._hyper["learning_rate"] = given.get("lr", learning_rate)
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
        """What makes an equal one."""
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
        **given: Any,
    ) -> None:
        super().__init__(name, **given)
        self._hyper["learning_rate"] = given.get("lr", learning_rate)
        self._hyper.update(decay=self._initial_decay, rho=rho)
        self.epsilon = 1e-7 if epsilon is None else epsilon

    def _rates(self, dtype: Any) -> list[Any]:
        return [self._decayed_lr(dtype), self._get_hyper("rho"), self.epsilon]


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
        self, learning_rate: Any, beta_1: Any, beta_2: Any, epsilon: Any, name: str, given: Any
    ) -> None:
        super().__init__(name, **given)
        self._hyper["learning_rate"] = given.get("lr", learning_rate)
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
        **given: Any,
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, given)
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
        **given: Any,
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, given)

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
        **given: Any,
    ) -> None:
        given.setdefault("decay", given.pop("schedule_decay", 0.004))
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, given)
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
        made = super().apply_gradients(grads_and_vars, name)
        with tf.control_dependencies([made]):
            return tf.assign(self._product, self._new_product).op

    def _rates(self, dtype: Any) -> list[Any]:
        _, power2, _, *rest = super()._rates(dtype)
        rate = self._get_hyper("learning_rate", dtype)
        return [power2, rate, *rest, self._now, self._following, self._new_product]


class TFOptimizer(Optimizer):
    """An optimizer of `tf.train` in the place of one of Keras's."""

    def __init__(self, optimizer: Any) -> None:
        super().__init__("TFOptimizer")
        self.optimizer = optimizer

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        """Operations that take one step."""
        pairs = self.optimizer.compute_gradients(loss, params)
        before = len(tf.global_variables())
        made = self.optimizer.apply_gradients(pairs, global_step=self.iterations)
        for v in tf.global_variables()[before:]:
            track_variable(v)
        return [made]

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
    """Its class and arguments."""
    return _serialize(optimizer)


@symbol("keras.optimizers.schedules.ExponentialDecay")
class ExponentialDecay(LearningRateSchedule):
    """A rate that is multiplied by `decay_rate` in `decay_steps`."""

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: int,
        decay_rate: float,
        staircase: bool = False,
        name: Any = None,
    ) -> None:
        self.initial_learning_rate, self.decay_steps = initial_learning_rate, decay_steps
        self.decay_rate, self.staircase, self.name = decay_rate, staircase, name

    def __call__(self, step: Any) -> Any:
        """The rate at this step."""
        part = tf.cast(step, tf.float32) / float(self.decay_steps)
        part = tf.floor(part) if self.staircase else part
        return self.initial_learning_rate * tf.pow(float(self.decay_rate), part)


@symbol("keras.optimizers.schedules.PiecewiseConstantDecay")
class PiecewiseConstantDecay(LearningRateSchedule):
    """A rate for each range of steps."""

    def __init__(self, boundaries: Any, values: Any, name: Any = None) -> None:
        self.boundaries, self.values, self.name = boundaries, values, name

    def __call__(self, step: Any) -> Any:
        """The rate at this step."""
        limits = [float(b) for b in self.boundaries]
        return tf.train.piecewise_constant(step, limits, list(self.values))


@symbol("keras.optimizers.schedules.PolynomialDecay")
class PolynomialDecay(LearningRateSchedule):
    """A rate that falls by a power of the remaining steps."""

    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: int,
        end_learning_rate: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        name: Any = None,
    ) -> None:
        self.initial_learning_rate, self.decay_steps = initial_learning_rate, decay_steps
        self.end_learning_rate, self.power, self.cycle = end_learning_rate, power, cycle
        self.name = name

    def __call__(self, step: Any) -> Any:
        """The rate at this step."""
        return tf.train.polynomial_decay(
            self.initial_learning_rate,
            step,
            self.decay_steps,
            self.end_learning_rate,
            self.power,
            self.cycle,
        )
