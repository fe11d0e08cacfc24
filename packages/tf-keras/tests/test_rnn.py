"""Recurrent networks against TensorFlow's recorded numbers and names; layers of one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rnn_values import CELLS, values

import byparts_frontend_tf as tf

RECORDED = json.loads((Path(__file__).parent / "data" / "rnn.json").read_text())


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_computes_what_tensorflows_does(name: str) -> None:
    """Unrolled, in a loop with lengths, in both directions; gradients and names."""
    found = values(tf, name)

    assert found["names"] == RECORDED[name]["names"]
    np.testing.assert_allclose(found["sums"], RECORDED[name]["sums"], rtol=2e-5)


def test_a_layer_of_ones_own_makes_its_variables_once() -> None:
    class Scale(tf.layers.Layer):  # type: ignore[misc]  # found at run time
        def build(self, input_shape: Any) -> None:
            self.gain = self.add_weight(
                "gain", [input_shape[-1]], initializer=tf.ones_initializer()
            )
            super().build(input_shape)

        def call(self, inputs: Any) -> Any:
            return inputs * self.gain

    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3])
        layer, other = Scale(), Scale()
        y, z = layer(layer(x)), other(x)

        assert [v.name for v in tf.trainable_variables()] == ["scale/gain:0", "scale_1/gain:0"]
        assert (layer.name, other.name, layer.count_params()) == ("scale", "scale_1", 3)
        assert (y.op.name, z.op.name) == ("scale/mul_1", "scale_1/mul")


def test_a_raw_loop_emits_until_all_have_finished() -> None:
    """Sequence 0 ends after 2 steps, sequence 1 after 3."""
    cell = tf.nn.rnn_cell.BasicRNNCell(2)

    def loop(time: Any, output: Any, state: Any, extra: Any) -> Any:
        after = cell.zero_state(2, tf.float32) if output is None else state
        finished = time >= tf.constant([2, 3])
        return finished, tf.ones([2, 1]), after, output, None

    with tf.Session() as session:
        emitted, _, _ = tf.nn.raw_rnn(cell, loop)
        rows = emitted.stack()
        session.run(tf.global_variables_initializer())
        found = session.run(rows)

    assert found.shape == (3, 2, 2)
    np.testing.assert_array_equal(found[2, 0], [0.0, 0.0])
    assert np.all(found[2, 1] != 0.0)


def test_what_cells_refuse() -> None:
    with pytest.raises(ValueError, match="Must specify at least one cell"):
        tf.nn.rnn_cell.MultiRNNCell([])
    with pytest.raises(ValueError, match="input_keep_prob must be between 0 and 1: 2"):
        tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(2), input_keep_prob=2.0)
    with pytest.raises(ValueError, match="If there is no initial_state, you must give a dtype"):
        tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), tf.zeros([1, 2, 3]))


def test_reverse_sequence_turns_the_first_steps() -> None:
    x = tf.constant(np.arange(12.0).reshape(2, 3, 2))
    y = tf.reverse_sequence(x, [2, 3], seq_axis=1, batch_axis=0)
    with tf.Session() as session:
        found, dx = session.run([y, tf.gradients(y[:, 0] ** 2, x)[0]])

    wanted = [[[2, 3], [0, 1], [4, 5]], [[10, 11], [8, 9], [6, 7]]]
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(dx[:, :, 0], [[0, 4, 0], [0, 0, 20]])
