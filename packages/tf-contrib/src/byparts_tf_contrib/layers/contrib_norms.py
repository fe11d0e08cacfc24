"""Normalizations of `tf.contrib.layers`."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.api.cond import smart_cond
from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.api.initializers import Ones, Zeros
from byparts_frontend_tf.api.layers.aliases import named_output
from byparts_frontend_tf.api.layers.batch_statistics import moving_updates, normalized, of_a_sample
from byparts_frontend_tf.api.nn.moments import moments
from byparts_frontend_tf.api.nn.normalization import batch_normalization
from byparts_frontend_tf.api.variables.variable_scope import get_variable, variable_scope
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.scopes import add_to_collection, control_dependencies
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.layers.arg_scope import add_arg_scope
from byparts_tf_contrib.layers.contrib_layers import channels_of


@symbol("contrib.layers.batch_norm", "contrib.slim.batch_norm")
@add_arg_scope
def batch_norm(
    inputs: Any,
    decay: float = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Any = None,
    param_initializers: Any = None,
    param_regularizers: Any = None,
    updates_collections: Any = GraphKeys.UPDATE_OPS,
    is_training: Any = True,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    batch_weights: Any = None,
    fused: Any = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Any = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_decay: float = 0.99,
    adjustment: Any = None,
) -> Any:
    """Ioffe and Szegedy 2015; `updates_collections=None` updates the statistics in place."""
    if renorm or batch_weights is not None or adjustment is not None:
        raise NotImplementedError("batch_norm: renorm, batch_weights, adjustment are not here")
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as entered:
        x = convert_to_tensor(inputs)
        if x.dims is None:
            raise ValueError(f"Inputs {x.name} has undefined rank.")
        rank = len(x.dims)
        at = 1 if data_format == "NCHW" else rank - 1
        size = [channels_of(x, at)]
        setup = param_initializers, param_regularizers
        beta, gamma = beta_and_gamma(size, center, scale, trainable, *setup)
        moving = [
            _parameter("moving_mean", size, Zeros(), False, *setup),
            _parameter("moving_variance", size, Ones(), False, *setup),
        ]
        axes = [a for a in range(rank) if a != at]
        mean, variance = smart_cond(
            is_training, lambda: moments(x, axes), lambda: tuple([identity(m) for m in moving])
        )
        sampled = of_a_sample(variance, x) if rank in (2, 4) and fused is not False else variance
        updates = _updates(moving, (mean, sampled), is_training, decay)
        if updates_collections is None:
            with control_dependencies(updates):
                mean, variance = identity(mean), identity(variance)
        else:
            for update in updates:
                add_to_collection(updates_collections, update)
        of_images = rank == 4 and fused is not False
        y = normalized(x, at, mean, variance, beta, gamma, epsilon, of_images)
        return activated(y, activation_fn, outputs_collections, entered)


def activated(y: Any, activation_fn: Any, outputs_collections: Any, scope: Any) -> Any:
    """With the activation; added to collections."""
    y = y if activation_fn is None else activation_fn(y)
    return named_output(y, outputs_collections, scope.name)


def beta_and_gamma(
    size: Any,
    center: bool,
    scale: bool,
    trainable: bool,
    initializers: Any = None,
    regularizers: Any = None,
) -> list[Any]:
    """Two variables of a model; `None` for one that is not wanted."""
    setup = trainable, initializers, regularizers
    return [
        _parameter("beta", size, Zeros(), *setup) if center else None,
        _parameter("gamma", size, Ones(), *setup) if scale else None,
    ]


def _parameter(
    name: str, size: Any, usual: Any, trainable: bool, initializers: Any, regularizers: Any
) -> Any:
    return get_variable(
        name,
        size,
        initializer=(initializers or {}).get(name, usual),
        regularizer=(regularizers or {}).get(name),
        trainable=trainable,
        collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES],
    )


def _updates(moving: Any, new: Any, is_training: Any, decay: float) -> list[Any]:
    """The operations that move the statistics."""
    if is_training is False:
        return []
    share = convert_to_tensor(smart_cond(is_training, lambda: 1.0 - decay, lambda: 0.0))
    return moving_updates(moving, new, share)


@symbol("contrib.layers.layer_norm", "contrib.slim.layer_norm")
@add_arg_scope
def layer_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    activation_fn: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Any = None,
) -> Any:
    """Ba et al. 2016: each example normalized by its own mean and variance."""
    with variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as entered:
        x = convert_to_tensor(inputs)
        dims = list(x.dims or ())
        size = [int(d or 0) for d in dims[begin_params_axis:]]
        beta, gamma = beta_and_gamma(size, center, scale, trainable)
        axes = list(range(begin_norm_axis % len(dims), len(dims)))
        mean, variance = moments(x, axes, keep_dims=True)
        y = batch_normalization(x, mean, variance, beta, gamma, 1e-12)
        y.set_shape(x.dims)
        return activated(y, activation_fn, outputs_collections, entered)
