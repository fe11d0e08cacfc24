"""The optimizers of `tf.train.*`: graphs that say what every variable becomes.

All variables of a step are updated from the values before it.  Two optimizers share nothing, also
when they have the same name, and a second `minimize` makes slots of its own (fact T18).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_frontend_tf.tinyflow.ops import zeros_like
from byparts_frontend_tf.tinyflow.state import (
    Variable,
    assign,
    float32,
    group,
    variables_of,
)
from byparts_graph_ir import GraphError, Value


class GradientDescentOptimizer:
    """V <- v - learning_rate * gradient."""

    def __init__(self, learning_rate: float, name: str = "GradientDescent") -> None:
        self.learning_rate, self.name = learning_rate, name

    def minimize(self, obj: Value, var_list: Optional[Sequence[Variable]] = None) -> Value:
        """One step down `obj`, for `var_list` or all variables it depends on.

        Raises:
            GraphError: it depends on no variable.
        """
        variables, dvs = _differentiate(obj, var_list)
        return group(
            *(assign(v, v + dv * -self.learning_rate) for v, dv in zip(variables, dvs, strict=True))
        )


class AdamOptimizer:
    """Adam (Kingma and Ba 2015, https://arxiv.org/abs/1412.6980), with the bias in the step size.

    The default epsilon is TinyFlow's 1e-4; TensorFlow's is 1e-8.
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-4,
        name: str = "Adam",
    ) -> None:
        self.learning_rate, self.beta1, self.beta2 = learning_rate, beta1, beta2
        self.epsilon, self.name = epsilon, name

    def minimize(self, obj: Value, var_list: Optional[Sequence[Variable]] = None) -> Value:
        """One step down `obj`, for `var_list` or all variables it depends on.

        Run `initialize_all_variables` behind this, and behind the initialisation of the variables
        themselves: the slots begin as zeros in the shapes these have.

        Raises:
            GraphError: it depends on no variable.
        """
        variables, dvs = _differentiate(obj, var_list)
        t = Variable(ops.fill(0, float32), f"{self.name}_t")
        step = t + 1.0
        rate = self._rate(step)
        updates = [assign(t, step)]
        for i, (v, dv) in enumerate(zip(variables, dvs, strict=True)):
            updates += self._update(i, v, dv, rate)
        return group(*updates)

    def _rate(self, step: Value) -> Value:
        """The step size with both bias corrections: they are the same for every variable."""
        return self.learning_rate * ops.sqrt(1.0 - self.beta2**step) / (1.0 - self.beta1**step)

    def _update(self, i: int, v: Variable, dv: Value, rate: Value) -> list[Value]:
        m = Variable(zeros_like(v), f"{self.name}_m{i}")
        s = Variable(zeros_like(v), f"{self.name}_v{i}")
        new_m = m * self.beta1 + dv * (1.0 - self.beta1)
        new_s = s * self.beta2 + dv * dv * (1.0 - self.beta2)
        new_v = v - rate * new_m / (ops.sqrt(new_s) + self.epsilon)
        return [assign(m, new_m), assign(s, new_s), assign(v, new_v)]


def _differentiate(
    obj: Value, var_list: Optional[Sequence[Variable]]
) -> tuple[tuple[Variable, ...], tuple[Value, ...]]:
    variables = variables_of(obj) if var_list is None else tuple(var_list)
    if not variables:
        raise GraphError(f"minimize: {obj!r} depends on no variable, so there is nothing to train")
    return variables, gradients(obj, variables, unreachable="error")
