"""Layers of slim that are made of others, and those that only slim has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from byparts_frontend_tf.api.arguments import sizes
from byparts_frontend_tf.api.initializers import Zeros
from byparts_frontend_tf.api.layers.aliases import named_output
from byparts_frontend_tf.api.nn.activations import bias_add as biases_added
from byparts_frontend_tf.api.nn.conv import depthwise_conv2d, separable_conv2d as separable
from byparts_frontend_tf.api.nn.relu import relu
from byparts_frontend_tf.api.nn.softmax import softmax as softmax_of_rows
from byparts_frontend_tf.api.one_hot import one_hot
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.variables.variable_scope import variable_scope
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.layers.arg_scope import add_arg_scope
from byparts_tf_contrib.layers.contrib_initializers import xavier_initializer
from byparts_tf_contrib.layers.contrib_layers import (
    channels_of,
    finished,
    made_weights,
    spread,
)


@symbol("contrib.layers.repeat", "contrib.slim.repeat")
@add_arg_scope
def repeat(
    inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """A layer on its own output, so many times; in scopes scope/scope_1, scope/scope_2, ...

    Raises:
        ValueError: `repetitions` is not positive.
    """
    scope = kwargs.pop("scope", None)
    if repetitions < 1:
        raise ValueError("`repetitions` must be positive")
    with variable_scope(scope, "Repeat", [inputs]):
        inputs = convert_to_tensor(inputs)
        name = scope or getattr(layer, "__name__", None) or "repeat"
        for i in range(repetitions):
            inputs = layer(inputs, *args, scope=f"{name}_{i + 1}", **kwargs)
        return inputs


@symbol("contrib.layers.stack", "contrib.slim.stack")
@add_arg_scope
def stack(inputs: Any, layer: Callable[..., Any], stack_args: Any, **kwargs: Any) -> Any:
    """A layer on its own output, with each of `stack_args` in turn.

    Raises:
        ValueError: these are no list.
    """
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    with variable_scope(scope, "Stack", [inputs]):
        inputs = convert_to_tensor(inputs)
        name = scope or getattr(layer, "__name__", None) or "stack"
        for i, given in enumerate(stack_args):
            arguments = given if isinstance(given, (list, tuple)) else [given]
            inputs = layer(inputs, *arguments, scope=f"{name}_{i + 1}", **kwargs)
        return inputs


@symbol("contrib.layers.one_hot_encoding", "contrib.slim.one_hot_encoding")
@add_arg_scope
def one_hot_encoding(
    labels: Any,
    num_classes: int,
    on_value: Any = 1.0,
    off_value: Any = 0.0,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """`tf.one_hot` of labels."""
    with name_scope(scope, "OneHotEncoding", [labels, num_classes]) as inside:
        given = convert_to_tensor(labels)
        made = one_hot(given, num_classes, on_value=on_value, off_value=off_value)
        return named_output(made, outputs_collections, inside)


@symbol("contrib.layers.softmax", "contrib.slim.softmax")
def softmax(logits: Any, scope: Any = None) -> Any:
    """`nn.softmax` along the last axis."""
    with variable_scope(scope, "softmax", [logits]):
        x = convert_to_tensor(logits)
        last = channels_of(x, -1)
        flat = softmax_of_rows(reshape(x, [-1, last]))
        made = reshape(flat, shape_of(x))
        made.set_shape(x.dims)
        return made


@symbol("contrib.layers.bias_add", "contrib.slim.bias_add")
@add_arg_scope
def bias_add(
    inputs: Any,
    activation_fn: Any = None,
    initializer: Any = Zeros(),  # noqa: B008  # it is never changed
    regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Biases added to the channels, and the activation."""
    given = {
        **{"variables_collections": variables_collections, "biases_regularizer": regularizer},
        "trainable": trainable,
    }
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as entered:
        x = convert_to_tensor(inputs)
        size = channels_of(x, 1 if data_format == "NCHW" else -1)
        made = biases_added(x, made_weights("biases", [size], initializer, given), data_format)
        made = made if activation_fn is None else activation_fn(made)
        return named_output(made, outputs_collections, entered.name)


@symbol(
    *("contrib.layers.separable_conv2d", "contrib.slim.separable_conv2d"),
    *("contrib.layers.separable_convolution2d", "contrib.slim.separable_convolution2d"),
)
@add_arg_scope
def separable_conv2d(
    inputs: Any,
    num_outputs: Any,
    kernel_size: Any,
    depth_multiplier: int = 1,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: Any = 1,
    activation_fn: Any = relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = None,
    pointwise_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = Zeros(),  # noqa: B008  # it is never changed
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """Each channel by its own filters, then, unless `num_outputs` is None, filters of one pixel."""
    given = dict(locals())
    with variable_scope(scope, "SeparableConv2d", [inputs], reuse=reuse) as entered:
        x = convert_to_tensor(inputs)
        channels = channels_of(x, 1 if data_format == "NCHW" else -1)
        initial = weights_initializer or xavier_initializer()
        size = [*sizes(kernel_size, 2, "kernel_size"), channels, depth_multiplier]
        each = made_weights("depthwise_weights", size, initial, given)
        steps, apart = spread(stride, data_format), sizes(rate, 2, "rate")
        if num_outputs is None:
            y = depthwise_conv2d(x, each, steps, padding, apart, data_format=data_format)
            outputs = channels * depth_multiplier
        else:
            shape = [1, 1, channels * depth_multiplier, num_outputs]
            point = made_weights(
                "pointwise_weights", shape, pointwise_initializer or initial, given
            )
            y = separable(x, each, point, steps, padding, apart, data_format=data_format)
            outputs = num_outputs
        return finished(y, given, outputs, data_format, entered)
