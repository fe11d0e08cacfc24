"""Sparse tensors: places, sums, products, and the gradients that pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.session import defaults

INDICES, VALUES, SHAPE = [[0, 1], [0, 3], [2, 0]], [2.0, -1.0, 3.0], [3, 4]
DENSE = np.zeros(SHAPE, np.float32)
DENSE[tuple(np.transpose(INDICES))] = VALUES
ROW = np.arange(1.0, 5.0, dtype=np.float32)


@pytest.fixture(autouse=True)
def _graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(defaults, "backends", ("numpy",))
    with tf.Graph().as_default(), tf.Session():
        yield


def _sparse() -> Any:
    return tf.sparse_placeholder(tf.float32)


def _value(fetch: Any, sp: Any) -> Any:
    return tf.get_default_session().run(fetch, {sp: (INDICES, VALUES, SHAPE)})


def _dense(given: Any) -> Any:
    made = np.zeros(given.dense_shape, np.float32)
    made[tuple(given.indices.T)] = given.values
    return made


OF_SPARSE: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "reorder": (lambda s: tf.sparse_reorder(tf.sparse_reorder(s)), DENSE),
    "retain": (lambda s: tf.sparse_retain(s, s.values > 0), np.maximum(DENSE, 0)),
    "reshape": (lambda s: tf.sparse_reshape(s, [2, -1]), DENSE.reshape(2, 6)),
    "transpose": (tf.sparse_transpose, DENSE.T),
    "transpose by an order": (lambda s: tf.sparse_transpose(s, [1, 0]), DENSE.T),
    "slice": (lambda s: tf.sparse_slice(s, [0, 1], [2, 9]), DENSE[:2, 1:]),
    "second piece": (
        lambda s: tf.sparse_split(sp_input=s, num_split=3, axis=1)[1],
        DENSE[:, 2:3],
    ),
    "concat": (lambda s: tf.sparse_concat(1, [s, s]), np.concatenate([DENSE, DENSE], 1)),
    "expand_dims": (lambda s: tf.sparse.expand_dims(s, 1), DENSE[:, None]),
    "reset_shape": (tf.sparse_reset_shape, DENSE),
    "add": (lambda s: tf.sparse_add(s, tf.sparse_slice(s, [0, 0], [3, 2])), None),
    "maximum": (lambda s: tf.sparse_maximum(s, tf.sparse_retain(s, s.values > 5)), None),
    "times a row": (lambda s: s * ROW, DENSE * ROW),
    "divided": (lambda s: s / 2.0, DENSE / 2),
    "from dense": (lambda s: tf.sparse.from_dense(tf.sparse_tensor_to_dense(s)), DENSE),
}
OF_SPARSE["add"] = (OF_SPARSE["add"][0], DENSE + DENSE * [1, 1, 0, 0])
OF_SPARSE["maximum"] = (OF_SPARSE["maximum"][0], np.maximum(DENSE, 0))


@pytest.mark.parametrize("name", OF_SPARSE)
def test_a_sparse_result_is_that_of_the_dense_tensor(name: str) -> None:
    """Elements, places and shape, of a fed SparseTensor of unknown rank."""
    function, wanted = OF_SPARSE[name]
    sp = _sparse()

    np.testing.assert_array_equal(_dense(_value(function(sp), sp)), wanted)


def test_sums_and_extremes_are_dense() -> None:
    """Along an axis, along all, with the axis kept; what has no element is 0."""
    sp = _sparse()
    sums = (
        tf.sparse_reduce_sum(sp, 0),
        tf.sparse_reduce_sum(sp),
        tf.sparse_reduce_sum(sp, [1], keepdims=True),
        tf.sparse_reduce_max(sp, -1),
    )
    along, whole, kept, highest = _value(sums, sp)

    np.testing.assert_array_equal(along, DENSE.sum(0))
    assert whole == DENSE.sum()
    np.testing.assert_array_equal(kept, DENSE.sum(1, keepdims=True))
    np.testing.assert_array_equal(highest, [2, 0, 3])


def test_softmax_is_of_the_elements_of_a_row() -> None:
    """Elements that are not there are no zeros."""
    sp = _sparse()
    powers = np.exp([2.0, -1.0])
    found = _value(tf.sparse_softmax(sp), sp)

    np.testing.assert_allclose(found.values, [*powers / powers.sum(), 1], rtol=1e-6)


def test_the_gradients_of_a_product_are_those_of_the_dense_one() -> None:
    """With respect to the dense matrix and to the elements."""
    sp = _sparse()
    b = tf.constant(np.arange(8, dtype=np.float32).reshape(4, 2))
    loss = tf.reduce_sum(tf.square(tf.sparse_tensor_dense_matmul(sp, b)))
    of_b, of_values = _value(tf.gradients(loss, [b, sp.values]), sp)

    array = np.arange(8).reshape(4, 2)
    dy = 2 * DENSE @ array
    np.testing.assert_allclose(of_b, DENSE.T @ dy)
    np.testing.assert_allclose(of_values, (dy @ array.T)[tuple(np.transpose(INDICES))])


def test_a_transposed_product_and_shapes_that_do_not_fit() -> None:
    """The shapes are said."""
    sp = _sparse()
    ones = tf.ones([3, 1])

    np.testing.assert_array_equal(
        _value(tf.sparse_tensor_dense_matmul(sp, ones, adjoint_a=True), sp), DENSE.T.sum(1)[:, None]
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot multiply A and B"):
        _value(tf.sparse_tensor_dense_matmul(sp, ones), sp)


def test_what_is_sparse_becomes_dense_with_a_default() -> None:
    """Numbers, strings, one place; a place outside is an error."""
    session = tf.get_default_session()
    words = tf.SparseTensor([[0], [2]], ["a", "b"], [3])

    assert session.run(tf.sparse_tensor_to_dense(words, "-")).tolist() == [b"a", b"-", b"b"]
    assert session.run(tf.sparse_to_dense([1], [3], 5, -1)).tolist() == [-1, 5, -1]
    assert tf.sparse_to_dense([[0, 0]], [2, 3], 1).shape == (2, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
        session.run(tf.sparse_to_dense([[0, 3]], [2, 3], [1.0]))


def test_the_shape_of_a_placeholder_is_what_is_said() -> None:
    """Wholly known, known in its rank, unknown."""
    known = tf.sparse_placeholder(tf.float32, [2, 3], name="k")

    assert known.shape == (2, 3) and known.values.name == "k/values:0"
    assert tf.sparse_placeholder(tf.float32, [None, 3]).shape.ndims == 2
    assert tf.sparse_placeholder(tf.float32).get_shape().ndims is None
    with pytest.raises(TypeError, match="must be a SparseTensor"):
        tf.sparse_tensor_to_dense(tf.zeros([2]))


SEGMENTS: dict[str, Any] = {  # 1.15.5's, of rows [1, 2], [3, 4], [5, 6], [5, 1] and ids 0, 0, 2, 2
    "segment_sum": ([[4, 6], [0, 0], [10, 7]], [[1, 1]] * 4),
    "segment_mean": ([[2, 3], [0, 0], [5, 3.5]], [[0.5, 0.5]] * 4),
    "segment_max": ([[3, 4], [0, 0], [5, 6]], [[0, 0], [1, 1], [0.5, 1], [0.5, 0]]),
    "segment_min": ([[1, 2], [0, 0], [5, 1]], [[1, 1], [0, 0], [0.5, 0], [0.5, 1]]),
    "segment_prod": ([[3, 8], [1, 1], [25, 6]], [[3, 4], [1, 2], [5, 1], [5, 6]]),
}


@pytest.mark.parametrize("name", SEGMENTS)
def test_segments_are_reduced_and_pass_gradients(name: str) -> None:
    """Sorted ids; equal extremes share the gradient."""
    x = tf.constant([[1.0, 2], [3, 4], [5, 6], [5, 1]])
    y = getattr(tf, name)(x, tf.constant([0, 0, 2, 2]))
    found = tf.get_default_session().run([y, tf.gradients(y, x)[0]])

    for array, wanted in zip(found, SEGMENTS[name], strict=True):
        np.testing.assert_allclose(array, wanted)


def test_negative_ids_are_left_out() -> None:
    """No row of theirs, and no gradient; segments without rows are the least number."""
    x, ids = tf.constant([1.0, 2.0, 4.0]), tf.constant([-1, 1, 1])
    total = tf.unsorted_segment_sum(x, ids, 3)
    highest = tf.unsorted_segment_max(x, ids, 3)
    session = tf.get_default_session()

    assert session.run(total).tolist() == [0, 6, 0]
    assert session.run(tf.gradients(total, x)[0]).tolist() == [0, 1, 1]
    assert session.run(highest)[1] == 4 and session.run(highest)[0] == tf.float32.min
    assert session.run(tf.gradients(highest, x)[0]).tolist() == [0, 0, 1]


TABLE = np.arange(8, dtype=np.float32).reshape(4, 2)


def test_bags_of_ids_are_combined() -> None:
    """A row without ids is 0, or a default; negative ids do not count."""
    session = tf.get_default_session()
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, 3, 2], tf.int64), [4, 2])
    odd = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, -1, -1], tf.int64), [3, 2])
    weights = tf.SparseTensor(ids.indices, [1.0, 3.0, 2.0], ids.dense_shape)
    table = tf.constant(TABLE)
    found = tf.nn.embedding_lookup_sparse(table, ids, weights, combiner="mean")
    rooted = tf.nn.embedding_lookup_sparse(table, ids, weights, combiner="sqrtn")
    safe = tf.nn.safe_embedding_lookup_sparse(table, odd)
    other = tf.nn.safe_embedding_lookup_sparse(table, odd, default_id=3, combiner="sum")

    assert session.run(found).tolist() == [[5, 6], [0, 0], [4, 5]]
    np.testing.assert_allclose(session.run(rooted)[0], [20 / 10**0.5, 24 / 10**0.5], rtol=1e-6)
    assert session.run(safe).tolist() == [[2, 3], [0, 0], [0, 0]]
    assert session.run(other).tolist() == [[2, 3], [6, 7], [6, 7]]
    slope = tf.gradients(found, table)[0]
    assert type(slope).__name__ == "IndexedSlices"
    assert session.run(tf.convert_to_tensor(slope))[:, 0].tolist() == [0, 0.25, 1, 0.75]
    with pytest.raises(ValueError, match="combiner must be"):
        tf.nn.embedding_lookup_sparse(table, ids, None, combiner="max")


def test_partitioners_say_how_they_would_cut() -> None:
    """By a number of pieces, or by bytes; a variable stays whole."""
    assert tf.fixed_size_partitioner(3)(shape=tf.TensorShape([7, 2]), dtype=tf.float32) == [3, 1]
    assert tf.variable_axis_size_partitioner(16)([7, 2], tf.float32) == [4, 1]
    assert tf.min_max_variable_partitioner(5, 0, 8)([7, 2], tf.float32) == [5, 1]
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
        assert tf.get_variable("v", [4, 2]).shape == (4, 2)


def test_empty_rows_are_filled_and_ids_are_indicators() -> None:
    """A default in the first column; whether an id is in a row; rows of slices left out."""
    session = tf.get_default_session()
    sp = tf.SparseTensor([[0, 1], [2, 0]], [5.0, 6.0], [4, 3])
    filled, empty = tf.sparse_fill_empty_rows(sp, -1.0)
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([2, 0, 1], tf.int64), [2, 2])
    rows = tf.sparse_mask(tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 3])), [3])

    assert session.run(tf.sparse_tensor_to_dense(filled))[:, 0].tolist() == [0, -1, 6, -1]
    assert session.run(empty).tolist() == [False, True, False, True]
    assert session.run(tf.sparse_to_indicator(ids, 3)).tolist() == [
        [True, False, True],
        [False, True, False],
    ]
    assert session.run(rows.indices).tolist() == [0]


def test_many_elements_are_reduced_on_the_host() -> None:
    """Extremes of unsorted ids beside NumPy's; products with and without zeros."""
    x = np.sin(np.arange(900, dtype=np.float32)).reshape(300, 3)
    ids = (np.arange(300) * 7 % 11 - 1).astype(np.int32)
    session = tf.get_default_session()
    least = session.run(tf.unsorted_segment_min(x, ids, 10))
    y = tf.constant([2.0, 0.0, 3.0, 0.0, 0.0])
    whole = tf.unsorted_segment_prod(y, [0, 1, 0, 1, 2], 3)

    assert all((least[i] == x[ids == i].min(0)).all() for i in range(10))
    assert session.run(whole).tolist() == [6, 0, 0]
    assert session.run(tf.gradients(whole, y)[0]).tolist() == [3, 0, 2, 0, 1]


