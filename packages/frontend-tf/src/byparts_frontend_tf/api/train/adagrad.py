"""Optimizers with a step size for each element: Adagrad, Adadelta, RMSProp, Adamax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import byparts_opset as ops
from byparts_frontend_tf.api.identity import group
from byparts_frontend_tf.api.initializers import Constant, Ones
from byparts_frontend_tf.api.train.row_updates import Rule, RuleOptimizer
from byparts_frontend_tf.api.variables.variables import assign
from byparts_frontend_tf.graph.scopes import control_dependencies
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value


def constant_slot(optimizer: Any, variable: Any, value: Any, slot: str, name: str) -> None:
    """A slot in the shape of the variable that begins as one number."""
    optimizer._get_or_make_slot_with_initializer(
        variable,
        Constant(value, dtype=variable.dtype.base_dtype),
        variable.get_shape(),
        variable.dtype.base_dtype,
        slot,
        name,
    )


def check_positive(value: Any) -> None:
    """Raise `ValueError` if it is not positive."""
    if value <= 0.0:
        raise ValueError(f"initial_accumulator_value must be positive: {value}")


def _adagrad(var: Value, accum: Value, rate: Value, grad: Value) -> tuple[Value, Value]:
    new = accum + ops.square(grad)
    return var - rate * grad / ops.sqrt(new), new


@symbol("train.AdagradOptimizer")
class AdagradOptimizer(RuleOptimizer):
    """Duchi et al. 2011: a' = a + g^2; v' = v - learning_rate g / sqrt(a')."""

    rule, slots = Rule("Adagrad", _adagrad, 2), ("accumulator",)

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        check_positive(initial_accumulator_value)
        super().__init__({"learning_rate": learning_rate}, use_locking, name)
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for v in var_list:
            constant_slot(self, v, self._initial_accumulator_value, "accumulator", self._name)


def _adadelta(
    var: Value, accum: Value, updated: Value, rate: Value, rho: Value, epsilon: Value, grad: Value
) -> tuple[Value, Value, Value]:
    new = rho * accum + (1.0 - rho) * ops.square(grad)
    step = ops.sqrt(updated + epsilon) / ops.sqrt(new + epsilon) * grad
    return var - rate * step, new, rho * updated + (1.0 - rho) * ops.square(step)


@symbol("train.AdadeltaOptimizer")
class AdadeltaOptimizer(RuleOptimizer):
    """Zeiler 2012: steps in the size of the last steps, over the size of the last gradients."""

    rule, slots = Rule("Adadelta", _adadelta, 3), ("accum", "accum_update")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        rates = {"lr": learning_rate, "rho": rho, "epsilon": epsilon}
        super().__init__(rates, use_locking, name)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for v in var_list:
            self._zeros_slot(v, "accum", self._name)
            self._zeros_slot(v, "accum_update", self._name)


def _rms_prop(
    var: Value,
    ms: Value,
    mom: Value,
    rate: Value,
    decay: Value,
    momentum: Value,
    epsilon: Value,
    grad: Value,
) -> tuple[Value, Value, Value]:
    new = ms + (ops.square(grad) - ms) * (1.0 - decay)
    step = momentum * mom + rate * grad / ops.sqrt(new + epsilon)
    return var - step, new, step


def _centered_rms_prop(
    var: Value,
    mg: Value,
    ms: Value,
    mom: Value,
    rate: Value,
    decay: Value,
    momentum: Value,
    epsilon: Value,
    grad: Value,
) -> tuple[Value, Value, Value, Value]:
    new = ms + (ops.square(grad) - ms) * (1.0 - decay)
    mean = mg + (grad - mg) * (1.0 - decay)
    step = momentum * mom + rate * grad / ops.sqrt(new - ops.square(mean) + epsilon)
    return var - step, mean, new, step


_RMS_PROP = Rule("RMSProp", _rms_prop, 3)
_CENTERED = Rule("CenteredRMSProp", _centered_rms_prop, 4)


@symbol("train.RMSPropOptimizer")
class RMSPropOptimizer(RuleOptimizer):
    """Hinton 2012: the gradient over the root of the moving mean of its square, and momentum.

    With `centered`, over the root of the moving variance.
    """

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        rates = {"learning_rate": learning_rate, "decay": decay, "momentum": momentum}
        super().__init__({**rates, "epsilon": epsilon}, use_locking, name)
        self.rule = _CENTERED if centered else _RMS_PROP
        self.slots = ("mg", "rms", "momentum") if centered else ("rms", "momentum")
        self._centered = centered

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for v in var_list:
            dtype = v.dtype.base_dtype
            ones, shape = Ones(dtype=dtype), v.get_shape()
            self._get_or_make_slot_with_initializer(v, ones, shape, dtype, "rms", self._name)
            if self._centered:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)


def _adamax(
    var: Value,
    m: Value,
    v: Value,
    power: Value,
    rate: Value,
    beta1: Value,
    beta2: Value,
    epsilon: Value,
    grad: Value,
) -> tuple[Value, Value, Value]:
    new_m = m + (grad - m) * (1.0 - beta1)
    new_v = ops.maximum(beta2 * v, ops.abs(grad))
    return var - rate / (1.0 - power) * new_m / (new_v + epsilon), new_m, new_v


@symbol("contrib.opt.AdaMaxOptimizer")
class AdaMaxOptimizer(RuleOptimizer):
    """Adam with the largest gradient instead of the mean square (Kingma and Ba 2015, section 7)."""

    rule, slots = Rule("AdaMax", _adamax, 3), ("m", "v")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        self._beta1 = beta1
        given = {"learning_rate": learning_rate, "beta1": beta1, "beta2": beta2}
        super().__init__({**given, "epsilon": epsilon}, use_locking, name)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        first = min(var_list, key=lambda v: str(v.name))
        self._create_non_slot_variable(self._call_if_callable(self._beta1), "beta1_power", first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        self._tensors.insert(0, self._get_non_slot_variable("beta1_power")._as_tensor())

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        with control_dependencies(update_ops):
            power = self._get_non_slot_variable("beta1_power")
            updated = assign(power, power * self._tensors[2])
        return group(*update_ops, updated, name=name_scope)
