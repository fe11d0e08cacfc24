"""The optimizers used most: gradient descent, momentum, Adam."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import byparts_opset as ops
from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.identity import group
from byparts_frontend_tf.api.train.optimizer import Optimizer
from byparts_frontend_tf.api.variables.scatter import on_rows
from byparts_frontend_tf.api.variables.updates import Update
from byparts_frontend_tf.api.variables.variables import assign
from byparts_frontend_tf.graph.composites import IndexedSlices
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import control_dependencies
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import OptimizationBarrier, Value
from byparts_graph_ir.parts.hub import parts


def _descended(var: Value, alpha: Value, delta: Value) -> Value:
    """Step of gradient descent, as one op that backends find behind a product.

    Without a pass that decomposes the op for other backends, the step is arithmetic.
    So is that of others than f32, because the op takes a rate of f32: arithmetic rounds as theirs.
    """
    if "legalize" in parts.names("passes") and alpha.type.dtype == "f32":
        return ops.gradient_descent((var,), (delta,), alpha)[0]
    return var - alpha * delta


APPLY_GRADIENT_DESCENT = Update("ApplyGradientDescent", _descended)
SCATTER_DESCENT = Update(
    "ScatterSub",
    lambda var, alpha, delta, at: on_rows(lambda v, g: v - alpha * g, (var,), at, delta),
)


def _like(rate: Tensor, var: Any) -> Tensor:
    return cast(rate, var.dtype.base_dtype)  # type: ignore[no-any-return]  # a tensor


@symbol("train.GradientDescentOptimizer")
class GradientDescentOptimizer(Optimizer):
    """v' = v - learning_rate * gradient."""

    def __init__(
        self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _prepare(self) -> None:
        rate = self._call_if_callable(self._learning_rate)
        self._learning_rate_tensor = convert_to_tensor(rate, name="learning_rate")

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        rate = _like(self._learning_rate_tensor, var)
        return APPLY_GRADIENT_DESCENT.operation((var._ref(), rate, grad))

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        rate = _like(self._learning_rate_tensor, var)
        return SCATTER_DESCENT.operation((var._ref(), rate, grad.values, grad.indices))


def _momentum(
    var: Value, accum: Value, rate: Value, grad: Value, momentum: Value, nesterov: bool
) -> tuple[Value, Value]:
    new = accum * momentum + grad
    step = grad * rate + new * momentum * rate if nesterov else new * rate
    return var - step, new


def _sparse_momentum(
    var: Value,
    accum: Value,
    rate: Value,
    grad: Value,
    at: Value,
    momentum: Value,
    nesterov: bool,
) -> tuple[Value, ...]:
    def change(v: Value, a: Value, g: Value) -> tuple[Value, Value]:
        return _momentum(v, a, rate, g, momentum, nesterov)

    return on_rows(change, (var, accum), at, grad)


APPLY_MOMENTUM = Update("ApplyMomentum", _momentum, 2)
SPARSE_APPLY_MOMENTUM = Update("SparseApplyMomentum", _sparse_momentum, 2)


@symbol("train.MomentumOptimizer")
class MomentumOptimizer(Optimizer):
    """a' = momentum * a + gradient; v' = v - learning_rate * a', or Nesterov's."""

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._momentum = learning_rate, momentum
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self) -> None:
        rate = self._call_if_callable(self._learning_rate)
        self._learning_rate_tensor = convert_to_tensor(rate, name="learning_rate")
        momentum = self._call_if_callable(self._momentum)
        self._momentum_tensor = convert_to_tensor(momentum, name="momentum")

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return self._applied(APPLY_MOMENTUM, var, grad)

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        return self._applied(SPARSE_APPLY_MOMENTUM, var, grad.values, grad.indices)

    def _applied(self, update: Update, var: Any, *gradient: Tensor) -> Any:
        slot = self.get_slot(var, "momentum")
        rate, momentum = _like(self._learning_rate_tensor, var), _like(self._momentum_tensor, var)
        given = (var._ref(), slot._ref(), rate, *gradient, momentum)
        return update.operation(given, nesterov=self._use_nesterov)


def _adam(
    var: Value,
    m: Value,
    v: Value,
    beta1_power: Value,
    beta2_power: Value,
    rate: Value,
    beta1: Value,
    beta2: Value,
    epsilon: Value,
    grad: Value,
) -> tuple[Value, Value, Value]:
    """Kingma and Ba 2015 in the form with the bias in the step size: "epsilon hat"."""
    step = rate * ops.sqrt(1.0 - beta2_power) / (1.0 - beta1_power)
    step = OptimizationBarrier()(step, grad)  # in no variable's region, which then is in place
    new_m = m + (grad - m) * (1.0 - beta1)
    new_v = v + (ops.square(grad) - v) * (1.0 - beta2)
    return var - step * new_m / (ops.sqrt(new_v) + epsilon), new_m, new_v


APPLY_ADAM = Update("ApplyAdam", _adam, 3)


@symbol("train.AdamOptimizer")
class AdamOptimizer(Optimizer):
    """Adam; the rows that a sparse gradient does not name decay, too."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        return self._get_non_slot_variable("beta1_power"), self._get_non_slot_variable(
            "beta2_power"
        )

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        first = min(var_list, key=lambda v: str(v.name))
        self._create_non_slot_variable(self._call_if_callable(self._beta1), "beta1_power", first)
        self._create_non_slot_variable(self._call_if_callable(self._beta2), "beta2_power", first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self) -> None:
        given = {
            "learning_rate": self._lr,
            "beta1": self._beta1,
            "beta2": self._beta2,
            "epsilon": self._epsilon,
        }
        made = [convert_to_tensor(self._call_if_callable(v), name=k) for k, v in given.items()]
        self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t = made

    def _given(self, var: Any) -> list[Any]:
        """The variable, its moments and the rates, as `APPLY_ADAM` and its like take them."""
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        powers = [p._as_tensor() for p in self._get_beta_accumulators()]
        rates = [*powers, self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t]
        return [var._ref(), m._ref(), v._ref(), *[_like(r, var) for r in rates]]

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return APPLY_ADAM.operation([*self._given(var), grad])

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        return self._apply_dense(convert_to_tensor(grad), var)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        with control_dependencies(update_ops):
            pairs = zip(self._get_beta_accumulators(), (self._beta1_t, self._beta2_t), strict=True)
            powers = [assign(power, power * beta) for power, beta in pairs]
        return group(*update_ops, *powers, name=name_scope)
