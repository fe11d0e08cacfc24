"""Optimizers that pull weights to zero: Ftrl, and proximal steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.api.train.adagrad import check_positive, constant_slot
from byparts_frontend_tf.api.train.row_updates import Rule, RuleOptimizer
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value


def _shrunk(moved: Value, rate: Value, l1: Value, l2: Value) -> Value:
    """The nearest to `moved` under a penalty rate (l1 |v| + l2 v^2 / 2)."""
    least = ops.maximum(ops.abs(moved) - rate * l1, 0.0 * moved)
    return ops.sign(moved) * least / (1.0 + l2 * rate)


def _proximal_descent(var: Value, rate: Value, l1: Value, l2: Value, grad: Value) -> Value:
    return _shrunk(var - rate * grad, rate, l1, l2)


@symbol("train.ProximalGradientDescentOptimizer")
class ProximalGradientDescentOptimizer(RuleOptimizer):
    """Gradient descent with a proximal step for penalties l1 and l2 (Duchi and Singer 2009)."""

    rule = Rule("ProximalGradientDescent", _proximal_descent)

    def __init__(
        self,
        learning_rate: Any,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        penalties = {"l1": l1_regularization_strength, "l2": l2_regularization_strength}
        super().__init__({"learning_rate": learning_rate, **penalties}, use_locking, name)


def _proximal_adagrad(
    var: Value, accum: Value, rate: Value, l1: Value, l2: Value, grad: Value
) -> tuple[Value, Value]:
    new = accum + ops.square(grad)
    rates = rate / ops.sqrt(new)
    return _shrunk(var - rates * grad, rates, l1, l2), new


@symbol("train.ProximalAdagradOptimizer")
class ProximalAdagradOptimizer(RuleOptimizer):
    """Adagrad with a proximal step for penalties l1 and l2."""

    rule, slots = Rule("ProximalAdagrad", _proximal_adagrad, 2), ("accumulator",)

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        check_positive(initial_accumulator_value)
        penalties = {"l1": l1_regularization_strength, "l2": l2_regularization_strength}
        super().__init__({"learning_rate": learning_rate, **penalties}, use_locking, name)
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for v in var_list:
            constant_slot(self, v, self._initial_accumulator_value, "accumulator", self._name)


def _ftrl(
    var: Value,
    accum: Value,
    linear: Value,
    rate: Value,
    l1: Value,
    l2: Value,
    shrinkage: Value,
    grad: Value,
    power: float,
) -> tuple[Value, Value, Value]:
    """McMahan et al. 2013; the shrinkage is a penalty on the gradient alone."""
    new = accum + ops.square(grad)
    roots = [ops.sqrt(a) if power == -0.5 else a**-power for a in (new, accum)]
    sums = linear + grad + 2.0 * shrinkage * var - (roots[0] - roots[1]) / rate * var
    quadratic = roots[0] / rate + 2.0 * l2
    moved = ops.sign(sums) * l1 - sums
    return ops.select(ops.abs(sums) > l1, moved / quadratic, 0.0 * var), new, sums


@symbol("train.FtrlOptimizer")
class FtrlOptimizer(RuleOptimizer):
    """Follow the regularized leader, with penalties l1 and l2 (McMahan et al. 2013)."""

    rule, slots = Rule("Ftrl", _ftrl, 3), ("accum", "linear")

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: Optional[str] = None,
        linear_name: Optional[str] = None,
        l2_shrinkage_regularization_strength: float = 0.0,
    ) -> None:
        check_not_negative("initial_accumulator_value", initial_accumulator_value)
        check_not_negative("l1_regularization_strength", l1_regularization_strength)
        check_not_negative("l2_regularization_strength", l2_regularization_strength)
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power} needs to be negative or zero"
            )
        rates = {
            "learning_rate": learning_rate,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
        }
        super().__init__(rates, use_locking, name, {"power": float(learning_rate_power)})
        self._accum_name, self._linear_name = accum_name or name, linear_name or name
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for v in var_list:
            constant_slot(self, v, self._initial_accumulator_value, "accum", self._accum_name)
            self._zeros_slot(v, "linear", self._linear_name)


def check_not_negative(argument: str, value: Any) -> None:
    """Raise `ValueError` if it is negative."""
    if value < 0.0:
        raise ValueError(f"{argument} {value} needs to be positive or zero")


def _dual_averaging(
    var: Value,
    sums: Value,
    squares: Value,
    rate: Value,
    l1: Value,
    l2: Value,
    step: Value,
    grad: Value,
) -> tuple[Value, Value, Value]:
    new, new_squares = sums + grad, squares + ops.square(grad)
    least = ops.maximum(ops.abs(new) - l1 * step, 0.0 * new)
    moved = -ops.sign(new) * rate * least / (l2 * step * rate + ops.sqrt(new_squares))
    return moved, new, new_squares


@symbol("train.AdagradDAOptimizer")
class AdagradDAOptimizer(RuleOptimizer):
    """Adagrad with dual averaging (Duchi et al. 2011); `global_step` counts the steps."""

    rule, slots = (
        Rule("AdagradDA", _dual_averaging, 3),
        ("gradient_accumulator", "gradient_squared_accumulator"),
    )

    def __init__(
        self,
        learning_rate: Any,
        global_step: Any,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        check_positive(initial_gradient_squared_accumulator_value)
        penalties = {"l1": l1_regularization_strength, "l2": l2_regularization_strength}
        rates = {"learning_rate": learning_rate, **penalties, "global_step": global_step}
        super().__init__(rates, use_locking, name)
        self._initial = initial_gradient_squared_accumulator_value

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for v in var_list:
            self._zeros_slot(v, "gradient_accumulator", self._name)
            constant_slot(self, v, self._initial, "gradient_squared_accumulator", self._name)
