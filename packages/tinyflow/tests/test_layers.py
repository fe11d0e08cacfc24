"""Layers: automatic variables, padding, shapes that the data tells."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import byparts_tinyflow as tf
from byparts_graph_ir import GraphError, ShapeError


def mlp() -> tuple[tf.Symbol, ...]:
    x, label = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    fc1 = tf.nn.relu(tf.nn.linear(x, num_hidden=100, name="fc1", no_bias=False))
    fc2 = tf.nn.linear(fc1, num_hidden=10, name="fc2")
    return x, label, tf.nn.mean_sparse_softmax_cross_entropy_with_logits(fc2, label)


def lenet() -> tuple[tf.Symbol, ...]:
    x, label = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    net: tf.Symbol = x
    for i, filters in ((1, 20), (2, 50)):
        net = tf.tanh(
            tf.nn.conv2d(
                net, num_filter=filters, ksize=[1, 5, 5, 1], name=f"conv{i}", no_bias=False
            )
        )
        net = tf.nn.max_pool(net, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1])
    fc1 = tf.tanh(tf.nn.linear(tf.nn.flatten_layer(net), num_hidden=500, name="fc1"))
    fc2 = tf.nn.linear(fc1, num_hidden=10, name="fc2")
    return x, label, tf.nn.mean_sparse_softmax_cross_entropy_with_logits(fc2, label)


def test_golden_mlp_variables() -> None:
    """The order, names and shapes of the real TinyFlow; 79 500 parameters."""
    x, label, loss = mlp()
    found = [
        (name, shape)
        for _, name, shape in tf.infer_variable_shapes(loss, {x: [100, 784], label: [100]})
    ]

    assert found == [("fc1_weight", [100, 784]), ("fc1_bias", [100]), ("fc2_weight", [10, 100])]


def test_golden_lenet_variables() -> None:
    """The order, names and shapes of the real TinyFlow; 430 570 parameters."""
    x, label, loss = lenet()
    found = [
        (n, s) for _, n, s in tf.infer_variable_shapes(loss, {x: [100, 1, 28, 28], label: [100]})
    ]

    assert found == [
        ("conv1_weight", [20, 1, 5, 5]),
        ("conv1_bias", [20]),
        ("conv2_weight", [50, 20, 5, 5]),
        ("conv2_bias", [50]),
        ("fc1_weight", [500, 800]),
        ("fc2_weight", [10, 500]),
    ]
    assert sum(int(np.prod(s)) for _, s in found) == 430_570


def test_too_little_to_infer_is_said() -> None:
    """What is missing is named."""
    _, label, loss = mlp()
    with pytest.raises(
        ValueError,
        match=r"not sufficient information in feed_dict .*'fc1_weight' is .*; not fed: placeholder0",
    ):
        list(tf.infer_variable_shapes(loss, {label: [100]}))


def test_nn_sym_2_automatic_names() -> None:
    """NNVM row: conv2d makes conv2d0_weight, then conv2d1_weight; no bias unless asked."""
    x = tf.placeholder(tf.float32)
    y = tf.nn.conv2d(tf.nn.conv2d(x, num_filter=2), num_filter=3, no_bias=False)
    names = [n for _, n, _ in tf.infer_variable_shapes(y, {x: [1, 4, 5, 5]})]

    assert names == ["conv2d0_weight", "conv2d1_weight", "conv2d1_bias"]


def test_nn_sym_f_batch_normalization_makes_gamma_and_beta() -> None:
    """NNVM row: parameters of the size of the channel axis."""
    x = tf.placeholder(tf.float32)
    y = tf.nn.batch_normalization(x)
    found = [(n, s) for _, n, s in tf.infer_variable_shapes(y, {x: [2, 7, 3, 3]})]

    assert found == [("batch_normalization0_gamma", [7]), ("batch_normalization0_beta", [7])]


def test_t12_parameters_carry_nothing_of_their_layer() -> None:
    """T12: TinyFlow's fc_weight had num_hidden=3; ours has a name, a type and a place."""
    x = tf.placeholder(tf.float32)
    y = tf.nn.linear(x, num_hidden=3, name="fc")
    ((weight, name, shape),) = tf.infer_variable_shapes(y, {x: [2, 5]})

    assert (name, shape) == ("fc_weight", [3, 5]) and weight.initializer is None
    assert weight.op.attributes.keys() == {"dtype", "shape"}


def test_nn_inf_dense() -> None:
    """NNVM row: x (10, 20) and 30 units give (10, 30) and a bias of (30,)."""
    x = tf.placeholder(tf.float32)
    y = tf.nn.linear(x, num_hidden=30, no_bias=False)
    shapes = {n: s for _, n, s in tf.infer_variable_shapes(y, {x: [10, 20]})}

    assert shapes == {"linear0_weight": [30, 20], "linear0_bias": [30]}
    assert y.dtype is tf.float32


def test_t17_padding_defaults_are_one_and_the_same() -> None:
    """T17: VALID by default everywhere; SAME is symmetric, so an even kernel shrinks the image."""
    x = tf.placeholder(tf.float32)
    value = np.ones((1, 1, 32, 32))
    shapes = []
    for padding in ({}, {"padding": "VALID"}, {"padding": "SAME"}):
        pool = tf.nn.avg_pool(x, ksize=[1, 4, 4, 1], strides=[1, 2, 2, 1], **padding)
        shapes.append(tf.Session().run(pool, {x: value}).shape[2])

    assert shapes == [15, 15, 16]


def test_avg_pool_counts_the_padding() -> None:
    """As Torch's default did there."""
    x = tf.placeholder(tf.float32)
    pool = tf.nn.avg_pool(x, ksize=[1, 3, 3, 1], padding="SAME")

    assert_allclose(
        tf.Session().run(pool, {x: np.ones((1, 1, 1, 1))}), np.full((1, 1, 1, 1), 1 / 9), rtol=1e-6
    )


def test_given_parameters_are_used() -> None:
    """A weight and a bias of one's own."""
    x = tf.placeholder(tf.float32)
    y = tf.nn.linear(x, tf.ones([2, 3]) * 2, tf.ones([2]))

    assert_allclose(tf.Session().run(y, {x: np.ones((1, 3))}), [[7, 7]])


def test_wrong_arguments_say_what_is_right() -> None:
    """Values, and what they must be."""
    x = tf.placeholder(tf.float32)
    with pytest.raises(GraphError, match="linear0: num_hidden is 0; give a weight, or num_hidden="):
        tf.nn.linear(x)
    with pytest.raises(ShapeError, match=r"ksize: \[2, 3, 3, 1\]: batch and channels have 1"):
        tf.nn.conv2d(x, num_filter=1, ksize=[2, 3, 3, 1])
    with pytest.raises(GraphError, match=r"padding must be .*: 'same'"):
        tf.nn.max_pool(x, padding="same")
    with pytest.raises(GraphError, match="data_format is 'NHWC'; this dialect has only 'NCHW'"):
        tf.nn.conv2d(x, num_filter=1, data_format="NHWC")
