"""The optimizers of `tf.train.*`: TensorFlow's, for the variables that a loss depends on.

All variables of a step are updated from the values before it.  Two optimizers share nothing, also
when they have the same name, and a second `minimize` makes slots of its own (fact T18).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Optional

from byparts_frontend_tf.api.train import gradient_descent
from byparts_frontend_tf.api.variables.variable_lists import variables_of
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_graph_ir import GraphError
from byparts_tf_files.errors import raises_graph_errors
from byparts_tinyflow.functions import gradients
from byparts_tinyflow.state import Variable


class _Optimizer:
    """Makes an optimizer of TensorFlow for each `minimize`."""

    _make: Callable[[], Any]

    @raises_graph_errors
    def minimize(self, obj: Tensor, var_list: Optional[Sequence[Variable]] = None) -> Operation:
        """Make a step of descent on `obj`, for `var_list` or all variables that `obj` depends on.

        Raises:
            GraphError: it depends on no variable.
        """
        found = variables_of(obj) if var_list is None else tuple(var_list)
        if not found:
            raise GraphError(f"minimize: {obj!r} depends on no variable: there is nothing to train")
        pairs = list(zip(gradients(obj, found), found, strict=True))
        made: Operation = self._make().apply_gradients(pairs)
        return made


class GradientDescentOptimizer(_Optimizer):
    """V <- v - learning_rate * gradient."""

    def __init__(self, learning_rate: Any, name: str = "GradientDescent") -> None:
        self._make = partial(gradient_descent.GradientDescentOptimizer, learning_rate, name=name)


class AdamOptimizer(_Optimizer):
    """Adam; the default epsilon is TinyFlow's 1e-4, TensorFlow's is 1e-8.

    Run `initialize_all_variables` behind `minimize`, and behind the initialisation of the variables
    themselves: the slots begin as zeros in the shapes these have.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-4,
        name: str = "Adam",
    ) -> None:
        rates = learning_rate, beta1, beta2, epsilon
        self._make = partial(gradient_descent.AdamOptimizer, *rates, name=name)
