"""`tf.contrib.layers.optimize_loss`: a whole training step from a loss."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Optional

from byparts_frontend_tf.api.clip import clip_by_global_norm, global_norm
from byparts_frontend_tf.api.identity import with_dependencies
from byparts_frontend_tf.api.initializers import Constant
from byparts_frontend_tf.api.random.random import truncated_normal
from byparts_frontend_tf.api.shape import shape
from byparts_frontend_tf.api.summary import summary
from byparts_frontend_tf.api.train.adagrad import AdagradOptimizer, RMSPropOptimizer
from byparts_frontend_tf.api.train.ftrl import FtrlOptimizer
from byparts_frontend_tf.api.train.global_step import get_global_step
from byparts_frontend_tf.api.train.gradient_descent import (
    AdamOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
)
from byparts_frontend_tf.api.train.optimizer import Optimizer
from byparts_frontend_tf.api.variables.variable_scope import get_variable, variable_scope
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import get_collection
from byparts_frontend_tf.symbols import symbol

OPTIMIZER_CLS_NAMES: dict[str, Callable[..., Optimizer]] = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "Momentum": partial(MomentumOptimizer, momentum=0.9),
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES = (
    "learning_rate",
    "loss",
    "gradients",
    "gradient_norm",
    "global_gradient_norm",
)


SYMBOLS = {
    f"contrib.layers.{name}": name for name in ("OPTIMIZER_CLS_NAMES", "OPTIMIZER_SUMMARIES")
}


@symbol("contrib.layers.optimize_loss")
def optimize_loss(
    loss: Any,
    global_step: Any,
    learning_rate: Any,
    optimizer: Any,
    gradient_noise_scale: Optional[float] = None,
    gradient_multipliers: Optional[dict[Any, Any]] = None,
    clip_gradients: Any = None,
    learning_rate_decay_fn: Optional[Callable[..., Any]] = None,
    update_ops: Any = None,
    variables: Any = None,
    name: Optional[str] = None,
    summaries: Any = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Tensor:
    """The loss; to run it is to take a step.

    Args:
        loss: a number.
        global_step: is then one more; by default that of the graph.
        learning_rate: a number, a tensor, or `None` where the optimizer has one.
        optimizer: a name as "Adam", a class, an optimizer, or a function of the rate.
        gradient_noise_scale: of normal noise that is added to gradients.
        gradient_multipliers: variable or its name -> what its gradient is multiplied by.
        clip_gradients: the most global norm, or a function of pairs (gradient, variable).
        learning_rate_decay_fn: of rate and step gives the rate.
        update_ops: run before; by default UPDATE_OPS.
        variables: are changed; by default all trainable ones.
        name: of the scope; by default OptimizeLoss.
        summaries: which of learning_rate, loss, gradients, gradient_norm, global_gradient_norm.
        colocate_gradients_with_ops: accepted.
        increment_global_step: whether the step is counted.

    Raises:
        ValueError: the optimizer, the rate, or a summary is none.
    """
    target = convert_to_tensor(loss)
    step = get_global_step() if global_step is None else global_step
    kinds = ["loss", "learning_rate", "global_gradient_norm"] if summaries is None else summaries
    unknown = [kind for kind in kinds if kind not in OPTIMIZER_SUMMARIES]
    if unknown:
        raise ValueError(
            f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], not {unknown[0]}"
        )
    with variable_scope(name, "OptimizeLoss", [target]):
        updates = get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else list(update_ops)
        if updates:
            target = with_dependencies(updates, target)
        rate = _rate(learning_rate, learning_rate_decay_fn, step)
        report = _Report(kinds)
        if rate is not None:
            report.scalar("learning_rate", "learning_rate", rate)
        maker = _optimizer(optimizer, rate)
        pairs = maker.compute_gradients(target, variables)
        pairs = _multiplied(_noisy(pairs, gradient_noise_scale), gradient_multipliers or {})
        report.norm("global_norm/gradient_norm", pairs)
        clipped = _clipped(pairs, clip_gradients)
        report.scalar("loss", "loss", target)
        report.gradients(clipped)
        if clip_gradients is not None:
            report.norm("global_norm/clipped_gradient_norm", clipped)
        done = maker.apply_gradients(clipped, step if increment_global_step else None, "train")
        result: Tensor = with_dependencies([done], target)
        return result


def _rate(value: Any, decay: Optional[Callable[..., Any]], step: Any) -> Any:
    if value is None:
        return None
    rate = value
    if isinstance(value, (int, float)):
        if value < 0.0:
            raise ValueError(f"Invalid learning_rate {value}.")
        start = Constant(float(value))
        rate = get_variable("learning_rate", [], trainable=False, initializer=start)
    if decay is None:
        return rate
    if step is None:
        raise ValueError("global_step is required for learning_rate_decay_fn.")
    return decay(rate, step)


def _optimizer(optimizer: Any, rate: Any) -> Any:
    if isinstance(optimizer, str):
        if optimizer not in OPTIMIZER_CLS_NAMES:
            known = ", ".join(OPTIMIZER_CLS_NAMES)
            raise ValueError(f"Optimizer name should be one of [{known}], not {optimizer}.")
        if rate is None:
            raise ValueError(f"Learning rate is None, but should be specified for {optimizer}.")
        return OPTIMIZER_CLS_NAMES[optimizer](learning_rate=rate)
    if isinstance(optimizer, Optimizer):
        return optimizer
    if isinstance(optimizer, type):
        return optimizer(learning_rate=rate)
    if callable(optimizer):
        return optimizer() if rate is None else optimizer(rate)
    raise ValueError(f"Unrecognized optimizer: {optimizer}")


def _noisy(pairs: Any, scale: Optional[float]) -> Any:
    if scale is None:
        return pairs
    return [
        (g if g is None else convert_to_tensor(g) + scale * truncated_normal(shape(v)), v)
        for g, v in pairs
    ]


def _multiplied(pairs: Any, factors: dict[Any, Any]) -> Any:
    def factor(v: Any) -> Any:
        return factors.get(v, factors.get(v.name, factors.get(v.op.name)))

    return [(g if g is None or factor(v) is None else g * factor(v), v) for g, v in pairs]


def _clipped(pairs: Any, limit: Any) -> Any:
    if limit is None:
        return pairs
    if callable(limit):
        return limit(pairs)
    gradients, variables = zip(*pairs, strict=True)
    clipped, _ = clip_by_global_norm(list(gradients), float(limit))
    return list(zip(clipped, variables, strict=True))


class _Report:
    """The summaries that are wanted."""

    def __init__(self, kinds: Any) -> None:
        self._kinds = kinds

    def scalar(self, kind: str, name: str, value: Any) -> None:
        """Summarize a number."""
        if kind in self._kinds:
            summary.scalar(name, value)

    def norm(self, name: str, pairs: Any) -> None:
        """Summarize the global norm of gradients."""
        if "global_gradient_norm" in self._kinds or "gradient_norm" in self._kinds:
            summary.scalar(name, global_norm([g for g, _ in pairs]))

    def gradients(self, pairs: Any) -> None:
        """Summarize each gradient, and its norm."""
        for gradient, variable in pairs:
            if gradient is None:
                continue
            values = getattr(gradient, "values", gradient)
            name = variable.name.replace(":", "_")
            if "gradients" in self._kinds:
                summary.histogram(f"gradients/{name}", values)
            self.scalar("gradient_norm", f"gradient_norm/{name}", global_norm([values]))
