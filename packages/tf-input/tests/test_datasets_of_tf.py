"""`tf.data`: which elements come, in what order and structure, and how iterators end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.nest import map_structure

Dataset = tf.data.Dataset


@pytest.fixture(autouse=True)
def _own_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def elements(dataset: Any, most: int = 100) -> list[Any]:
    """What a one-shot iterator gives, as lists."""
    following = dataset.make_one_shot_iterator().get_next()
    found: list[Any] = []
    with tf.Session() as session:
        while len(found) < most:
            try:
                element = session.run(following)
            except tf.errors.OutOfRangeError:
                break
            found.append(map_structure(_listed, element))
    return found


def _listed(value: Any) -> Any:
    return np.asarray(value).tolist()


def test_map_filter_and_batch() -> None:
    """Functions are called for each element; the last batch may be smaller."""
    even = Dataset.range(7).map(lambda i: i * i).filter(lambda i: tf.equal(i % 2, 0))

    assert elements(even.batch(3)) == [[0, 4, 16], [36]]
    assert elements(even.batch(3, drop_remainder=True)) == [[0, 4, 16]]
    assert even.batch(3).output_shapes.as_list() == [None]
    assert even.batch(3, True).output_shapes.as_list() == [3]


def test_flat_map_and_interleave() -> None:
    """As in the examples of TensorFlow's own documentation."""
    nested = Dataset.range(4).flat_map(Dataset.range)
    turns = Dataset.range(1, 4).interleave(
        lambda x: Dataset.from_tensors(x).repeat(3), cycle_length=2, block_length=2
    )

    assert elements(nested) == [0, 0, 1, 0, 1, 2]
    assert elements(turns) == [1, 1, 2, 2, 1, 2, 3, 3, 3]


def test_windows_are_datasets() -> None:
    """A window can be batched, and several zipped."""
    windows = Dataset.range(7).window(3, shift=2).flat_map(lambda w: w.batch(3))
    pairs = Dataset.zip((Dataset.range(4), Dataset.range(4).map(lambda x: -x))).window(2)

    assert elements(windows) == [[0, 1, 2], [2, 3, 4], [4, 5, 6], [6]]
    assert elements(pairs.flat_map(lambda a, b: Dataset.zip((a, b)).batch(2))) == [
        ([0, 1], [0, -1]),
        ([2, 3], [-2, -3]),
    ]


def test_padded_batches() -> None:
    """Elements are filled up to the largest, or to a size, with zeros or a value."""
    rows = Dataset.range(1, 4).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x))
    fixed = rows.padded_batch(3, [4], padding_values=tf.constant(-1, tf.int64))

    assert elements(rows.padded_batch(2, [None])) == [[[1, 0], [2, 2]], [[3, 3, 3]]]
    assert elements(fixed) == [[[1, -1, -1, -1], [2, 2, -1, -1], [3, 3, 3, -1]]]


def test_order_and_number() -> None:
    """repeat, take, skip, shard, concatenate, enumerate."""
    three = Dataset.range(3)

    assert elements(three.repeat(2).skip(1).take(4)) == [1, 2, 0, 1]
    assert elements(three.repeat(), 7) == [0, 1, 2, 0, 1, 2, 0]
    assert elements(Dataset.range(8).shard(3, 1)) == [1, 4, 7]
    assert elements(three.concatenate(Dataset.range(5, 7))) == [0, 1, 2, 5, 6]
    assert elements(three.enumerate(start=5)) == [(5, 0), (6, 1), (7, 2)]
    assert elements(three.filter(lambda x: x > 5).repeat()) == []


def test_shuffle() -> None:
    """All elements come, none too early; a seed gives one order, and each repetition another."""
    order = elements(Dataset.range(20).shuffle(5, seed=3).repeat(2))

    assert sorted(order[:20]) == list(range(20))
    assert all(x < i + 5 for i, x in enumerate(order[:20]))
    assert order[:20] != order[20:] and sorted(order[20:]) == list(range(20))
    assert order == elements(Dataset.range(20).shuffle(5, seed=3).repeat(2))
    kept = elements(Dataset.range(9).shuffle(9, 1, reshuffle_each_iteration=False).repeat(2))
    assert kept[:9] == kept[9:]


def test_functions_read_what_is_outside() -> None:
    """Tensors of outside, Python functions, conditions and inner functions."""
    scale = tf.constant(2, tf.int64) * 5
    data = Dataset.range(3).map(lambda x: tf.py_func(lambda a: a + np.int64(1), [x], tf.int64))
    data = data.map(lambda x: tf.cond(x > 2, lambda: x * scale, lambda: -x))
    inner = Dataset.range(2).flat_map(lambda x: Dataset.range(2).map(lambda y: x * scale + y))

    assert elements(data) == [-1, -2, 30]
    assert elements(inner) == [0, 1, 10, 11]