def test_an_identity_is_sparse() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        made = session.run([tf.sparse.eye(2), tf.sparse_tensor_to_dense(tf.sparse.eye(2, 3))])

    assert made[0].indices.tolist() == [[0, 0], [1, 1]] and made[0].values.dtype == np.float32
    assert made[1].tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]


def test_a_product_with_some_elements_is_one_program_for_any_number_of_them() -> None:
    """Dropout on a sparse input; what is kept is fetched as it is, and gradients pass."""
    with tf.Graph().as_default(), tf.Session() as session:
        values, kept = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.bool, [3])
        sp = tf.SparseTensor([[0, 0], [0, 1], [1, 1]], values, [2, 2])
        some = tf.sparse_retain(sp, kept) * 2.0
        y = tf.sparse_tensor_dense_matmul(some, tf.constant([[1.0], [10.0]]))
        slope = tf.gradients(y, values)[0]
        fed = {values: [1.0, 2.0, 3.0]}
        one = session.run([y, slope], {**fed, kept: [True, False, True]})
        plans = next(iter(session._plans.values()))
        built = plans.built
        two = session.run([y, slope], {**fed, kept: [True, True, True]})
        found = session.run(some, {**fed, kept: [False, False, True]})

    assert one[0].tolist() == [[2.0], [60.0]] and one[1].tolist() == [2.0, 0.0, 20.0]
    assert two[0].tolist() == [[42.0], [60.0]] and plans.built == built
    assert found.indices.tolist() == [[1, 1]] and found.values.tolist() == [6.0]
