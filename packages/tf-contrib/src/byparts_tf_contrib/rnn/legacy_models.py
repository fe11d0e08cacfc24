"""`tf.contrib.legacy_seq2seq`: encoder and decoder in one function, over lists of steps."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.cond import cond
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.variables.variable_scope import get_variable_scope, variable_scope
from byparts_frontend_tf.graph.nest import flatten, pack_sequence_as
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.rnn.legacy_decoders import (
    LoopFunction,
    embedding_attention_decoder,
    embedding_rnn_decoder,
    rnn_decoder,
)
from byparts_tf_contrib.rnn.sequence_losses import (
    Loss,
    legacy_sequence_loss,
    sequence_loss_by_example,
)
from byparts_tf_files.dtypes import float32
from byparts_tf_keras.rnn.loops import static_rnn
from byparts_tf_keras.rnn.wrappers import EmbeddingWrapper, OutputProjectionWrapper

Steps = Sequence[Any]
Decoded = tuple[list[Any], Any]


@symbol("contrib.legacy_seq2seq.basic_rnn_seq2seq")
def basic_rnn_seq2seq(
    encoder_inputs: Steps, decoder_inputs: Steps, cell: Any, dtype: Any = float32, scope: Any = None
) -> Decoded:
    """The last state of one cell is the first one of another of its kind."""
    with variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


@symbol("contrib.legacy_seq2seq.tied_rnn_seq2seq")
def tied_rnn_seq2seq(
    encoder_inputs: Steps,
    decoder_inputs: Steps,
    cell: Any,
    loop_function: LoopFunction = None,
    dtype: Any = float32,
    scope: Any = None,
) -> Decoded:
    """Encoder and decoder are one cell."""
    with variable_scope("combined_tied_rnn_seq2seq"):
        inner = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=inner)
        get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function, scope=inner)


def _decoded(feed_previous: Any, decoder: Callable[[bool], Decoded]) -> Decoded:
    """A decoder that is fed its own symbols, or not, as a bool or a tensor says."""
    if isinstance(feed_previous, bool):
        return decoder(feed_previous)
    structure: list[Any] = []

    def branch(feeds: bool) -> list[Any]:
        with variable_scope(get_variable_scope(), reuse=None if feeds else True):
            outputs, state = decoder(feeds)
        structure[:] = [len(outputs), state]
        return [*outputs, *flatten(state)]

    made = cond(feed_previous, lambda: branch(True), lambda: branch(False))
    count, state = structure
    return list(made[:count]), pack_sequence_as(state, made[count:])


@symbol("contrib.legacy_seq2seq.embedding_rnn_seq2seq")
def embedding_rnn_seq2seq(
    encoder_inputs: Steps,
    decoder_inputs: Steps,
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> Decoded:
    """Symbols [batch] for each step in and out, both embedded."""
    with variable_scope(scope or "embedding_rnn_seq2seq", dtype=dtype):
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        _, state = static_rnn(encoder, encoder_inputs, dtype=dtype or float32)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
        return _decoded(
            feed_previous,
            lambda feeds: embedding_rnn_decoder(
                decoder_inputs,
                state,
                cell,
                num_decoder_symbols,
                embedding_size,
                output_projection,
                feeds,
            ),
        )


@symbol("contrib.legacy_seq2seq.embedding_attention_seq2seq")
def embedding_attention_seq2seq(
    encoder_inputs: Steps,
    decoder_inputs: Steps,
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> Decoded:
    """Run `embedding_rnn_seq2seq` with a decoder that attends to all outputs of the encoder."""
    with variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype):
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        outputs, state = static_rnn(encoder, encoder_inputs, dtype=dtype or float32)
        states = concat([reshape(e, [-1, 1, cell.output_size]) for e in outputs], 1)
        size: Optional[int] = None
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
            size = num_decoder_symbols
        return _decoded(
            feed_previous,
            lambda feeds: embedding_attention_decoder(
                decoder_inputs,
                state,
                states,
                cell,
                num_decoder_symbols,
                embedding_size,
                num_heads,
                size,
                output_projection,
                feeds,
                initial_state_attention=initial_state_attention,
            ),
        )


@symbol("contrib.legacy_seq2seq.model_with_buckets")
def model_with_buckets(
    encoder_inputs: Steps,
    decoder_inputs: Steps,
    targets: Steps,
    weights: Steps,
    buckets: Sequence[tuple[int, int]],
    seq2seq: Callable[..., Any],
    softmax_loss_function: Loss = None,
    per_example_loss: bool = False,
    name: Optional[str] = None,
) -> tuple[list[Any], list[Any]]:
    """The outputs and the loss of a model for each pair of lengths; variables are shared.

    Raises:
        ValueError: a list is shorter than the last bucket.
    """
    longest = buckets[-1]
    given = (
        ("encoder_inputs", encoder_inputs, 0),
        ("targets", targets, 1),
        ("weights", weights, 1),
    )
    for what, steps, side in given:
        if len(steps) < longest[side]:
            raise ValueError(
                f"Length of {what} ({len(steps)}) must be at least that of last bucket "
                f"({longest[side]})."
            )
    loss = sequence_loss_by_example if per_example_loss else legacy_sequence_loss
    losses, outputs = [], []
    with name_scope(name, "model_with_buckets", []):
        for number, (n, m) in enumerate(buckets):
            with variable_scope(get_variable_scope(), reuse=True if number > 0 else None):
                made, _ = seq2seq(encoder_inputs[:n], decoder_inputs[:m])
                outputs.append(made)
                losses.append(
                    loss(
                        made,
                        targets[:m],
                        weights[:m],
                        softmax_loss_function=softmax_loss_function,
                    )
                )
    return outputs, losses
