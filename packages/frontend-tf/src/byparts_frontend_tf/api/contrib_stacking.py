"""More of `tf.contrib.layers`: the same layer several times, linear layers, embedded sequences."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from byparts_frontend_tf.api.arg_scope import add_arg_scope
from byparts_frontend_tf.api.contrib_layers import channels_of, collected, fully_connected
from byparts_frontend_tf.api.indexing import embedding_lookup
from byparts_frontend_tf.api.initializers import Zeros
from byparts_frontend_tf.api.nn import bias_add as added
from byparts_frontend_tf.api.unary import relu as relu_of, relu6 as relu6_of
from byparts_frontend_tf.api.variable_scope import get_variable, variable_scope
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol

linear = partial(fully_connected, activation_fn=None)
relu = partial(fully_connected, activation_fn=relu_of)
relu6 = partial(fully_connected, activation_fn=relu6_of)
SYMBOLS = {f"contrib.layers.{name}": name for name in ("linear", "relu", "relu6")}


@symbol("contrib.layers.stack")
def stack(inputs: Any, layer: Callable[..., Any], stack_args: Any, **kwargs: Any) -> Any:
    """Layers one behind the other, each with its arguments.

    Args:
        inputs: of the first.
        layer: a function as `fully_connected`.
        stack_args: for each layer its second argument, or several.
        kwargs: of all.

    Raises:
        ValueError: `stack_args` is no list.
    """
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    with variable_scope(scope, "stack", [inputs]):
        y: Any = inputs
        name = scope or getattr(layer, "__name__", None) or layer.func.__name__  # type: ignore[attr-defined]  # a partial function
        for i, given in enumerate(stack_args):
            arguments = given if isinstance(given, (list, tuple)) else [given]
            y = layer(y, *arguments, **{**kwargs, "scope": f"{name}_{i + 1}"})
        return y


@symbol("contrib.layers.bias_add")
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
    """activation_fn(inputs + b), with a new b for each channel."""
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse):
        x = convert_to_tensor(inputs)
        count = channels_of(x, 1 if data_format.startswith("NC") else -1)
        keys = [GraphKeys.GLOBAL_VARIABLES, *(variables_collections or ())]
        how = {"initializer": initializer, "regularizer": regularizer, "collections": keys}
        b = get_variable("biases", [count], trainable=trainable, **how)
        y: Any = added(x, b, data_format)
        return collected(y if activation_fn is None else activation_fn(y), outputs_collections)


@symbol("contrib.layers.embed_sequence")
def embed_sequence(
    ids: Any,
    vocab_size: Any = None,
    embed_dim: Any = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Tensor:
    """A vector for each number: [..., embed_dim], of a new table [vocab_size, embed_dim].

    Raises:
        ValueError: a size is missing.
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            f"Must specify vocab size and embedding dimension when not reusing. Got vocab_size="
            f"{vocab_size} and embed_dim={embed_dim}"
        )
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        keys = [GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
        table = get_variable(
            "embeddings",
            shape=[vocab_size, embed_dim],
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=keys,
        )
        found: Tensor = embedding_lookup(table, ids)
        return found
