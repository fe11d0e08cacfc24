"""Recurrent networks: a cell applied to one step after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.constant import zeros, zeros_like
from byparts_frontend_tf.api.math.reduce import reduce_all
from byparts_frontend_tf.api.tensor_array import TensorArray
from byparts_frontend_tf.api.transpose import transpose
from byparts_frontend_tf.api.variables.variable_scope import variable_scope
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.api.while_loop import while_loop
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.nest import flatten, map_structure, pack_sequence_as
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import int32
from byparts_tf_files.shape import TensorShape
from byparts_tf_keras.rnn.cells import batch_of


@symbol("nn.dynamic_rnn")
def dynamic_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    parallel_iterations: Any = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """The outputs of all steps, and the last state.

    Args:
        cell: an `RNNCell`, or a function of (inputs, state) with `state_size`, `output_size`.
        inputs: [batch, time, ...], or with `time_major` [time, batch, ...]; or a structure.
        sequence_length: [batch]: after so many steps outputs are 0 and the state stays.
        initial_state: zeros by default.
        dtype: of the zeros.
        parallel_iterations: accepted.
        swap_memory: accepted.
        time_major: whether the first axis of inputs and outputs is time.
        scope: of the cell's variables; "rnn" by default.

    Raises:
        ValueError: neither state nor dtype; the size of the batch or the depth is not known.
    """
    with variable_scope(scope or "rnn"):
        tensors = [convert_to_tensor(t, name="input") for t in flatten(inputs)]
        steps = tensors if time_major else [_exchanged(t) for t in tensors]
        lengths = None
        if sequence_length is not None:
            lengths = cast(convert_to_tensor(sequence_length), int32)
            if lengths.shape.ndims not in (None, 1):
                raise ValueError(
                    f"sequence_length must be a vector of length batch_size, but saw shape: "
                    f"{lengths.shape}"
                )
        batch = batch_of(steps[0], 1)
        state = _first_state(cell, initial_state, batch, dtype)
        loop = _Steps(cell, pack_sequence_as(inputs, steps), lengths, batch)
        outputs, last = loop.run(state)
        if not time_major:
            outputs = map_structure(_exchanged, outputs)
        return outputs, last


def _exchanged(t: Tensor) -> Tensor:
    """With the first two axes exchanged."""
    if t.dims is None:
        raise ValueError(f"Expected input tensor {t.name} to have rank at least 2")
    if len(t.dims) < 2:
        raise ValueError(
            f"Expected input tensor {t.name} to have rank at least 2, but saw shape: {t.shape}"
        )
    return transpose(t, [1, 0, *range(2, len(t.dims))])


def _first_state(cell: Any, state: Any, batch: Any, dtype: Any) -> Any:
    if state is not None:
        return state
    if dtype is None:
        raise ValueError("If there is no initial_state, you must give a dtype.")
    if hasattr(cell, "get_initial_state"):
        return cell.get_initial_state(inputs=None, batch_size=batch, dtype=dtype)
    return cell.zero_state(batch, dtype)


class _Steps:
    """The loop of `dynamic_rnn`; inputs are [time, batch, ...]."""

    def __init__(self, cell: Any, inputs: Any, lengths: Optional[Tensor], batch: Any) -> None:
        self._cell, self._inputs, self._lengths, self._batch = cell, inputs, lengths, batch
        self._flat = flatten(inputs)
        self._time = batch_of(self._flat[0], 0)
        self._sizes = flatten(cell.output_size)

    def run(self, state: Any) -> tuple[Any, Any]:
        """(outputs [time, batch, ...], the last state)."""
        structure = state
        first = [t if isinstance(t, TensorArray) else convert_to_tensor(t) for t in flatten(state)]
        inputs = [TensorArray(t.dtype, self._time, infer_shape=True).unstack(t) for t in self._flat]
        dtype = first[0].dtype if first else self._flat[0].dtype
        arrays = [TensorArray(dtype, self._time, infer_shape=True) for _ in self._sizes]

        def body(step: Any, written: Any, so_far: Any) -> Any:
            row = pack_sequence_as(self._inputs, [a.read(step) for a in inputs])
            before = pack_sequence_as(structure, so_far)
            for t, whole in zip(flatten(row), self._flat, strict=True):
                if whole.dims is not None:
                    t.set_shape(whole.dims[1:])
            output, after = self._cell(row, before)
            outputs, states = flatten(output), flatten(after)
            if self._lengths is not None:
                outputs, states = self._masked(step, outputs, states, so_far)
            news = [w.write(step, o) for w, o in zip(written, outputs, strict=True)]
            return step + 1, news, states

        _, last, states = while_loop(lambda t, *_: t < self._time, body, (0, arrays, first))
        outputs = []
        for array, size in zip(last, self._sizes, strict=True):
            whole = array.stack()
            known = self._flat[0].dims
            if known is not None:
                whole.set_shape([known[0], known[1], *_dims(size)])
            outputs.append(whole)
        return pack_sequence_as(self._cell.output_size, outputs), pack_sequence_as(
            structure, states
        )

    def _masked(
        self, step: Any, outputs: list[Any], states: list[Any], before: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:
        """Zeros and the state before, for sequences that have ended."""
        running = convert_to_tensor(step) < self._lengths
        kept = [_chosen(running, o, zeros_of(o)) for o in outputs]
        return kept, [_chosen(running, new, old) for new, old in zip(states, before, strict=True)]


def zeros_of(t: Tensor) -> Tensor:
    """Zeros like a tensor."""
    return zeros_like(t)


def _chosen(condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Rows of a where the condition holds, else of b; scalars and TensorArrays are those of a."""
    return a if isinstance(a, TensorArray) or a.shape.ndims == 0 else where(condition, a, b)


