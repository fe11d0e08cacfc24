"""Functions of `tf.nn`, losses and layers against TensorFlow's recorded numbers and names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nn_values import functions, network, value

import byparts_frontend_tf as tf

RECORDED = json.loads((Path(__file__).parent / "data" / "nn.json").read_text())


@pytest.mark.parametrize("name", functions(tf))
def test_a_function_computes_what_tensorflows_does(name: str) -> None:
    """Numbers, gradients, shape, and the losses that it adds to the collection."""
    found, wanted = value(tf, name), RECORDED[name]

    assert found["shape"] == wanted["shape"] and found["losses"] == wanted["losses"]
    np.testing.assert_allclose(found["some"], wanted["some"], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found["gradients"], wanted["gradients"], rtol=1e-3, atol=1e-4)


def test_a_network_of_layers_trains_as_tensorflows_does() -> None:
    """Losses, moving statistics, and the names of all variables."""
    found, wanted = network(tf), RECORDED["network"]

    for exact in ("shapes", "trained", "updates"):
        assert found[exact] == wanted[exact]
    assert list(found["variables"]) == list(wanted["variables"])
    np.testing.assert_allclose(found["losses"], wanted["losses"], rtol=1e-4)
    np.testing.assert_allclose(found["tested"], wanted["tested"], rtol=1e-3)
    sums = list(found["variables"].values()), list(wanted["variables"].values())
    np.testing.assert_allclose(*sums, rtol=2e-4, atol=1e-5)


def test_dropout_keeps_the_mean_and_a_seed_its_draws() -> None:
    x = tf.ones([100, 100])
    y, z = (tf.nn.dropout(x, keep_prob=0.25, seed=3) for _ in range(2))
    with tf.Session() as session:
        found, other = session.run([y, tf.nn.dropout(x, rate=tf.constant(0.5))])

    assert set(np.unique(found)) == {0.0, 4.0} and abs(found.mean() - 1.0) < 0.1
    assert set(np.unique(other)) == {0.0, 2.0}
    assert z.shape == y.shape


def test_what_functions_refuse() -> None:
    x = tf.zeros([2, 4, 4, 3])
    with pytest.raises(ValueError, match="named arguments"):
        tf.nn.softmax_cross_entropy_with_logits(x, x)
    with pytest.raises(ValueError, match="rate must be a scalar tensor or a float in the range"):
        tf.nn.dropout(x, keep_prob=0.0)
    with pytest.raises(ValueError, match=r"depth \(3\) is not evenly divisible"):
        tf.nn.conv2d(x, tf.zeros([1, 1, 2, 5]), [1, 1, 1, 1], "SAME")
    with pytest.raises(ValueError, match="Rank of labels"):
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[1]], logits=tf.zeros([1, 2]))
    with pytest.raises(ValueError, match="channel dimension of the inputs to `Conv2D`"):
        tf.layers.conv2d(tf.placeholder(tf.float32, [1, 4, 4, None]), 2, 3)
    with pytest.raises(ValueError, match="Unknown padding mode: WRAP"):
        tf.pad(x, [[0, 0]] * 4, "WRAP")


def test_layers_are_those_of_keras() -> None:
    """A model of Keras has layers of `tf.layers`, with their variables and penalties."""
    x = tf.keras.Input([2])
    ones = tf.ones_initializer()
    dense = tf.layers.Dense(1, None, True, ones, ones, tf.nn.l2_loss, name="d")
    model = tf.keras.Model(x, tf.layers.BatchNormalization(trainable=False)(dense(x)))

    assert isinstance(dense, tf.keras.layers.Layer)
    assert [v.name for v in model.trainable_weights] == ["d/kernel:0", "d/bias:0"]
    assert [v.name for v in tf.losses.get_regularization_losses()] == [
        "d/kernel/Regularizer/L2Loss:0"
    ]
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == []
    np.testing.assert_allclose(model.predict(np.array([[1.0, 2.0]])), [[4 / 1.001**0.5]], 1e-5)


def test_a_penalty_on_outputs_is_for_each_example() -> None:
    """As in TensorFlow 1.15: divided by the size of the batch."""
    tf.layers.flatten(tf.ones([2, 3]))
    layer = tf.layers.Flatten(activity_regularizer=tf.reduce_sum)
    layer(tf.ones([2, 3]))

    with tf.Session() as session:
        assert session.run(tf.losses.get_regularization_loss()) == 3.0


def test_a_penalty_of_a_scope_and_that_of_a_layer_are_both_of_its_weights() -> None:
    with tf.variable_scope("s", regularizer=lambda w: tf.reduce_sum(w * w)):
        tf.layers.dense(tf.zeros([2, 3]), 4, kernel_regularizer=tf.nn.l2_loss)

    names = [t.op.name for t in tf.losses.get_regularization_losses()]
    assert names == [
        *("s/dense/kernel/Regularizer/Sum", "s/dense/kernel/Regularizer/L2Loss"),
        "s/dense/bias/Regularizer/Sum",
    ]


@pytest.mark.parametrize(("fused", "axis", "moved"), [(None, -1, 4 / 3), (False, -1, 1.0)])
def test_a_moving_variance_is_that_of_a_sample_where_the_layer_is_fused(
    fused: bool | None, axis: int, moved: float
) -> None:
    """Four numbers of variance 1 in each channel."""
    images = np.array([1.0, -1.0, 1.0, -1.0], np.float32).reshape(4, 1, 1, 1)
    tf.layers.batch_normalization(images, axis, momentum=0.0, fused=fused, training=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        (variance,) = session.run(tf.global_variables()[-1])

    assert variance == pytest.approx(moved)


def test_a_fused_layer_of_halves_has_weights_of_float32() -> None:
    y = tf.layers.batch_normalization(tf.zeros([1, 2, 2, 3], tf.float16), training=True)

    assert y.dtype == tf.float16
    assert {v.dtype.base_dtype for v in tf.global_variables()} == {tf.float32}


def test_labels_of_integers_are_cast_to_the_logits() -> None:
    """As they are read from files."""
    with tf.Graph().as_default(), tf.Session() as session:
        x, labels = tf.constant([[1.0, 2.0]]), tf.constant([[0, 1]], tf.int64)
        losses = [
            tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=x),
            tf.nn.softmax_cross_entropy_with_logits_v2(labels=[[0, 1]], logits=x),
        ]

        np.testing.assert_allclose(session.run(losses), [[np.log1p(np.exp(-1.0))]] * 2, 1e-6)


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.random_normal([20000], seed=1)
        y = session.run(tf.contrib.nn.alpha_dropout(x, 0.8, seed=2))

    assert abs(y.mean()) < 0.04 and abs(y.std() - 1) < 0.04


def test_the_greatest_are_as_many_as_is_known() -> None:
    row = tf.placeholder(tf.float32, [None])

    assert tf.nn.top_k(row, tf.placeholder(tf.int32, [])).indices.shape.as_list() == [None]
    assert tf.nn.top_k(tf.zeros([3, 5]), 2).values.shape.as_list() == [3, 2]
    with pytest.raises(ValueError, match=">= k = 6 but is 5"):
        tf.nn.top_k(tf.zeros([3, 5]), 6)


def test_none_is_the_default_of_a_response_normalization() -> None:
    x = tf.constant(np.arange(1.0, 7.0).reshape(1, 1, 1, 6), tf.float32)
    with tf.Session() as session:
        np.testing.assert_array_equal(*session.run([tf.nn.lrn(x, None, None), tf.nn.lrn(x)]))


def test_a_variable_is_true_and_a_resource_is_asked_for_its_value() -> None:
    """`if bias:` asks whether there is one."""
    assert tf.Variable(0.0)
    with pytest.raises(TypeError, match="as a Python `bool`"):
        bool(tf.Variable(0.0, use_resource=True))


def test_a_constant_without_elements_takes_any_value() -> None:
    made = tf.constant(1, shape=[0, 4])

    assert (made.shape.as_list(), made.dtype) == ([0, 4], tf.float32)
    assert tf.constant(1, tf.int64, [0]).dtype == tf.int64
    with pytest.raises(ValueError, match="Too many elements"):
        tf.constant([1, 2], shape=[1])


def test_a_getter_may_give_a_layer_a_tensor_for_a_variable() -> None:
    """As programs normalize weights."""

    def halved(make: Any, *given: Any, **named: Any) -> Any:
        return make(*given, **named) / 2.0

    with tf.variable_scope("", custom_getter=halved):
        layer = tf.layers.Dense(1, use_bias=False, kernel_initializer=tf.ones_initializer())
        y = layer(tf.ones([1, 3]))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        assert session.run(y).tolist() == [[1.5]]
    assert (layer.trainable_weights, layer.weights) == ([], [layer.kernel])
    assert [v.op.name for v in tf.trainable_variables()] == ["dense/kernel"]


def test_a_variable_writes_its_rows_and_its_places() -> None:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    rows = tf.IndexedSlices([[1.0, 1.0]], [1])
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(v.scatter_sub(rows)).tolist() == [[1, 2], [2, 3]]
        assert session.run(v.scatter_nd_update([[0, 1]], [9.0])).tolist() == [[1, 9], [2, 3]]
    with pytest.raises(TypeError, match="not IndexedSlices"):
        v.scatter_add([1.0])


def test_one_number_is_the_block_of_both_axes() -> None:
    x = tf.reshape(tf.range(8.0), [4, 1, 2, 1])
    with tf.Session() as session:
        by_size, by_shape = session.run(
            [tf.batch_to_space(x, [[0, 0]] * 2, n) for n in (2, [2, 2])]
        )

    np.testing.assert_array_equal(by_size, by_shape)
    assert tf.batch_to_space(x, [[0, 0]] * 2, block_shape=2).shape.as_list() == [1, 2, 4, 1]


def test_one_number_is_the_extent_of_a_row() -> None:
    """Also where it is a tensor of a rank that is not known."""
    n, unknown = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32)
    with tf.Session() as session:
        made = session.run([tf.zeros(n), tf.ones(unknown)], {n: 2, unknown: 3})

    assert [m.tolist() for m in made] == [[0, 0], [1, 1, 1]]
    assert tf.zeros(n).shape.as_list() == [None]


def test_rows_are_pooled_as_images_of_one_row() -> None:
    """`tf.nn.pool` takes one extent, whichever axis has the channels."""
    x = np.sin(np.arange(30, dtype=np.float32)).reshape(2, 5, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        last = tf.nn.pool(x, [2], "MAX", "VALID", strides=[2])
        first = tf.nn.pool(x.swapaxes(1, 2), [2], "AVG", "VALID", data_format="NCW")
        found, means = session.run([last, first])

    np.testing.assert_array_equal(found, np.maximum(x[:, :4:2], x[:, 1:4:2]))
    np.testing.assert_allclose(means, (x[:, 1:] + x[:, :-1]).swapaxes(1, 2) / 2, 1e-6, 1e-6)
