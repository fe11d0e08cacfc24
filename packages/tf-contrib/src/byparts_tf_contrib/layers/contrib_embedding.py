"""More of `tf.contrib.layers`: layers with an activation, embedded sequences."""

from __future__ import annotations

from functools import partial
from typing import Any

from byparts_frontend_tf.api.nn.embedding import embedding_lookup
from byparts_frontend_tf.api.nn.relu import relu as relu_of, relu6 as relu6_of
from byparts_frontend_tf.api.variables.variable_scope import get_variable, variable_scope
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.layers.contrib_layers import fully_connected

linear = partial(fully_connected, activation_fn=None)
relu = partial(fully_connected, activation_fn=relu_of)
relu6 = partial(fully_connected, activation_fn=relu6_of)
SYMBOLS = {f"contrib.layers.{name}": name for name in ("linear", "relu", "relu6")}


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
        vectors: Tensor = embedding_lookup(table, ids)
        return vectors