def test_generators() -> None:
    """Structures and shapes are as announced, or the error says what came."""

    def rows() -> Iterator[tuple[int, list[int]]]:
        for i in range(1, 3):
            yield i, list(range(i))

    data = Dataset.from_generator(rows, (tf.int32, tf.int64), ([], [None]))
    wrong = Dataset.from_generator(lambda: iter([[1, 2, 3]]), tf.int32, [2])

    assert elements(data) == [(1, [0]), (2, [0, 1])]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"shape \(3,\) where .* \(2,\) was"):
        elements(wrong)


def test_cache_and_changes_of_what_is_fetched() -> None:
    """What a program changes in an array it fetched does not come back."""
    data = Dataset.from_tensor_slices(np.arange(4.0).reshape(2, 2)).cache().repeat(2)
    following = data.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        session.run(following)[:] = 9.0
        session.run(following)

        assert session.run(following).tolist() == [0.0, 1.0]


def test_reduce() -> None:
    """The last state."""
    total = Dataset.range(5).reduce(np.int64(0), lambda state, x: state + x)
    with tf.Session() as session:
        assert session.run(total) == 10


def test_initializable_iterators_read_feeds() -> None:
    """Each start reads the feed anew; before it there is nothing."""
    x = tf.placeholder(tf.float32, [None])
    iterator = (
        Dataset.from_tensor_slices({"x": x, "y": x * 2}).batch(2).make_initializable_iterator()
    )
    following = iterator.get_next()
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="has not been initialized"):
            session.run(following)
        fed = np.array([1, 2, 3], np.float32)
        session.run(iterator.initializer, {x: fed})
        fed[:] = 0
        assert session.run(following)["y"].tolist() == [2.0, 4.0]
        session.run(iterator.initializer, {x: [7.0]})
        assert session.run(following)["y"].tolist() == [14.0]
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            session.run(following)


def test_iterators_of_several_datasets() -> None:
    """By `make_initializer`, and by handles that are fed."""
    train, test = Dataset.range(3), Dataset.range(10, 12)
    either = tf.data.Iterator.from_structure(train.output_types, train.output_shapes)
    following = either.get_next()
    starts = [either.make_initializer(d) for d in (train, test)]
    handle = tf.placeholder(tf.string, [])
    fed = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    handles = [d.make_one_shot_iterator().string_handle() for d in (train, test)]
    with tf.Session() as session:
        for start, value in zip((*starts, starts[0]), (0, 10, 0), strict=True):
            session.run(start)
            assert session.run(following) == value
        one, two = session.run(handles)
        assert [session.run(fed, {handle: h}) for h in (one, two, one)] == [0, 10, 1]
    with pytest.raises(TypeError, match="Expected output types"):
        either.make_initializer(Dataset.from_tensors(1.0))


def test_what_a_one_shot_iterator_refuses() -> None:
    """Placeholders and variables."""
    x = tf.placeholder(tf.int64, [])
    v = tf.Variable(1, dtype=tf.int64)

    with pytest.raises(ValueError, match="Cannot capture a placeholder"):
        Dataset.range(x).make_one_shot_iterator()
    with pytest.raises(ValueError, match="capture stateful objects"):
        Dataset.range(3).map(lambda i: i + v).make_one_shot_iterator()


def test_an_error_of_one_element_is_not_the_end() -> None:
    """The next call goes on with the next element."""
    data = Dataset.from_tensor_slices([1.0, 0.0, 2.0]).map(lambda x: tf.check_numerics(1 / x, "no"))
    following = data.batch(1).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(following).tolist() == [1.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Inf"):
            session.run(following)
        assert session.run(following).tolist() == [0.5]


def test_batches_of_other_shapes() -> None:
    """The error says which element."""
    data = Dataset.range(1, 3).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x)).batch(2)
    message = r"component 0. First element had shape \[1\] and element 1 had shape \[2\]"

    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        elements(data)


def test_arrays_of_the_program_are_copied() -> None:
    """What it does to them afterwards is not seen; texts in arrays of objects are texts."""
    array = np.ones(2, np.float32)
    data = Dataset.from_tensor_slices((array, np.array(["a", "\u00e9"], object)))
    constant = tf.constant(array)
    array[:] = 0

    assert elements(data) == [(1.0, b"a"), (1.0, "\u00e9".encode())]
    with tf.Session() as session:
        assert session.run(constant).tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match="Unsupported object type int"):
        tf.constant(np.array([1, 2], object))
