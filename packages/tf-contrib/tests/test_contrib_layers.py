"""contrib.layers and contrib.slim: names of variables, defaults by `arg_scope`, training."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

slim = tf.contrib.slim


def network(x: Any, training: Any) -> Any:
    """Convolutions with normalization, and two layers of units."""
    normal = {"is_training": training, "decay": 0.5}
    with slim.arg_scope(
        [slim.conv2d, slim.fully_connected],
        weights_regularizer=tf.contrib.layers.l2_regularizer(0.01),
        normalizer_fn=slim.batch_norm,
        normalizer_params=normal,
    ):
        y = slim.conv2d(x, 4, [3, 3], scope="first")
        y = slim.max_pool2d(y, [2, 2])
        y = slim.conv2d(y, 3, 3, stride=2, normalizer_fn=None)
        y = slim.fully_connected(slim.flatten(y), 5)
    return slim.fully_connected(slim.dropout(y, 1.0), 2, activation_fn=None, scope="out")


def test_a_network_of_slim_has_its_names_and_trains() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, training = tf.placeholder(tf.float32, [None, 8, 8, 1]), tf.placeholder(tf.bool, [])
        loss = tf.losses.mean_squared_error(tf.ones([2, 2]), network(x, training))
        total = tf.losses.get_total_loss()
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(updates):
            train = tf.train.GradientDescentOptimizer(0.05).minimize(total)
        session.run(tf.global_variables_initializer())
        feed = {x: np.sin(np.arange(128)).reshape(2, 8, 8, 1), training: True}
        losses = [session.run([loss, train], feed)[0] for _ in range(20)]
        moved = session.run(tf.global_variables("first/BatchNorm/moving_mean")[0])

    assert [v.name for v in tf.trainable_variables()] == []  # of another graph
    with loss.graph.as_default():
        names = [v.name for v in tf.trainable_variables()]
    assert names == [
        *("first/weights:0", "first/BatchNorm/beta:0", "Conv/weights:0", "Conv/biases:0"),
        *("fully_connected/weights:0", "fully_connected/BatchNorm/beta:0"),
        *("out/weights:0", "out/biases:0"),
    ]
    assert len(updates) == 4 and losses[-1] < losses[0] / 2 and np.all(moved != 0.0)


def test_statistics_are_updated_in_place_where_there_is_no_collection() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([[1.0], [3.0]])
        y = tf.contrib.layers.batch_norm(x, decay=0.5, updates_collections=None)
        session.run(tf.global_variables_initializer())
        session.run(y)
        (mean, variance) = session.run(tf.global_variables()[1:])

    assert mean.tolist() == [1.0] and variance.tolist() == [1.5]  # that of a sample is 2


def test_layer_norm_and_transposed_convolution() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(np.arange(12.0, dtype=np.float32).reshape(1, 2, 2, 3))
        y = tf.contrib.layers.layer_norm(x)
        z = tf.contrib.layers.conv2d_transpose(x, 4, 3, stride=2)
        session.run(tf.global_variables_initializer())
        normal = session.run(y)

    assert abs(normal.mean()) < 1e-6 and abs(normal.std() - 1.0) < 1e-5
    assert z.shape.as_list() == [1, 4, 4, 4]


def test_penalties_and_scopes_refuse_what_makes_no_sense() -> None:
    with pytest.raises(ValueError, match="scale cannot be an integer"):
        tf.contrib.layers.l2_regularizer(1)
    with pytest.raises(ValueError, match="less than 0"):
        tf.contrib.layers.l1_regularizer(-0.5)
    with (
        pytest.raises(ValueError, match="is not decorated with @add_arg_scope"),
        slim.arg_scope([tf.nn.relu], name="x"),
    ):
        pass
    assert tf.contrib.layers.l2_regularizer(0.0)(tf.ones([2])) is None
