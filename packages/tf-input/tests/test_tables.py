"""Tables of a session: filled, read, changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

lookup = tf.contrib.lookup


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def run(made: Any) -> Any:
    """What tensors are, when tables are filled."""
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return session.run(made)


def test_a_table_is_read_only_when_it_is_filled() -> None:
    table = lookup.HashTable(lookup.KeyValueTensorInitializer(["a", "b"], [1.5, 2.5]), -1.0)
    found = table.lookup(tf.constant([["b", "x"]]))
    assert found.get_shape().as_list() == [1, 2] and found.dtype == tf.float32
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"):
            session.run(found)
        session.run(table.init)
        assert session.run(found).tolist() == [[2.5, -1.0]]
        assert session.run(table.size()) == 2
    with pytest.raises(TypeError, match="Keys must be dtype"):
        table.lookup(tf.constant([1]))


def test_words_of_a_list_and_back() -> None:
    """With buckets behind them: TensorFlow's FarmHash."""
    words = tf.constant(["emerson", "lake", "and", "palmer"])
    ids = lookup.index_table_from_tensor(words, num_oov_buckets=2)
    back = lookup.index_to_string_table_from_tensor(words, default_value="?")
    given = tf.constant(["lake", "other", "palmer", "one"])

    found, texts, size = run(
        [ids.lookup(given), back.lookup(tf.constant([3, 9], tf.int64)), ids.size()]
    )

    buckets = run(tf.string_to_hash_bucket_fast(["other", "one"], 2)) + 4
    assert found.tolist() == [1, buckets[0], 3, buckets[1]]
    assert texts.tolist() == [b"palmer", b"?"] and size == 6


def test_integers_are_keys_too_and_sparse_tensors_are_looked_up() -> None:
    table = lookup.index_table_from_tensor([100, 7], dtype=tf.int32, default_value=-5)
    sparse = tf.SparseTensor([[0, 1], [2, 0]], tf.constant([7, 8], tf.int64), [3, 2])

    found = run(table.lookup(sparse))

    assert found.values.tolist() == [1, -5] and found.dense_shape.tolist() == [3, 2]


def test_lines_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("one\ntwo\nthree\n")
    ids = lookup.index_table_from_file(str(path), vocab_size=2)
    words = lookup.index_to_string_table_from_file(str(path))
    table = tf.lookup.StaticVocabularyTable(
        tf.lookup.TextFileInitializer(
            str(path), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, -1
        ),
        1,
    )

    found = run(
        [
            ids.lookup(tf.constant(["two", "three"])),
            words.lookup(tf.constant([2, 3], tf.int64)),
            table.lookup(tf.constant(["three", "four"])),
        ]
    )

    assert [a.tolist() for a in found] == [[1, -1], [b"three", b"UNK"], [2, 3]]
    assert len(tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)) == 3


def test_columns_of_a_file_and_what_is_wrong_with_them(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("a\t1\nb\t2\n")
    read = tf.lookup.TextFileInitializer(str(path), tf.string, 0, tf.int64, 1)
    missing = tf.lookup.TextFileInitializer(str(path), tf.string, 0, tf.int64, 2)

    assert run(tf.lookup.StaticHashTable(read, 0).lookup(tf.constant("b"))) == 2
    table = tf.lookup.StaticHashTable(missing, 0)
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="expected at least 3 got 2"),
    ):
        session.run(table.initializer)
    with pytest.raises(ValueError, match="Invalid vocab_size"):
        tf.lookup.TextFileInitializer(str(path), tf.string, 0, tf.int64, 1, vocab_size=0)


def test_one_key_has_one_value() -> None:
    table = lookup.HashTable(lookup.KeyValueTensorInitializer(["a", "a"], [1, 2]), 0)
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="different value for same key"),
    ):
        session.run(table.init)


def test_operations_change_a_table() -> None:
    table = lookup.MutableHashTable(tf.string, tf.float32, [-1.0, -1.0])
    keys = tf.placeholder(tf.string, [None])
    insert = table.insert(keys, tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    dense = lookup.MutableDenseHashTable(tf.int64, tf.int64, -1, empty_key=0)
    with tf.Session() as session:
        session.run(insert, {keys: ["a", "b"]})
        assert session.run(table.lookup(["b", "c"])).tolist() == [[3.0, 4.0], [-1.0, -1.0]]
        names, rows = session.run(table.export())
        assert names.tolist() == [b"a", b"b"] and rows.shape == (2, 2)
        session.run(table.remove(["a"]))
        assert session.run(table.size()) == 1
        session.run(dense.insert([5], [6]))
        assert session.run(dense.lookup([5, 7])).tolist() == [6, -1]
    with tf.Session() as session:
        assert session.run(table.size()) == 0  # of another session


def test_ids_choose_rows_of_what_is_trained() -> None:
    """A lookup in front of an embedding: the gradient passes through the rows."""
    ids = lookup.index_table_from_tensor(["x", "y"]).lookup(tf.constant(["y", "y"]))
    w = tf.Variable(np.ones((2, 2), np.float32))
    slope = tf.convert_to_tensor(tf.gradients(tf.nn.embedding_lookup(w, ids), w)[0])
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        assert session.run(slope).tolist() == [[0.0, 0.0], [2.0, 2.0]]
