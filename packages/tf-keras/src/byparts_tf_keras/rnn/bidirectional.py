"""Recurrent networks of two directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.reverse import reverse, reverse_sequence
from byparts_frontend_tf.api.stack import stack, unstack
from byparts_frontend_tf.api.variables.variable_scope import variable_scope
from byparts_frontend_tf.graph.nest import flatten, map_structure
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import int32
from byparts_tf_keras.rnn.loops import dynamic_rnn, static_rnn


@symbol("nn.bidirectional_dynamic_rnn")
def bidirectional_dynamic_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    parallel_iterations: Any = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """((outputs forwards, outputs backwards), (last states)): both of the steps in their order."""
    time, batch = (0, 1) if time_major else (1, 0)
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forwards:
            there = dynamic_rnn(
                cell_fw, inputs, sequence_length, initial_state_fw, dtype,
                time_major=time_major, scope=forwards,
            )  # fmt: skip

        def turned(t: Any) -> Any:
            if sequence_length is not None:
                return reverse_sequence(t, sequence_length, seq_axis=time, batch_axis=batch)
            return reverse(t, [time])

        with variable_scope("bw") as backwards:
            outputs, last = dynamic_rnn(
                cell_bw, map_structure(turned, inputs), sequence_length, initial_state_bw, dtype,
                time_major=time_major, scope=backwards,
            )  # fmt: skip
    return (there[0], map_structure(turned, outputs)), (there[1], last)


@symbol("nn.static_bidirectional_rnn", "contrib.rnn.static_bidirectional_rnn")
def static_bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Sequence[Any],
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any, Any]:
    """(outputs of both side by side, last state forwards, last state backwards)."""
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forwards:
            there, last_fw = static_rnn(
                cell_fw, inputs, initial_state_fw, dtype, sequence_length, forwards
            )
        with variable_scope("bw") as backwards:
            turned = _turned(inputs, sequence_length)
            back, last_bw = static_rnn(
                cell_bw, turned, initial_state_bw, dtype, sequence_length, backwards
            )
    back = _turned(back, sequence_length)
    pairs = zip(there, back, strict=True)
    return [concat([flatten(f)[0], flatten(b)[0]], 1) for f, b in pairs], last_fw, last_bw


def _turned(inputs: Sequence[Any], lengths: Any) -> list[Any]:
    """A list of steps from the last to the first, of each sequence."""
    if lengths is None:
        return list(reversed(inputs))
    whole = reverse_sequence(stack(inputs), cast(lengths, int32), seq_axis=0, batch_axis=1)
    return unstack(whole, len(inputs))
