"""`K.rnn`: a function of steps and states, applied to one step after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.nest import flatten, map_structure, pack_sequence_as
from byparts_frontend_tf.symbols import symbol

Step = Callable[[Any, list[Any]], tuple[Any, Any]]


def _time_major(t: Any) -> Any:
    return tf.transpose(t, [1, 0, *range(2, len(t.dims))])


def _chosen(kept: Any, a: Any, b: Any) -> Any:
    """Rows of a where they are kept, else of b; kept is [batch, 1] or [batch]."""
    flat = tf.reshape(kept, [-1])
    return tf.where(flat, a, b)


@symbol("keras.backend.rnn")
def rnn(
    step_function: Step,
    inputs: Any,
    initial_states: Sequence[Any],
    go_backwards: bool = False,
    mask: Any = None,
    constants: Any = None,
    unroll: bool = False,
    input_length: Any = None,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
) -> tuple[Any, Any, list[Any]]:
    """(the last output, all outputs [batch, time, ...], the last states).

    Args:
        step_function: (inputs of a step, states) -> (output, new states).
        inputs: [batch, time, ...], or a structure of them.
        initial_states: of the first step.
        go_backwards: whether the last step is the first.
        mask: [batch, time]: steps that are not kept repeat the output and leave the states.
        constants: are added to the states of each step.
        unroll: whether each step is operations of its own.
        input_length: accepted.
        time_major: whether time is the first axis of inputs and outputs.
        zero_output_for_mask: whether outputs of steps that are not kept are zeros.
    """
    flat = [t if time_major else _time_major(t) for t in flatten(inputs)]
    kept = None
    if mask is not None:
        kept = tf.cast(mask if time_major else tf.transpose(mask, [1, 0]), tf.bool)
    if go_backwards:
        flat = [tf.reverse(t, [0]) for t in flat]
        kept = None if kept is None else tf.reverse(kept, [0])
    steps = _Steps(step_function, inputs, flat, kept, list(constants or ()), zero_output_for_mask)
    states = [tf.convert_to_tensor(s) for s in flatten(initial_states)]
    outputs, states = steps.unrolled(states) if unroll else steps.looped(states)
    last = map_structure(lambda t: t[-1], outputs)
    if not time_major:
        outputs = map_structure(_time_major, outputs)
    return last, outputs, states


class _Steps:
    """The steps; inputs are [time, batch, ...]."""

    def __init__(
        self, function: Step, inputs: Any, flat: list[Any], kept: Any, constants: Any, zero: bool
    ) -> None:
        self._function, self._inputs, self._flat, self._kept = function, inputs, flat, kept
        self._constants, self._zero = constants, zero
        self._structure: Any = None

    def _step(self, row: list[Any], kept: Any, before: Any, states: list[Any]) -> Any:
        """(flat outputs, new states)."""
        output, after = self._function(
            pack_sequence_as(self._inputs, row), [*states, *self._constants]
        )
        self._structure = output
        outputs, news = flatten(output), flatten(after)[: len(states)]
        if kept is not None:
            others = [tf.zeros_like(o) for o in outputs] if before is None else before
            outputs = [_chosen(kept, o, b) for o, b in zip(outputs, others, strict=True)]
            news = [_chosen(kept, n, s) for n, s in zip(news, states, strict=True)]
        return outputs, news

    def unrolled(self, states: list[Any]) -> tuple[Any, list[Any]]:
        """Operations for each step.

        Raises:
            ValueError: the number of steps is not known.
        """
        time = self._flat[0].get_shape().as_list()[0]
        if time is None:
            raise ValueError("Unrolling requires a fixed number of timesteps.")
        rows, before = [], None
        for i in range(time):
            kept = None if self._kept is None else self._kept[i]
            outputs, states = self._step([t[i] for t in self._flat], kept, before, states)
            before = None if self._zero else outputs
            rows.append(outputs)
        columns = [tf.stack(list(column)) for column in zip(*rows, strict=True)]
        return pack_sequence_as(self._structure, columns), states

    def looped(self, states: list[Any]) -> tuple[Any, list[Any]]:
        """A loop over steps."""
        known = self._flat[0].get_shape().as_list()[0]
        time = tf.shape(self._flat[0])[0] if known is None else known
        arrays = [tf.TensorArray(t.dtype, time, infer_shape=True).unstack(t) for t in self._flat]
        kept = None
        if self._kept is not None:
            kept = tf.TensorArray(tf.bool, time, infer_shape=True).unstack(self._kept)
        first = self._first(states)
        made = [tf.TensorArray(o.dtype, time, infer_shape=True) for o in first]
        begin = [tf.zeros_like(o) for o in first] if kept is not None and not self._zero else []

        def body(i: Any, written: Any, before: Any, so_far: Any) -> Any:
            row = [a.read(i) for a in arrays]
            for t, whole in zip(row, self._flat, strict=True):
                t.set_shape(whole.dims[1:])
            mask = None if kept is None else kept.read(i)
            outputs, news = self._step(row, mask, before or None, so_far)
            for n, s in zip(news, states, strict=True):
                n.set_shape(s.dims)
            news_written = [w.write(i, o) for w, o in zip(written, outputs, strict=True)]
            return i + 1, news_written, outputs if before else [], news

        _, last, _, states = tf.while_loop(lambda i, *_: i < time, body, (0, made, begin, states))
        outputs = [a.stack() for a in last]
        for t, o in zip(outputs, first, strict=True):
            t.set_shape([known, *(o.dims or ())])
        return pack_sequence_as(self._structure, outputs), list(states)

    def _first(self, states: list[Any]) -> list[Any]:
        """Outputs of a step that is made to see their dtypes and shapes."""
        outputs, _ = self._step([t[0] for t in self._flat], None, None, states)
        return list(outputs)
