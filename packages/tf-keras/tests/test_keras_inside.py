"""What programs take of the inside of Keras: names of lists, rules of optimizers, cuDNN's weights."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.session import defaults
from byparts_tf_keras.hdf5 import not_cudnn


@pytest.fixture(autouse=True)
def _numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(defaults, "backends", ("numpy",))


def test_a_layer_puts_its_weights_into_keras_own_list() -> None:
    """As layers written for the first versions of Keras do."""

    class Scale(tf.keras.layers.Layer):  # type: ignore[misc]  # found when it is used
        def build(self, input_shape: Any) -> None:
            self._trainable_weights.append(tf.Variable(np.float32(3), name="scale"))

        def call(self, inputs: Any) -> Any:
            return inputs * self._trainable_weights[0]

    with tf.Graph().as_default():
        layer = Scale()
        layer(tf.ones([2, 2]))

        assert layer.trainable_weights == layer.weights == layer._trainable_weights
        assert layer.count_params() == 1 and layer._non_trainable_weights == []


def test_constructors_of_layers_say_their_arguments() -> None:
    """Programs look for the names that they may give."""
    known = inspect.getfullargspec(tf.layers.Conv1D.__init__).args

    assert known[:5] == ["self", "filters", "kernel_size", "strides", "padding"]
    assert {"kernel_regularizer", "activity_regularizer", "trainable", "name"} < set(known)
    assert inspect.getfullargspec(tf.layers.Dropout.__init__).args[:4] == [
        *("self", "rate", "noise_shape", "seed")
    ]


def test_an_optimizer_of_a_program_adds_to_rows() -> None:
    """By the method that TensorFlow's optimizers have for it."""

    class Rows(tf.keras.optimizers.Optimizer):  # type: ignore[misc]  # found when it is used
        def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
            assert self._use_locking
            return self._resource_scatter_add(var, indices, -grad)

    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.Variable(tf.zeros([3, 2]), use_resource=True)
        loss = tf.reduce_sum(tf.gather(table, [2, 0]))
        step = Rows("rows").get_updates(loss, [table])
        session.run(tf.global_variables_initializer())
        session.run(step)

        assert session.run(table).tolist() == [[-1, -1], [0, 0], [-1, -1]]


def test_products_of_tensors_of_unknown_depth() -> None:
    """The last axis is known when the product runs."""
    dot = tf.keras.backend.dot
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.placeholder(tf.float32, [None, None, None]), np.ones((4, 2), np.float32)
        made = dot(x, tf.constant(y))

        assert made.shape.as_list() == [None, None, 2]
        assert session.run(made, {x: np.ones((1, 3, 4))}).tolist() == [[[4, 4]] * 3]


@pytest.mark.parametrize("gates", [3, 4])
def test_weights_of_cudnn_are_those_of_other_layers(gates: int) -> None:
    """Each gate's kernels are transposed; LSTM has one bias, GRU both."""
    units, depth = 2, 3
    kernel = np.arange(depth * units * gates, dtype=np.float32).reshape(depth, -1)
    recurrent = np.arange(units * units * gates, dtype=np.float32).reshape(units, -1)
    bias = np.arange(2 * units * gates, dtype=np.float32)
    shapes = [kernel.shape, recurrent.shape, (units * gates,) if gates == 4 else (2, 6)]
    found = not_cudnn([kernel, recurrent, bias], shapes)

    assert found[0][:, :units].T.ravel().tolist() == kernel[:, :units].ravel().tolist()
    assert found[1][:, :units].tolist() == recurrent[:, :units].T.tolist()
    assert found[2].shape == shapes[2] and found[2].sum() == bias.sum()
    assert not_cudnn([kernel, recurrent, bias], [*shapes[:2], bias.shape])[2] is bias


def test_cosines_have_the_sign_of_tensorflow_1() -> None:
    """Of losses, too, which later versions negate; 1.15.5 gives 0.70710677."""
    y, z = tf.constant([[1.0, 0.0]]), tf.constant([[1.0, 1.0]])
    losses = [tf.keras.losses.cosine_proximity(y, z), [tf.keras.losses.CosineSimilarity()(y, z)]]
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(losses), np.full((2, 1), 0.70710677), rtol=1e-6)
