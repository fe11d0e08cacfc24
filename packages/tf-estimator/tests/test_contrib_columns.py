"""Columns and layers by the names of `tf.contrib.layers`, and what is refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

layers = tf.contrib.layers


def test_layers_are_stacked() -> None:
    with tf.Graph().as_default():
        made = layers.stack(tf.zeros([2, 5]), layers.fully_connected, [4, 3], scope="hidden")
        names = [v.name for v in tf.trainable_variables()]

    assert made.shape.as_list() == [2, 3]
    assert names[::2] == ["hidden/hidden_1/weights:0", "hidden/hidden_2/weights:0"]


def test_sequences_are_embedded() -> None:
    table = np.arange(6, dtype=np.float32).reshape(3, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        first = tf.constant_initializer(table)
        made = layers.embed_sequence([[2, 0]], vocab_size=3, embed_dim=2, initializer=first)
        session.run(tf.global_variables_initializer())

        assert session.run(made).tolist() == [[[4.0, 5.0], [0.0, 1.0]]]
        assert [v.name for v in tf.trainable_variables()] == ["EmbedSequence/embeddings:0"]


def test_a_linear_layer_has_no_activation_and_relu_has() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        minus = {"weights_initializer": tf.constant_initializer(-1.0)}
        given = tf.ones([1, 2])
        made = [layers.linear(given, 1, **minus), layers.relu(given, 1, **minus)]
        made.append(layers.bias_add(given, initializer=tf.ones_initializer()))
        session.run(tf.global_variables_initializer())

        assert [v.tolist() for v in session.run(made)] == [[[-2.0]], [[0.0]], [[2.0, 2.0]]]


def test_older_names_make_the_same_columns() -> None:
    words = layers.sparse_column_with_keys("word", ["x", "y"])
    columns = [
        layers.real_valued_column("age", dimension=2),
        layers.one_hot_column(words),
        layers.embedding_column(layers.sparse_column_with_hash_bucket("word", 10), dimension=3),
    ]
    features = {"age": tf.ones([2, 2]), "word": tf.constant(["y", "q"])}
    with tf.Session() as session:
        made = layers.input_from_feature_columns(features, columns)
        session.run(tf.global_variables_initializer())
        found = session.run(made)

    assert found[:, :2].tolist() == [[1.0, 1.0], [1.0, 1.0]] and made.shape.as_list() == [2, 7]
    assert found[:, 5:].tolist() == [[0.0, 1.0], [0.0, 0.0]]


def test_summaries_are_of_what_they_summarize() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.nn.relu(tf.constant([-1.0, 2.0]), name="y")
        layers.summarize_activation(y)
        layers.summarize_tensors([tf.constant(3.0, name="c")])
        text = session.run(tf.summary.merge_all())
        values = {v.tag: v.simple_value for v in tf.Summary.FromString(text).value}

    assert values == {"y/zeros": 0.5, "y/activation": 0.0, "c_1": 3.0}


def test_parameters_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    with tf.Graph().as_default():
        tf.get_variable("w", [30, 50])
        analyzer = tf.contrib.tfprof.model_analyzer
        found = analyzer.print_model_analysis(
            tf.get_default_graph(), tfprof_options=analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS
        )

    assert found.total_parameters == 1500
    assert "w (30x50, 1.50k/1.50k params)" in capsys.readouterr().out


def test_bytes_are_rows() -> None:
    texts = tf.contrib.learn.preprocessing.ByteProcessor(4)
    found = list(texts.fit_transform(["ab", "abcdef"]))

    assert [r.tolist() for r in found] == [[97, 98, 0, 0], [97, 98, 99, 100]]
    assert list(texts.reverse(found)) == ["ab", "abcd"]


def test_memory_is_a_number_of_bytes() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.contrib.memory_stats.MaxBytesInUse()) > 1 << 20


REFUSED: dict[str, Any] = {
    "eager execution": lambda: tf.contrib.eager.implicit_gradients(None),
    "for integers": lambda: tf.contrib.quantize.create_training_graph(),
    "trees are not here": lambda: tf.estimator.BoostedTreesClassifier(),
    "no TPUs here": lambda: tf.contrib.cluster_resolver.TPUClusterResolver("t"),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_not_here_says_what_to_do(message: str) -> None:
    with pytest.raises(tf.errors.UnimplementedError, match=message):
        REFUSED[message]()
