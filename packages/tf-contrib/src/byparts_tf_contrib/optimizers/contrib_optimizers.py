"""Optimizers of `tf.contrib.opt`: lazy and Nesterov's Adam, decoupled weight decay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.gather import gather
from byparts_frontend_tf.api.train.gradient_descent import AdamOptimizer, MomentumOptimizer
from byparts_frontend_tf.api.variables.scatter import on_rows, scatter_sub
from byparts_frontend_tf.api.variables.updates import Update
from byparts_frontend_tf.api.variables.variables import assign_sub
from byparts_frontend_tf.graph.composites import IndexedSlices
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import control_dependencies
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value

Values = tuple[Value, Value, Value]


def _moments(m: Value, v: Value, beta1: Value, beta2: Value, g: Value) -> tuple[Value, Value]:
    return m * beta1 + g * (1.0 - beta1), v * beta2 + ops.square(g) * (1.0 - beta2)


def _adam_step(beta1_power: Value, beta2_power: Value, rate: Value) -> Value:
    return rate * ops.sqrt(1.0 - beta2_power) / (1.0 - beta1_power)


def _lazy(
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
    at: Value,
) -> tuple[Value, ...]:
    """Adam of the rows that the gradient names; the others stay as they are."""
    step = _adam_step(beta1_power, beta2_power, rate)

    def change(var: Value, m: Value, v: Value, g: Value) -> Values:
        new_m, new_v = _moments(m, v, beta1, beta2, g)
        return var - step * new_m / (ops.sqrt(new_v) + epsilon), new_m, new_v

    return on_rows(change, (var, m, v), at, grad)


def _nadam(
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
) -> Values:
    new_m, new_v = _moments(m, v, beta1, beta2, grad)
    ahead = new_m * beta1 + grad * (1.0 - beta1)
    step = _adam_step(beta1_power, beta2_power, rate)
    return var - step * ahead / (ops.sqrt(new_v) + epsilon), new_m, new_v


LAZY_ADAM = Update("LazyAdam", _lazy, 3)
APPLY_NADAM = Update("ApplyNadam", _nadam, 3)


@symbol("contrib.opt.LazyAdamOptimizer")
class LazyAdamOptimizer(AdamOptimizer):
    """Adam; the moments of rows that a sparse gradient does not name stay as they are."""

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        return LAZY_ADAM.operation([*self._given(var), grad.values, grad.indices])


@symbol("contrib.opt.NadamOptimizer")
class NadamOptimizer(AdamOptimizer):
    """Adam that looks ahead (Dozat 2015)."""

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return APPLY_NADAM.operation([*self._given(var), grad])


@symbol("contrib.opt.DecoupledWeightDecayExtension")
class DecoupledWeightDecayExtension:
    """Before a step of an optimizer, variables shrink by `weight_decay` of themselves.

    Loshchilov and Hutter 2019.  A class derives from this one first, and then from an optimizer.
    """

    def __init__(self, weight_decay: Any, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._weight_decay = weight_decay
        self._decayed: Optional[set[str]] = None

    def minimize(self, *arguments: Any, decay_var_list: Any = None, **named: Any) -> Any:
        """Minimize as the optimizer; only the variables in `decay_var_list` shrink."""
        self._decayed = None if not decay_var_list else {v.name for v in decay_var_list}
        return super().minimize(*arguments, **named)  # type: ignore[misc]  # the optimizer's

    def apply_gradients(self, *arguments: Any, decay_var_list: Any = None, **named: Any) -> Any:
        """Apply gradients as the optimizer; only the variables in `decay_var_list` shrink."""
        if decay_var_list:
            self._decayed = {v.name for v in decay_var_list}
        return super().apply_gradients(*arguments, **named)  # type: ignore[misc]  # the optimizer's

    def _shrunk(self, var: Any, rows: Any = None) -> Sequence[Any]:
        """Operations that shrink a variable, or the rows of it that get a gradient."""
        if self._decayed is not None and var.name not in self._decayed:
            return []
        share = self._weight_decay
        decay = cast(convert_to_tensor(share() if callable(share) else share), var.dtype.base_dtype)
        if rows is not None:
            return [scatter_sub(var, rows, decay * gather(var, rows))]
        return [assign_sub(var, decay * var._as_tensor())]

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        with control_dependencies(self._shrunk(var)):
            return super()._apply_dense(grad, var)  # type: ignore[misc]  # the optimizer's

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        with control_dependencies(self._shrunk(var, grad.indices)):
            return super()._apply_sparse_duplicate_indices(grad, var)  # type: ignore[misc]  # the optimizer's


@symbol("contrib.opt.AdamWOptimizer")
class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """Adam with decoupled weight decay."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            use_locking=use_locking,
            name=name,
        )


@symbol("contrib.opt.MomentumWOptimizer")
class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """Momentum with decoupled weight decay."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            momentum=momentum,
            use_locking=use_locking,
            name=name,
            use_nesterov=use_nesterov,
        )


@symbol("contrib.opt.extend_with_decoupled_weight_decay")
def extend_with_decoupled_weight_decay(base_optimizer: type) -> type:
    """A class of an optimizer with decoupled weight decay: its first argument is the decay."""

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):  # type: ignore[misc]  # given at run time
        """The optimizer, with decoupled weight decay."""

        def __init__(self, weight_decay: Any, *arguments: Any, **named: Any) -> None:
            base_optimizer.__init__(self, *arguments, **named)  # type: ignore[misc]  # as above
            self._weight_decay, self._decayed = weight_decay, None

    return OptimizerWithDecoupledWeightDecay
