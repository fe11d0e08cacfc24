"""What slim has beside layers: variables by name, checkpoints, training operations, losses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import byparts_frontend_tf as tf

slim = tf.contrib.slim


def test_variables_are_found_by_scope_suffix_and_name() -> None:
    with tf.Graph().as_default():
        with tf.variable_scope("a"):
            slim.fully_connected(tf.ones([1, 2]), 3, scope="one")
            slim.model_variable("weights", [2], initializer=tf.zeros_initializer())
        other = slim.variable("b", [2], trainable=False)
        local = slim.local_variable(0.0, name="count")

        names = [v.op.name for v in slim.get_variables_by_suffix("weights")]
        assert names == ["a/one/weights", "a/weights"]
        assert [v.op.name for v in slim.get_variables_by_name("biases")] == ["a/one/biases"]
        assert [v.op.name for v in slim.get_variables_to_restore(exclude=["a/one"])] == [
            *("a/weights", "b"),
        ]
        assert slim.get_local_variables() == [local]
        assert other not in slim.get_model_variables() and len(slim.get_model_variables("a")) == 3
        assert slim.get_unique_variable("b") is other
        with pytest.raises(ValueError, match="Couldn't find variable c"):
            slim.get_unique_variable("c")


def test_variables_get_what_a_checkpoint_has(tmp_path: Path) -> None:
    path = str(tmp_path / "m.ckpt")
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.Variable([1.0, 2.0], name="v").initializer)
        tf.train.Saver().save(session, path)
    with tf.Graph().as_default(), tf.Session() as session:
        v, w = tf.Variable([0.0, 0.0], name="v"), tf.Variable(5.0, name="w")
        session.run(tf.global_variables_initializer())
        with pytest.raises(ValueError, match=r"missing variable \[w\]"):
            slim.assign_from_checkpoint(path, [v, w])
        slim.assign_from_checkpoint_fn(path, [v, w], ignore_missing_vars=True)(session)
        assert session.run([v, w])[0].tolist() == [1.0, 2.0]
        op, feeds = slim.assign_from_checkpoint(path, {"v": v})
        session.run(v.assign([7.0, 7.0]))
        session.run(op, feeds)
        assert session.run(v).tolist() == [1.0, 2.0]
        slim.assign_from_values_fn({"w": 3.0})(session)
        assert session.run(w) == 3.0


def test_a_training_operation_clips_and_multiplies() -> None:
    """The gradient 4 of v: 2 times is 8, clipped to 1; the step is counted; updates come first."""
    with tf.Graph().as_default(), tf.Session() as session:
        v, before = tf.Variable(2.0, name="v"), tf.Variable(0.0, trainable=False)
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, before.assign_add(1.0))
        optimizer = tf.train.GradientDescentOptimizer(0.5)
        given = {"gradient_multipliers": {"v": 2.0}, "clip_gradient_norm": 1.0}
        train = slim.learning.create_train_op(v * v, optimizer, **given, summarize_gradients=True)
        session.run(tf.global_variables_initializer())

        assert session.run(train) == 4.0
        assert session.run([v, before, tf.train.get_global_step()]) == [1.5, 1.0, 1]
        assert tf.get_collection("train_op")[-1] is train
        assert len(tf.get_collection(tf.GraphKeys.SUMMARIES)) == 2


def test_losses_take_predictions_first_and_are_kept() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.constant([1.0, 4.0]), tf.constant([0.0, 2.0])
        made = [
            slim.losses.absolute_difference(x, y),
            slim.losses.mean_squared_error(x, y, weights=[1.0, 0.0]),
            slim.losses.log_loss(tf.constant([0.5]), tf.constant([1.0])),
        ]
        assert slim.losses.get_losses() == made
        found = session.run([*made, slim.losses.get_total_loss(False)])
        hinge = session.run(slim.losses.hinge_loss(x, y / 2))

    np.testing.assert_allclose(found, [1.5, 1.0, np.log(2), 2.5 + np.log(2)], rtol=1e-5)
    assert hinge.tolist() == [2.0, 0.0]


def test_layers_of_layers(capsys: pytest.CaptureFixture[str]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.ones([1, 4, 4, 2])
        y = slim.separable_conv2d(x, 5, [3, 3], depth_multiplier=2, scope="s")
        slim.separable_conv2d(x, None, 3, 1, stride=2, scope="d")
        z = slim.softmax(slim.bias_add(tf.zeros([2, 3, 4])))
        size = slim.model_analyzer.analyze_vars(slim.get_model_variables(), print_info=True)
        session.run(tf.global_variables_initializer())

        assert y.shape.as_list() == [1, 4, 4, 5] and np.allclose(session.run(z), 0.25)
    assert size == (36 + 20 + 5 + 18 + 2 + 4, 340)
    text = capsys.readouterr().out
    assert "s/depthwise_weights:0 (float32_ref 3x3x2x2) [36, bytes: 144]\n" in text
    assert text.endswith("Total size of variables: 85\nTotal bytes of variables: 340\n")


def test_what_is_known_of_shapes() -> None:
    utils = slim.utils
    assert utils.last_dimension(tf.TensorShape([None, 3]), min_rank=2) == 3
    with pytest.raises(ValueError, match="rank of shape must be at least 4 not: 2"):
        utils.last_dimension(tf.TensorShape([None, 3]), min_rank=4)
    with pytest.raises(ValueError, match="dimension 0 of shape must be known"):
        utils.first_dimension(tf.TensorShape([None, 3]))
    assert utils.two_element_tuple(3) == (3, 3)
    with tf.Graph().as_default():
        x = utils.collect_named_outputs("ends", "a/b/", tf.ones([2]))
        assert dict(utils.convert_collection_to_dict("ends", clear_collection=True)) == {"a/b": x}
        assert tf.get_collection("ends") == []


def test_examples_are_normalized_by_themselves() -> None:
    """Channels alone, in groups, vectors; the greatest of channels; rows and volumes."""
    x = np.random.RandomState(0).normal(3.0, 2.0, (2, 4, 5, 6)).astype(np.float32)
    session = tf.Session(graph=tf.Graph(), backends=("numpy",))
    with session, session.graph.as_default():
        layers = tf.contrib.layers
        alone, grouped = layers.instance_norm(x), layers.group_norm(x, groups=2, scale=False)
        made = [alone, grouped, layers.unit_norm(x, 3), layers.maxout(x, 3)]
        row = layers.conv1d(x[:, 0], 3, 2, activation_fn=None, scope="row")
        volume = layers.conv3d(x[..., None], 2, [2, 2, 2], stride=2, scope="volume")
        session.run(tf.global_variables_initializer())
        one, two, unit, most = session.run(made)
        names = [v.op.name for v in slim.get_model_variables()]

    np.testing.assert_allclose(one.mean((1, 2)), 0, atol=1e-5)
    np.testing.assert_allclose(one.std((1, 2)), 1, atol=1e-4)
    np.testing.assert_allclose(two.reshape(2, 20, 2, 3).std((1, 3)), 1, atol=1e-4)
    np.testing.assert_allclose((unit**2).sum(-1), 1, rtol=1e-5)
    np.testing.assert_array_equal(most, x.reshape(2, 4, 5, 3, 2).max(-1))
    assert row.shape.as_list() == [2, 5, 3] and volume.shape.as_list() == [2, 2, 3, 3, 2]
    assert names == [
        *("InstanceNorm/beta", "InstanceNorm/gamma", "GroupNorm/beta"),
        *("row/weights", "row/biases", "volume/weights", "volume/biases"),
    ]


def test_pairwise_errors_are_tensorflows() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([[4.0, 8, 12], [8, 1, 3]])
        y = tf.constant([[1.0, 9, 2], [-5, -5, 7]])
        found = [
            tf.losses.mean_pairwise_squared_error(y, x),
            slim.losses.mean_pairwise_squared_error(x, y, [[2.0], [0.5]]),
        ]
        assert len(tf.losses.get_losses()) == 2
        np.testing.assert_allclose(session.run(found), [208.0, 197.0], rtol=1e-5)
