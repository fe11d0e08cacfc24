"""`tf.contrib.legacy_seq2seq`: decoders over lists of steps, with and without attention."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import zeros
from byparts_frontend_tf.api.identity import stop_gradient
from byparts_frontend_tf.api.initializers import Zeros
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.math.reduce import argmax, reduce_sum
from byparts_frontend_tf.api.math.unary import tanh
from byparts_frontend_tf.api.nn.activations import xw_plus_b
from byparts_frontend_tf.api.nn.conv import conv2d
from byparts_frontend_tf.api.nn.embedding import embedding_lookup
from byparts_frontend_tf.api.nn.softmax import softmax
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import shape
from byparts_frontend_tf.api.stack import stack
from byparts_frontend_tf.api.variables.variable_scope import (
    get_variable,
    get_variable_scope,
    variable_scope,
)
from byparts_frontend_tf.graph.nest import flatten, is_nested
from byparts_frontend_tf.symbols import symbol

LoopFunction = Optional[Callable[[Any, int], Any]]


def linear(given: Any, size: int) -> Any:
    """[inputs] W + b, with the variables `kernel` and `bias` of the current scope."""
    inputs = given if isinstance(given, list) else [given]
    rows = sum(int(t.get_shape()[1]) for t in inputs)
    kernel = get_variable("kernel", [rows, size])
    bias = get_variable("bias", [size], initializer=Zeros())
    joined = inputs[0] if len(inputs) == 1 else concat(inputs, 1)
    return matmul(joined, kernel) + bias


@symbol("contrib.legacy_seq2seq.rnn_decoder")
def rnn_decoder(
    decoder_inputs: Iterable[Any],
    initial_state: Any,
    cell: Any,
    loop_function: LoopFunction = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """The outputs of a cell for each step, and the last state.

    Args:
        decoder_inputs: for each step [batch, width].
        initial_state: of the cell.
        cell: a cell.
        loop_function: of an output and the number of a step gives the input of this step, in place
            of what is given; not of the first.
        scope: of the variables; by default rnn_decoder.
    """
    with variable_scope(scope or "rnn_decoder"):
        state, outputs, previous = initial_state, [], None
        for i, given in enumerate(decoder_inputs):
            inputs = _next_input(loop_function, previous, i, given)
            if i > 0:
                get_variable_scope().reuse_variables()
            output, state = cell(inputs, state)
            outputs.append(output)
            previous = output
    return outputs, state


def _next_input(function: LoopFunction, previous: Any, step: int, given: Any) -> Any:
    if function is None or previous is None:
        return given
    with variable_scope("loop_function", reuse=True):
        return function(previous, step)


def feed_argmax(
    embedding: Any, output_projection: Any = None, update_embedding: bool = True
) -> Callable[[Any, int], Any]:
    """A loop function: the embedding of the most likely symbol."""

    def function(previous: Any, _: int) -> Any:
        if output_projection is not None:
            previous = xw_plus_b(previous, output_projection[0], output_projection[1])
        embedded = embedding_lookup(embedding, argmax(previous, 1))
        return embedded if update_embedding else stop_gradient(embedded)

    return function


@symbol("contrib.legacy_seq2seq.embedding_rnn_decoder")
def embedding_rnn_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Decode as `rnn_decoder`, from symbols [batch] for each step, which are embedded.

    `feed_previous`: the most likely symbol is the next input; only the first one is read.
    """
    with variable_scope(scope or "embedding_rnn_decoder"):
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        function = (
            feed_argmax(embedding, output_projection, update_embedding_for_previous)
            if feed_previous
            else None
        )
        embedded = (embedding_lookup(embedding, i) for i in decoder_inputs)
        return rnn_decoder(embedded, initial_state, cell, function)


