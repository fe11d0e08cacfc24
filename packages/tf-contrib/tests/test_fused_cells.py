"""Fused recurrent cells of `tf.contrib.rnn`, against NumPy's steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

TIME, BATCH, DEPTH, UNITS = 4, 3, 2, 5
RANDOM = np.random.default_rng(0)
INPUTS = RANDOM.normal(size=(TIME, BATCH, DEPTH)).astype(np.float32)
STATE = tuple(RANDOM.normal(size=(2, BATCH, UNITS)).astype(np.float32))
LENGTHS = [4, 0, 2]
OPTIONS = {
    "plain": {},
    "forget_bias": {"forget_bias": -0.5},
    "cell_clip": {"cell_clip": 0.3},
    "no clip": {"cell_clip": -1.0},
    "peephole": {"use_peephole": True},
    "all": {"forget_bias": 0.0, "cell_clip": 0.4, "use_peephole": True},
}
rnn = tf.contrib.rnn


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def stepped(
    weights: dict[str, Any],
    inputs: Any,
    state: Any,
    lengths: Any = None,
    forget_bias: float = 1.0,
    cell_clip: float = -1.0,
    use_peephole: bool = False,
) -> Any:
    """The outputs of all steps, the memory and the output of the last, by NumPy in f64."""
    (c, h), outputs = (np.float64(s) for s in state), []
    of_i, of_f, of_o = (weights[f"w_{g}_diag"] if use_peephole else 0.0 for g in "ifo")
    for t, x in enumerate(np.float64(inputs)):
        gates = np.concatenate([x, h], 1) @ weights["kernel"] + weights["bias"]
        i, j, f, o = np.split(gates, 4, 1)
        new = sigmoid(f + forget_bias + of_f * c) * c + sigmoid(i + of_i * c) * np.tanh(j)
        new = np.clip(new, -cell_clip, cell_clip) if cell_clip > 0 else new
        out = sigmoid(o + of_o * new) * np.tanh(new)
        runs = (t < np.asarray([TIME] * BATCH if lengths is None else lengths))[:, None]
        c, h = np.where(runs, new, c), np.where(runs, out, h)
        outputs.append(np.where(runs, out, 0))
    return np.array(outputs), c, h


def computed(cell: Any, inputs: Any, *wanted: Any, **given: Any) -> tuple[dict[str, Any], Any]:
    """Random weights by the last part of their names, and what a call gives with these."""
    outputs, state = cell(tf.constant(inputs), **given)
    with tf.Session() as session:
        weights = {}
        for v in tf.global_variables():
            value = RANDOM.normal(size=v.shape.as_list())
            v.load(value.astype(np.float32), session)
            weights[v.op.name.rpartition("/")[2]] = value
        return weights, [*session.run([outputs, *state]), *session.run(list(wanted))]


def assert_close(got: Any, wanted: Any) -> None:
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("lengths", [None, LENGTHS])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_fused_lstm_is_its_steps(options: dict[str, Any], lengths: Any) -> None:
    """From a state, to the end of each sequence, also of one of no steps."""
    cell = rnn.LSTMBlockFusedCell(UNITS, **options)
    weights, got = computed(cell, INPUTS, initial_state=STATE, sequence_length=lengths)

    assert_close(got, stepped(weights, INPUTS, STATE, lengths, **options))


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_block_cell_is_a_step(options: dict[str, Any]) -> None:
    cell = rnn.LSTMBlockCell(UNITS, **options)
    weights, (h, c, same) = computed(cell, INPUTS[0], state=tuple(map(tf.constant, STATE)))
    _, *wanted = stepped(weights, INPUTS[:1], STATE, **options)

    assert_close([c, h], wanted)
    np.testing.assert_array_equal(h, same)


def test_variables_have_tensorflows_names() -> None:
    """In the scope of the layer, once for two calls, and trained."""
    cell = rnn.LSTMBlockFusedCell(UNITS, use_peephole=True)
    for _ in range(2):
        outputs, state = cell(tf.constant(INPUTS), dtype=tf.float32)
    names = ["kernel", "bias", "w_i_diag", "w_f_diag", "w_o_diag"]

    assert [v.op.name for v in tf.trainable_variables()] == [f"lstm_fused_cell/{n}" for n in names]
    assert cell.trainable_variables == tf.trainable_variables()
    assert outputs.shape.as_list() == [TIME, BATCH, UNITS]
    assert isinstance(state, rnn.LSTMStateTuple) and state.c.shape.as_list() == [BATCH, UNITS]


def test_a_list_of_steps_gives_a_list() -> None:
    """Outputs are those of a tensor, from zeros of the dtype that is asked for."""
    cell = rnn.LSTMBlockFusedCell(UNITS)
    listed, _ = cell(tf.unstack(tf.constant(INPUTS)), dtype=tf.float32)
    zeros = np.zeros((2, BATCH, UNITS))
    weights, got = computed(cell, INPUTS, tf.stack(listed), dtype=tf.float32)

    assert isinstance(listed, list) and len(listed) == TIME
    assert_close(got, [*(wanted := stepped(weights, INPUTS, zeros)), wanted[0]])


def turned(inputs: Any, lengths: Any) -> Any:
    """The first steps of each sequence from the last to the first."""
    made = inputs.copy()
    for row, n in enumerate(lengths):
        made[:n, row] = inputs[:n, row][::-1]
    return made


@pytest.mark.parametrize("lengths", [None, LENGTHS])
@pytest.mark.parametrize("kind", ["fused", "dynamic", "static"])
def test_time_reversed_is_the_cell_on_reversed_steps(kind: str, lengths: Any) -> None:
    """Each sequence is reversed by itself; outputs are in the order of the inputs."""
    cell = rnn.LSTMBlockFusedCell(UNITS)
    if kind != "fused":
        cell = rnn.FusedRNNCellAdaptor(rnn.LSTMBlockCell(UNITS), kind == "dynamic")
    backward, known = rnn.TimeReversedFusedRNN(cell), [TIME] * BATCH if lengths is None else lengths
    weights, got = computed(backward, INPUTS, dtype=tf.float32, sequence_length=lengths)
    outputs, *state = stepped(weights, turned(INPUTS, known), np.zeros((2, BATCH, UNITS)), lengths)

    assert_close(got, [turned(outputs, known), *state])


def test_gradients_pass_through_all_steps() -> None:
    """Gradients equal those of an equal cell in `dynamic_rnn`."""
    x = tf.constant(INPUTS)
    fused, _ = rnn.LSTMBlockFusedCell(UNITS)(x, dtype=tf.float32)
    looped, _ = tf.nn.dynamic_rnn(rnn.LSTMCell(UNITS), x, dtype=tf.float32, time_major=True)
    slopes = [tf.gradients(tf.reduce_sum(tf.square(y)), x)[0] for y in (fused, looped)]
    with tf.Session() as session:
        for v in tf.global_variables():
            v.load(np.cos(np.arange(v.shape.num_elements())).reshape(v.shape.as_list()), session)
        one, other = session.run(slopes)

    assert_close([one], [other])


def test_what_is_missing_is_said() -> None:
    cell = rnn.LSTMBlockFusedCell(UNITS)

    with pytest.raises(ValueError, match="Either initial_state or dtype needs to be specified"):
        cell(tf.constant(INPUTS))
    with pytest.raises(ValueError, match="initial_state to be a tuple with length 2"):
        cell(tf.constant(INPUTS), initial_state=STATE[:1])
