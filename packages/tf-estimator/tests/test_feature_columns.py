"""Feature columns give what TensorFlow 2.21's `tf.compat.v1.feature_column` gave for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

fc = tf.feature_column
FEATURES = {
    "a": np.array([[1, 2], [3, 4], [5, 6]], np.float32),
    "age": np.array([10, 30, 70], np.float32),
    "id": np.array([[0, 3], [1, -1], [2, 2]], np.int64),
    "word": np.array([["x", "z"], ["q", ""], ["y", "q"]]),
    "weight": np.array([[1.0, 2.0], [3.0, 0.0], [0.5, 1.0]], np.float32),
}


def age() -> Any:
    return fc.bucketized_column(fc.numeric_column("age"), [18, 30, 50])


def ids() -> Any:
    return fc.categorical_column_with_identity("id", 4)


def words(**more: Any) -> Any:
    return fc.categorical_column_with_vocabulary_list("word", ["x", "y", "z"], **more)


def weighted() -> Any:
    return fc.weighted_categorical_column(words(), "weight")


def rows(count: int) -> Any:
    return tf.constant_initializer(np.arange(2 * count).reshape(count, 2))


LAYERS: dict[str, tuple[Callable[[], Any], Any]] = {
    "a": (
        lambda: fc.numeric_column("a", shape=[2], normalizer_fn=lambda x: (x - 1.0) / 2.0),
        [[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]],
    ),
    "age_bucketized": (age, [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]),
    "id_indicator": (
        lambda: fc.indicator_column(ids()),
        [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 2, 0]],
    ),
    "word_indicator": (
        lambda: fc.indicator_column(words()),
        [[1, 0, 1], [0, 0, 0], [0, 1, 0]],
    ),
    "word_weighted_by_weight_indicator": (
        lambda: fc.indicator_column(weighted()),
        [[1, 0, 2], [0, 0, 0], [0, 0.5, 0]],
    ),
    "word_embedding": (
        lambda: fc.embedding_column(words(), 2, initializer=rows(3)),
        [[2.0, 3.0], [0.0, 0.0], [2.0, 3.0]],
    ),
    "id_embedding": (
        lambda: fc.embedding_column(ids(), 2, combiner="sqrtn", initializer=rows(4)),
        [[4.2426405, 5.656854], [2.0, 3.0], [5.656854, 7.071068]],
    ),
    "word_weighted_by_weight_embedding": (
        lambda: fc.embedding_column(weighted(), 2, initializer=rows(3)),
        [[8 / 3, 11 / 3], [0.0, 0.0], [2.0, 3.0]],
    ),
    "word_indicator with others": (
        lambda: fc.indicator_column(
            fc.categorical_column_with_vocabulary_list("word", ["x", "y"], num_oov_buckets=2)
        ),
        [[1, 0, 0, 1], [0, 0, 0, 1], [0, 1, 0, 1]],
    ),
    "word_embedding of hashes": (
        lambda: fc.embedding_column(
            fc.categorical_column_with_hash_bucket("word", 7), 2, initializer=rows(7)
        ),
        [[5.0, 6.0], [2.0, 3.0], [4.0, 5.0]],
    ),
    "id_X_word_indicator": (
        lambda: fc.indicator_column(fc.crossed_column(["word", ids()], 5)),
        [[0, 0, 0, 2, 2], [1, 0, 0, 0, 1], [2, 0, 0, 0, 2]],
    ),
    "age_bucketized_X_word_indicator": (
        lambda: fc.indicator_column(fc.crossed_column([age(), "word"], 11)),
        [
            [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            [0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0],
            [0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0],
        ],
    ),
}


def run(build: Callable[[dict[str, Any]], Any]) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        made = build({name: tf.constant(value) for name, value in FEATURES.items()})
        session.run(tf.global_variables_initializer())
        return session.run(made)


@pytest.mark.parametrize("name", LAYERS)
def test_a_column_is_numbers(name: str) -> None:
    make, wanted = LAYERS[name]
    column = make()

    assert column.name == name.partition(" ")[0]
    np.testing.assert_allclose(run(lambda f: fc.input_layer(f, [column])), wanted, rtol=1e-6)


def test_columns_stand_in_the_order_of_their_names() -> None:
    """Not in that of the list; variables are named by the column."""
    columns = [fc.embedding_column(words(), 2, initializer=rows(3)), age()]
    found: list[Any] = []

    def build(features: Any) -> Any:
        made = fc.input_layer(features, columns)
        found.extend([v.name for v in tf.global_variables()])
        return made

    assert run(build)[0].tolist() == [1.0, 0.0, 0.0, 0.0, 2.0, 3.0]
    assert found == ["input_layer/word_embedding/embedding_weights:0"]


def test_a_linear_model_weighs_categories_and_numbers() -> None:
    """The numbers and gradients are those of TensorFlow."""
    columns = [fc.numeric_column("a", [2]), age(), ids(), weighted()]
    with tf.Graph().as_default(), tf.Session() as session:
        made: dict[Any, Any] = {}
        features = {name: tf.constant(value) for name, value in FEATURES.items()}
        y = fc.linear_model(features, columns, units=2, cols_to_vars=made)
        variables = [v for some in made.values() for v in some]
        for v in variables:
            dims = v.shape.as_list()
            v.load(np.arange(np.prod(dims)).reshape(dims).astype(np.float32) / 3 + 0.5, session)
        found = session.run(y)
        grads = tf.gradients(y, variables)
        slopes = session.run([tf.convert_to_tensor(g) for g in grads])
    names = [v.name for v in variables]

    assert names[2:] == [
        "linear_model/id/weights:0",
        "linear_model/word_weighted_by_weight/weights:0",
        "linear_model/bias_weights:0",
    ]
    np.testing.assert_allclose(found, _by_hand(), rtol=1e-6)
    assert slopes[3].tolist() == [[1.0, 1.0], [0.5, 0.5], [2.0, 2.0]]


def _by_hand() -> Any:
    def table(count: int) -> Any:
        return np.arange(2 * count).reshape(count, 2) / 3 + 0.5

    one_hot = [LAYERS[name][1] for name in ("age_bucketized", "id_indicator")]
    parts = [FEATURES["a"], *one_hot, LAYERS["word_weighted_by_weight_indicator"][1]]
    bias = np.arange(2) / 3 + 0.5
    return sum([np.array(x, float) @ table(len(x[0])) for x in parts]) + bias


def test_sparse_features_are_categories_too() -> None:
    sparse = tf.SparseTensorValue([[0, 0], [0, 1], [2, 0]], ["z", "x", "y"], [3, 2])
    with tf.Graph().as_default(), tf.Session() as session:
        features = {"word": tf.SparseTensor(*sparse)}
        made = session.run(fc.input_layer(features, [fc.indicator_column(words())]))

    assert made.tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]


def test_shared_embeddings_are_one_variable() -> None:
    with tf.Graph().as_default():
        other = fc.categorical_column_with_identity("other", 4)
        columns = fc.shared_embedding_columns([ids(), other], dimension=3)
        features = {"id": tf.constant([1]), "other": tf.constant([2])}
        made = fc.input_layer(features, columns)

        assert made.shape.as_list() == [1, 6]
        name = "input_layer/id_other_shared_embedding/embedding_weights:0"
        assert [v.name for v in tf.global_variables()] == [name]


BAD: dict[str, Callable[[], Any]] = {
    r"shape dimensions must be greater than 0": lambda: fc.numeric_column("a", shape=[0]),
    r"boundaries must be a sorted list": lambda: fc.bucketized_column(
        fc.numeric_column("age"), [3, 1]
    ),
    r"Feature age is not in features": lambda: fc.input_layer({"b": [1.0]}, [age()]),
    r"Invalid dimension 0": lambda: fc.embedding_column(ids(), 0),
    r"Duplicate feature column name": lambda: fc.input_layer({"age": [1.0]}, [age(), age()]),
    r"must be a _DenseColumn": lambda: fc.input_layer({"id": [1]}, [ids()]),
    r"Duplicate keys in vocabulary_list": lambda: fc.categorical_column_with_vocabulary_list(
        "word", ["x", "x"]
    ),
    r"num_buckets 0 < 1": lambda: fc.categorical_column_with_identity("id", 0),
}


@pytest.mark.parametrize("message", BAD)
def test_what_no_column_is_is_said(message: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        BAD[message]()


def test_numbers_that_are_no_category_are_an_error_of_the_run() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="x < y did not hold"):
        run(
            lambda f: fc.input_layer(
                f, [fc.indicator_column(fc.categorical_column_with_identity("id", 3))]
            )
        )
