"""Steps of ready-made models: an optimizer for each part of their variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from byparts_frontend_tf.api.clip import clip_by_global_norm
from byparts_frontend_tf.api.identity import group
from byparts_frontend_tf.api.train.global_step import get_global_step
from byparts_frontend_tf.api.train.optimizer import Optimizer
from byparts_frontend_tf.api.variables.variable_scope import variable_scope
from byparts_frontend_tf.api.variables.variables import assign_add
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import control_dependencies, get_collection
from byparts_frontend_tf.symbols import named

_NAMED = {
    "Adagrad": "train.AdagradOptimizer",
    "Adam": "train.AdamOptimizer",
    "Ftrl": "train.FtrlOptimizer",
    "RMSProp": "train.RMSPropOptimizer",
    "SGD": "train.GradientDescentOptimizer",
}


@dataclass(frozen=True)
class Part:
    """A summand of the logits: a function in a variable scope, and its optimizer."""

    function: Callable[..., Tensor]
    optimizer: Callable[[], Any]
    scope: str
    clip_norm: Optional[float] = None  # the most that the norm of all its gradients may be

    def logits(self, features: Any, mode: str, count: int) -> Tensor:
        """[examples, count]."""
        with variable_scope(
            self.scope, values=[v for v in features.values() if isinstance(v, Tensor)]
        ):
            return self.function(features, mode, count)

    def step(self, loss: Tensor, step: Any) -> Any:
        """The operation that changes the variables of this part."""
        own = get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=f"{self.scope}/")
        optimizer = self.optimizer()
        if self.clip_norm is None:
            return optimizer.minimize(loss, global_step=step, var_list=own)
        grads, variables = zip(*optimizer.compute_gradients(loss, own), strict=True)
        clipped, _ = clip_by_global_norm(list(grads), self.clip_norm)
        pairs = list(zip(clipped, variables, strict=True))
        return optimizer.apply_gradients(pairs, global_step=step)


def optimizer_of(given: Any, rate: float) -> Callable[[], Any]:
    """A function that makes the optimizer, in the graph it is for.

    Raises:
        ValueError: the name is none of an optimizer; it is no optimizer.
    """
    if isinstance(given, str):
        if given not in _NAMED:
            raise ValueError(
                f"Unsupported optimizer name: {given}. Supported names are: {tuple(sorted(_NAMED))}"
            )
        return lambda: named(_NAMED[given])(learning_rate=rate)
    if callable(given):
        return given  # type: ignore[no-any-return]  # makes one
    if not isinstance(given, Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {given}")
    return lambda: given


def minimizing(parts: Sequence[Part]) -> Callable[[Tensor], Any]:
    """A function of a loss that makes the operation which takes a step."""

    def minimize(loss: Tensor) -> Any:
        step = get_global_step()
        if len(parts) == 1:
            return parts[0].step(loss, step)
        with control_dependencies([group(*[part.step(loss, None) for part in parts])]):
            return assign_add(step, 1).op

    return minimize
