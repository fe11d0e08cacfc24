"""`contrib.training` and `slim.learning`: an operation that takes a step and gives the loss."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Optional

from byparts_frontend_tf.api.clip import clip_by_norm, global_norm
from byparts_frontend_tf.api.debugging.check_numerics import check_numerics as checked
from byparts_frontend_tf.api.identity import no_op, with_dependencies
from byparts_frontend_tf.api.summary.summary import histogram, scalar
from byparts_frontend_tf.api.train.global_step import get_or_create_global_step
from byparts_frontend_tf.api.variables.variable_lists import trainable_variables
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.composites import IndexedSlices
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import (
    control_dependencies,
    get_collection,
    get_collection_ref,
    name_scope,
)
from byparts_frontend_tf.symbols import symbol

_USUAL_STEP: Any = object()  # that of the graph
Pairs = list[tuple[Any, Any]]  # gradient, variable


@symbol("contrib.training.add_gradients_summaries", "contrib.slim.learning.add_gradients_summaries")
def add_gradients_summaries(grads_and_vars: Pairs) -> list[Tensor]:
    """Summaries of gradients and of their norms."""
    made = []
    for gradient, variable in grads_and_vars:
        if gradient is not None:
            values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
            made.append(histogram(f"{variable.op.name}_gradient", values))
            made.append(scalar(f"{variable.op.name}_gradient_norm", global_norm([values])))
    return made


@symbol("contrib.training.clip_gradient_norms", "contrib.slim.learning.clip_gradient_norms")
def clip_gradient_norms(gradients_to_variables: Pairs, max_norm: float) -> Pairs:
    """Each gradient scaled down to a norm of at most `max_norm`."""
    return [(None if g is None else _clipped(g, max_norm), v) for g, v in gradients_to_variables]


def _clipped(gradient: Any, most: float) -> Any:
    if isinstance(gradient, IndexedSlices):
        return gradient._map_values(lambda values: clip_by_norm(values, most))
    return clip_by_norm(gradient, most)


@symbol("contrib.training.clip_gradient_norms_fn")
def clip_gradient_norms_fn(max_norm: float) -> Callable[[Pairs], Pairs]:
    """`clip_gradient_norms` as a function of gradients alone."""
    return partial(clip_gradient_norms, max_norm=max_norm)


@symbol("contrib.training.multiply_gradients", "contrib.slim.learning.multiply_gradients")
def multiply_gradients(grads_and_vars: Pairs, gradient_multipliers: dict[Any, Any]) -> Pairs:
    """Gradients times what is given for a variable or its name.

    Raises:
        ValueError: nothing is given, or there is no gradient to multiply.
    """
    if not isinstance(gradient_multipliers, dict) or not gradient_multipliers:
        raise ValueError("gradient_multipliers must be a dict that is not empty.")
    made: Pairs = []
    for gradient, variable in grads_and_vars:
        key = variable if variable in gradient_multipliers else variable.op.name
        if key in gradient_multipliers:
            if gradient is None:
                raise ValueError("Requested multiple of `None` gradient.")
            factor = convert_to_tensor(gradient_multipliers[key], gradient.dtype)
            made.append((_scaled(gradient, factor), variable))
            continue
        made.append((gradient, variable))
    return made


def _scaled(gradient: Any, factor: Tensor) -> Any:
    if isinstance(gradient, IndexedSlices):
        return gradient._map_values(lambda values: values * factor)
    return gradient * factor


@symbol("contrib.training.create_train_op")
def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = _USUAL_STEP,
    update_ops: Any = None,
    variables_to_train: Any = None,
    transform_grads_fn: Optional[Callable[[Pairs], Pairs]] = None,
    summarize_gradients: bool = False,
    gate_gradients: Any = 1,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> Tensor:
    """The loss; to run it is to take a step, after `update_ops` (by default all UPDATE_OPS).

    Args:
        total_loss: a number.
        optimizer: of `tf.train`.
        global_step: is then one more; by default that of the graph, `None`: none.
        update_ops: done before.
        variables_to_train: by default all that are trainable.
        transform_grads_fn: changes the list of (gradient, variable).
        summarize_gradients: whether there are summaries of them.
        gate_gradients: as of the optimizer.
        aggregation_method: as of the optimizer.
        colocate_gradients_with_ops: as of the optimizer.
        check_numerics: whether a loss that is not finite is an error.
    """
    step = get_or_create_global_step() if global_step is _USUAL_STEP else global_step
    updates = get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else update_ops
    if updates:
        with control_dependencies(list(updates)):
            barrier = no_op(name="update_barrier")
        total_loss = with_dependencies([barrier], total_loss)
    pairs = optimizer.compute_gradients(
        total_loss,
        trainable_variables() if variables_to_train is None else variables_to_train,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if transform_grads_fn is not None:
        pairs = transform_grads_fn(pairs)
    if summarize_gradients:
        with name_scope("summarize_grads"):
            add_gradients_summaries(pairs)
    applied = optimizer.apply_gradients(pairs, global_step=step)
    with name_scope("train_op"):
        if check_numerics:
            total_loss = checked(total_loss, "LossTensor is inf or nan")
        made: Tensor = with_dependencies([applied], total_loss)
    kept = get_collection_ref(GraphKeys.TRAIN_OP)
    if not any(op is made for op in kept):
        kept.append(made)
    return made


@symbol("contrib.slim.learning.create_train_op")
def create_train_op_of_slim(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = _USUAL_STEP,
    update_ops: Any = None,
    variables_to_train: Any = None,
    clip_gradient_norm: float = 0,
    summarize_gradients: bool = False,
    gate_gradients: Any = 1,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Any = None,
    check_numerics: bool = True,
) -> Tensor:
    """Make a step as `contrib.training.create_train_op`; gradients multiplied, then clipped."""

    def transform(pairs: Pairs) -> Pairs:
        if gradient_multipliers:
            pairs = multiply_gradients(pairs, gradient_multipliers)
        return clip_gradient_norms(pairs, clip_gradient_norm) if clip_gradient_norm else pairs

    return create_train_op(
        total_loss, optimizer, global_step, update_ops, variables_to_train, transform,
        summarize_gradients, gate_gradients, aggregation_method, colocate_gradients_with_ops,
        check_numerics,
    )  # fmt: skip
