"""Normalizations of `tf.contrib.layers`."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.api.arithmetic import maximum
from byparts_frontend_tf.api.casting import cast
from byparts_frontend_tf.api.cond import smart_cond
from byparts_frontend_tf.api.layers.aliases import named_output
from byparts_frontend_tf.api.layers.arg_scope import add_arg_scope
from byparts_frontend_tf.api.layers.contrib_layers import channels_of
from byparts_frontend_tf.api.layers.initializers import Ones, Zeros
from byparts_frontend_tf.api.normalizing import batch_normalization, moments
from byparts_frontend_tf.api.passing import identity
from byparts_frontend_tf.api.shaping import reshape, size as size_of
from byparts_frontend_tf.api.variables.variable_scope import get_variable, variable_scope
from byparts_frontend_tf.api.variables.variables import assign_sub
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.scopes import add_to_collection, control_dependencies
from byparts_frontend_tf.symbols import symbol

_MODEL = [GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]


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
        given = param_initializers or {}, param_regularizers or {}
        beta, gamma, *moving = _variables(channels_of(x, at), center, scale, trainable, *given)
        axes = [a for a in range(rank) if a != at]
        mean, variance = smart_cond(
            is_training, lambda: moments(x, axes), lambda: tuple([identity(m) for m in moving])
        )
        sampled = variance
        if rank in (2, 4) and fused is not False:  # what TensorFlow's fused kernel gives
            count = cast(size_of(x), variance.dtype) / channels_of(x, at)
            sampled = variance * (count / maximum(count - 1.0, 1.0))
        updates = _updates(moving, (mean, sampled), is_training, decay)
        if updates_collections is None:
            with control_dependencies(updates):
                mean, variance = identity(mean), identity(variance)
        else:
            for update in updates:
                add_to_collection(updates_collections, update)
        beside = [-1 if a == at else 1 for a in range(rank)]
        parts = [
            t if t is None or at == rank - 1 else reshape(t, beside)
            for t in (mean, variance, beta, gamma)
        ]
        y = batch_normalization(x, parts[0], parts[1], parts[2], parts[3], epsilon)
        if x.dims is not None:
            y.set_shape(x.dims)
        y = y if activation_fn is None else activation_fn(y)
        return named_output(y, outputs_collections, entered.name)


def _variables(
    size: int,
    center: bool,
    scale: bool,
    trainable: bool,
    initializers: dict[str, Any],
    regularizers: dict[str, Any],
) -> list[Any]:
    """beta, gamma (or `None`), moving_mean and moving_variance."""
    usual = {"beta": Zeros(), "gamma": Ones(), "moving_mean": Zeros(), "moving_variance": Ones()}
    wanted = {"beta": center, "gamma": scale}
    return [
        get_variable(
            name,
            [size],
            initializer=initializers.get(name, initial),
            regularizer=regularizers.get(name),
            trainable=trainable and name in wanted,
            collections=_MODEL,
        )
        if wanted.get(name, True)
        else None
        for name, initial in usual.items()
    ]


def _updates(moving: Any, new: Any, is_training: Any, decay: float) -> list[Any]:
    """The operations that move the statistics."""
    if is_training is False:
        return []
    rest = convert_to_tensor(smart_cond(is_training, lambda: 1.0 - decay, lambda: 0.0))
    return [
        assign_sub(m, (m - n) * rest, name="AssignMovingAvg")
        for m, n in zip(moving, new, strict=True)
    ]


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
        given: Any = {"trainable": trainable, "collections": _MODEL}
        beta = get_variable("beta", size, initializer=Zeros(), **given) if center else None
        gamma = get_variable("gamma", size, initializer=Ones(), **given) if scale else None
        axes = list(range(begin_norm_axis % len(dims), len(dims)))
        mean, variance = moments(x, axes, keep_dims=True)
        y = batch_normalization(x, mean, variance, beta, gamma, 1e-12)
        y.set_shape(x.dims)
        y = y if activation_fn is None else activation_fn(y)
        return named_output(y, outputs_collections, entered.name)