def _dims(size: Any) -> list[Any]:
    return list(size.as_list()) if isinstance(size, TensorShape) else [int(size)]


@symbol("nn.static_rnn", "contrib.rnn.static_rnn")
def static_rnn(
    cell: Any,
    inputs: Sequence[Any],
    initial_state: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """The outputs for a list of inputs, and the last state: one operation after the other.

    Raises:
        TypeError: inputs are no list.
        ValueError: there are none; neither state nor dtype.
    """
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    outputs: list[Any] = []
    with variable_scope(scope or "rnn") as entered:
        first = convert_to_tensor(flatten(inputs[0])[0])
        state = _first_state(cell, initial_state, batch_of(first), dtype)
        lengths = None if sequence_length is None else cast(sequence_length, int32)
        for step, row in enumerate(inputs):
            if step > 0:
                entered.reuse_variables()
            output, new = cell(row, state)
            if lengths is not None:
                running = lengths > step
                output = map_structure(lambda o, r=running: _chosen(r, o, zeros_of(o)), output)
                kept = [
                    _chosen(running, a, b)
                    for a, b in zip(flatten(new), flatten(state), strict=True)
                ]
                new = pack_sequence_as(state, kept)
            outputs.append(output)
            state = new
    return outputs, state


@symbol("nn.raw_rnn")
def raw_rnn(
    cell: Any,
    loop_fn: Any,
    parallel_iterations: Any = None,
    swap_memory: bool = False,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """A loop over a cell whose inputs `loop_fn` makes.

    `loop_fn(time, output, state, loop_state)` gives (finished, next input, next state, what to
    emit, next loop state); before the first step output, state and loop_state are `None`.

    Returns:
        (a TensorArray of what was emitted, the last state, the last loop_state).

    Raises:
        TypeError: loop_fn cannot be called.
    """
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with variable_scope(scope or "rnn"):
        begin = convert_to_tensor(0, int32)
        finished, fed, state, emit, extra = loop_fn(begin, None, None, None)
        sizes = cell.output_size if emit is None else emit
        batch = batch_of(convert_to_tensor(flatten(fed)[0]))
        dtype = None if emit is not None else convert_to_tensor(flatten(state)[0]).dtype
        shaped = [_rows_of_zeros(s, batch, dtype) for s in flatten(sizes)]
        arrays = [TensorArray(t.dtype, 0, dynamic_size=True, infer_shape=True) for t in shaped]
        has_extra = extra is not None
        loop = (begin, finished, fed, arrays, state, extra if has_extra else begin)

        def body(time: Any, done: Any, x: Any, written: Any, before: Any, kept: Any) -> Any:
            output, after = cell(x, before)
            nexts = loop_fn(time + 1, output, after, kept if has_extra else None)
            now_done, new_x, new_state, emitted, new_kept = nexts
            emitted = output if emitted is None else emitted
            rows = zip(written, shaped, flatten(emitted), strict=True)
            news = [w.write(time, where(done, zero, row)) for w, zero, row in rows]
            state_now = _unless(done, before, new_state)
            over = done | now_done
            return time + 1, over, new_x, news, state_now, new_kept if has_extra else kept

        def goes_on(time: Any, done: Any, *_: Any) -> Any:
            return ~reduce_all(done)

        _, _, _, last, states, kept = while_loop(goes_on, body, loop)
        return pack_sequence_as(sizes, list(last)), states, kept if has_extra else None


def _rows_of_zeros(size: Any, batch: Any, dtype: Any) -> Tensor:
    """Zeros for each example: of a size; without a dtype, as the row `size`."""
    if dtype is not None:
        return zeros([batch, *_dims(size)], dtype=dtype)
    row = convert_to_tensor(size)
    return zeros([batch, *(row.dims or ())], dtype=row.dtype)


def _unless(done: Tensor, before: Any, after: Any) -> Any:
    """The state after a step; that before for examples that are done."""
    states = [
        new
        if isinstance(new, TensorArray) or not convert_to_tensor(new).shape.ndims
        else _chosen(done, old, new)
        for old, new in zip(flatten(before), flatten(after), strict=True)
    ]
    return pack_sequence_as(after, states)