class _Attention:
    """The states that are attended to, and the variables of each head."""

    def __init__(self, states: Any, heads: int) -> None:
        self.size = int(states.get_shape()[2])
        length = states.get_shape()[1].value
        self._length = shape(states)[1] if length is None else length
        self._hidden = reshape(states, [-1, self._length, 1, self.size])
        self._features, self._v = [], []
        for head in range(heads):
            kernel = get_variable(f"AttnW_{head}", [1, 1, self.size, self.size])
            self._features.append(conv2d(self._hidden, kernel, [1, 1, 1, 1], "SAME"))
            self._v.append(get_variable(f"AttnV_{head}", [self.size]))

    def nothing(self) -> list[Any]:
        """The vectors that heads read before there is a state: zeros."""
        read = [zeros(stack([shape(self._hidden)[0], self.size])) for _ in self._v]
        for r in read:
            r.set_shape([None, self.size])
        return read

    def __call__(self, query: Any) -> list[Any]:
        """The vectors that heads read, [batch, size] each, for a state."""
        joined = concat(flatten(query), 1) if is_nested(query) else query
        read = []
        for head, (features, v) in enumerate(zip(self._features, self._v, strict=True)):
            with variable_scope(f"Attention_{head}"):
                y = reshape(linear(joined, self.size), [-1, 1, 1, self.size])
                scores = reduce_sum(v * tanh(features + y), [2, 3])
                shares = reshape(softmax(scores), [-1, self._length, 1, 1])
                total = reduce_sum(shares * self._hidden, [1, 2])
                read.append(reshape(total, [-1, self.size]))
        return read


@symbol("contrib.legacy_seq2seq.attention_decoder")
def attention_decoder(
    decoder_inputs: Iterable[Any],
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    output_size: Optional[int] = None,
    num_heads: int = 1,
    loop_function: LoopFunction = None,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """Decode as `rnn_decoder`, by a cell with attention (Vinyals et al. 2015).

    Args:
        decoder_inputs: for each step [batch, width].
        initial_state: of the cell.
        attention_states: [batch, length, size].
        cell: a cell.
        output_size: of an output; by default that of the cell.
        num_heads: how many times it is attended.
        loop_function: as in `rnn_decoder`.
        dtype: of the variables.
        scope: of the variables; by default attention_decoder.
        initial_state_attention: whether the first step attends with the first state, or with zeros.

    Raises:
        ValueError: there is no head, or the size of what is attended to is not known.
    """
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if attention_states.get_shape()[2].value is None:
        raise ValueError(
            f"Shape[2] of attention_states must be known: {attention_states.get_shape()}"
        )
    size = cell.output_size if output_size is None else output_size
    with variable_scope(scope or "attention_decoder", dtype=dtype):
        attention = _Attention(attention_states, num_heads)
        state, outputs, previous = initial_state, [], None
        read = attention(initial_state) if initial_state_attention else attention.nothing()
        for i, given in enumerate(decoder_inputs):
            if i > 0:
                get_variable_scope().reuse_variables()
            inputs = _next_input(loop_function, previous, i, given)
            cell_output, state = cell(linear([inputs, *read], int(inputs.get_shape()[1])), state)
            again = True if i == 0 and initial_state_attention else None
            with variable_scope(get_variable_scope(), reuse=again):
                read = attention(state)
            with variable_scope("AttnOutputProjection"):
                output = linear([cell_output, *read], size)
            outputs.append(output)
            previous = output
    return outputs, state


@symbol("contrib.legacy_seq2seq.embedding_attention_decoder")
def embedding_attention_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: Optional[int] = None,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """Decode as `attention_decoder`, from symbols [batch] for each step, which are embedded."""
    with variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        function = (
            feed_argmax(embedding, output_projection, update_embedding_for_previous)
            if feed_previous
            else None
        )
        return attention_decoder(
            [embedding_lookup(embedding, i) for i in decoder_inputs],
            initial_state,
            attention_states,
            cell,
            cell.output_size if output_size is None else output_size,
            num_heads,
            function,
            initial_state_attention=initial_state_attention,
        )
