"""Layers of `tf.contrib.layers`, which are those of `tf.contrib.slim`, too.

Their variables are named weights and biases, in a scope named after the function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_tf.api.arguments import sizes
from byparts_frontend_tf.api.cond import smart_cond
from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.api.initializers import Zeros
from byparts_frontend_tf.api.layers.aliases import named_output
from byparts_frontend_tf.api.layers.shaped_products import along_last_axis
from byparts_frontend_tf.api.nn.activations import bias_add
from byparts_frontend_tf.api.nn.dropout import dropout as dropped
from byparts_frontend_tf.api.nn.pool import avg_pool, max_pool
from byparts_frontend_tf.api.nn.relu import relu
from byparts_frontend_tf.api.variables.variable_scope import get_variable, variable_scope
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.layers.arg_scope import add_arg_scope
from byparts_tf_contrib.layers.contrib_initializers import xavier_initializer
from byparts_tf_keras.layers.layers import flatten as flattened


def made_weights(name: str, shape: Any, initializer: Any, settings: dict[str, Any]) -> Any:
    """A variable, added to the collections that are named for it."""
    keys = settings["variables_collections"]
    if isinstance(keys, dict):
        keys = keys.get(name)
    keys = [keys] if isinstance(keys, str) else list(keys or ())
    return get_variable(
        name,
        shape,
        initializer=initializer,
        regularizer=_penalty(name, settings),
        trainable=settings["trainable"],
        collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES, *keys],
    )


def _penalty(name: str, settings: dict[str, Any]) -> Any:
    """The regularizer; what it makes is called as of a layer, whose weights are a kernel."""
    regularizer = settings["biases_regularizer" if name == "biases" else "weights_regularizer"]
    if not regularizer or name not in ("weights", "biases"):
        return regularizer
    scope = get_default_graph().get_name_scope()
    of = "kernel" if name == "weights" else "bias"
    scope = f"{scope}/{of}/Regularizer/" if scope else f"{of}/Regularizer/"

    def penalty(weights: Any) -> Any:
        with name_scope(scope):
            return regularizer(weights)

    return penalty


def finished(y: Any, settings: dict[str, Any], size: int, layout: Any, scope: Any) -> Any:
    """With normalization or biases, and the activation; added to collections."""
    if settings["normalizer_fn"] is not None:
        y = settings["normalizer_fn"](y, **(settings["normalizer_params"] or {}))
    elif settings["biases_initializer"] is not None:
        y = bias_add(
            y, made_weights("biases", [size], settings["biases_initializer"], settings), layout
        )
    if settings["activation_fn"] is not None:
        y = settings["activation_fn"](y)
    return named_output(y, settings["outputs_collections"], scope.name)


@symbol("contrib.layers.fully_connected", "contrib.slim.fully_connected")
@add_arg_scope
def fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: Any = relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = Zeros(),  # noqa: B008  # it is never changed
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """activation_fn(normalizer_fn(inputs W) or inputs W + b), along the last axis."""
    settings = dict(locals())
    with variable_scope(scope, "fully_connected", [inputs], reuse=reuse) as entered:
        x = convert_to_tensor(inputs)
        last = channels_of(x, -1)
        w = made_weights(
            "weights", [last, num_outputs], weights_initializer or xavier_initializer(), settings
        )
        y = along_last_axis(x, w)
        return finished(y, settings, num_outputs, None, entered)


def channels_of(x: Tensor, axis: int) -> int:
    """The extent of an axis.

    Raises:
        ValueError: it is not known.
    """
    extent = None if x.dims is None else x.dims[axis]
    if extent is None:
        raise ValueError(f"The channel dimension of the inputs should be defined: {x.shape}")
    return extent


def spread(numbers: Any, layout: str) -> list[int]:
    """Numbers for spatial axes, as `nn.conv2d` and its like take them."""
    spatial = sizes(numbers, len(layout) - 2, "kernel_size")
    return [1, 1, *spatial] if layout[1] == "C" else [1, *spatial, 1]


def _pooled(pool: Callable[..., Tensor], doc: str, name: str) -> Callable[..., Any]:
    def pooled(
        inputs: Any,
        kernel_size: Any,
        stride: Any = 2,
        padding: str = "VALID",
        data_format: str = "NHWC",
        outputs_collections: Any = None,
        scope: Optional[str] = None,
    ) -> Any:
        with name_scope(scope, name, [inputs]) as inside:
            window, steps = spread(kernel_size, data_format), spread(stride, data_format)
            result = pool(inputs, window, steps, padding, data_format=data_format)
            return named_output(result, outputs_collections, inside)

    pooled.__doc__, pooled.__name__, pooled.__module__ = doc, name, __name__
    return add_arg_scope(pooled)


max_pool2d = _pooled(max_pool, "The maximum of each window.", "MaxPool2D")
avg_pool2d = _pooled(avg_pool, "The mean of each window.", "AvgPool2D")


@symbol("contrib.layers.dropout", "contrib.slim.dropout")
@add_arg_scope
def dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: Any = None,
    scope: Any = None,
    seed: Any = None,
) -> Any:
    """`nn.dropout`, while training."""
    with variable_scope(scope, "Dropout", [inputs]) as entered:
        result = smart_cond(
            is_training,
            lambda: dropped(inputs, keep_prob, noise_shape, seed),
            lambda: identity(convert_to_tensor(inputs)),
        )
    return named_output(result, outputs_collections, entered.name)


@symbol("contrib.layers.flatten", "contrib.slim.flatten")
@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: Any = None) -> Any:
    """Each example as a row."""
    with name_scope(scope, "Flatten", [inputs]) as inside:
        return named_output(flattened(inputs), outputs_collections, inside)


SYMBOLS = {
    **{f"contrib.{p}.max_pool2d": "max_pool2d" for p in ("layers", "slim")},
    **{f"contrib.{p}.avg_pool2d": "avg_pool2d" for p in ("layers", "slim")},
}
