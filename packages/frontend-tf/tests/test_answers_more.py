"""What TensorFlow 1.15.5 answered to expressions beside those of `data/answers`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 10


def evaluated(make: Callable[[], Any]) -> Any:
    """What a session gives for what `make` makes in a graph of its own."""
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(make())


@pytest.mark.parametrize("backends", ["auto", ("numpy",)], ids=str)
def test_the_gradient_of_a_cross_entropy_takes_labels_to_sum_to_one(backends: Any) -> None:
    """Softmax less labels, also where they sum to 0 or 2: what a program with masks relies on."""
    with tf.Graph().as_default():
        x, y = tf.placeholder(tf.float32, [3, 2]), tf.placeholder(tf.float32, [3, 2])
        loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x)
        (first,) = tf.gradients(loss, x)
        (second,) = tf.gradients(first[:, 0], x)
        feeds = {x: np.log([[3, 1], [3, 1], [3, 1]]), y: [[1, 0], [0, 0], [1, 1]]}
        found = tf.Session(backends=backends).run([loss, first, second], feeds)

    np.testing.assert_allclose(found[0], [0.287682, 0, 1.6739765], 1e-5)
    np.testing.assert_allclose(found[1], [[-0.25, 0.25], [0.75, 0.25], [-0.25, -0.75]], 1e-5)
    np.testing.assert_allclose(found[2], [[0.1875, -0.1875]] * 3, 1e-5)


VALUES: dict[str, tuple[Callable[[], Any], Any]] = {
    "stack of mixed numbers": (lambda: tf.stack([1, 2.5]), [1, 2.5]),
    "stack of nothing": (lambda: tf.stack([]), []),
    "an axis named twice": (lambda: tf.reduce_sum(X, [1, -2])[0], [-18, -15, -12, -9]),
    "slice by truth": (lambda: tf.constant(X)[tf.constant(X) > 11], [12, 13]),
    "padding by a tensor": (
        lambda: tf.pad([1.0, 2.0], [[1, 2]], constant_values=tf.placeholder_with_default(9.0, ())),
        [9, 1, 2, 9, 9],
    ),
    "padded strings": (lambda: tf.pad(["a"], [[1, 0]]), [b"", b"a"]),
    "strings chosen": (lambda: tf.where([True, False], ["a", "b"], ["c", "d"]), [b"a", b"d"]),
    "gather in batches": (
        lambda: tf.gather(X, [[0, 2], [1, 1]], batch_dims=-1)[0, 1],
        [-6, -4],
    ),
    "places in batches": (
        lambda: tf.gather_nd(X, [[0], [2]], batch_dims=1),
        [[-10, -9, -8, -7], [10, 11, 12, 13]],
    ),
    "sums of columns": (lambda: tf.norm(X, 1, axis=(1, 2)), [18, 27]),
    "sums of rows": (lambda: tf.norm(X, np.inf, axis=(1, 2)), [34, 46]),
    "largest singular value": (lambda: tf.norm([[3.0, 0], [0, -4]], 2, axis=(0, 1)), 4),
    "axes of dots": (
        lambda: tf.einsum("...ij,jk->...ik", X, tf.ones([4, 1]))[0],
        [[-34], [-18], [-2]],
    ),
    "integers divided": (lambda: tf.realdiv([-7, 7], 2), [-3, 3]),
    "floats not cut off": (lambda: tf.truncatediv([-7.0], 2.0), [-3.5]),
    "a mask of floats": (lambda: tf.sequence_mask([1.9, 0.5], 2), [[True, False], [False, False]]),
    "a sine of complex numbers": (lambda: tf.sin(tf.constant([1j])), [1.1752012j]),
    "a sum of complex numbers": (lambda: tf.reduce_sum(tf.constant([1j, 2])), 2 + 1j),
    "truths that are 0": (lambda: tf.nn.zero_fraction([True, False]), 0.5),
    "rows held short": (
        lambda: tf.nn.embedding_lookup(tf.constant([[[3.0], [4.0]]]), [0], max_norm=1.0),
        [[[0.6], [0.8]]],
    ),
}


@pytest.mark.parametrize("case", VALUES)
def test_a_value_is_tensorflows(case: str) -> None:
    """Also of its dtype's kind."""
    make, want = VALUES[case]
    found = evaluated(make)

    if np.asarray(want).dtype.kind in "fc":
        np.testing.assert_allclose(found, want, 1e-5)
    else:
        assert found.tolist() == want


def _x() -> Any:
    return tf.placeholder(tf.float32, [2, 3, 4])


RAISED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "an axis that is a float": (lambda: tf.reduce_sum(_x(), 1.0), TypeError, "allowed"),
    "a shape of floats": (lambda: tf.reshape(_x(), [2.0, 12.0]), TypeError, "float"),
    "a shape that is a number": (lambda: tf.reshape(_x(), -1), ValueError, "rank 0"),
    "arguments of concat exchanged": (lambda: tf.concat(0, [_x(), _x()]), ValueError, "rank 0"),
    "concat of nothing": (lambda: tf.concat([], 0), ValueError, "length 0"),
    "concat of two dtypes": (
        lambda: tf.concat([_x(), tf.ones([2, 3, 4], tf.int32)], 0),
        TypeError,
        "don't all match",
    ),
    "arguments of split exchanged": (lambda: tf.split(0, 2, _x()), TypeError, "split_dim"),
    "too many to unstack": (lambda: tf.unstack(_x(), 4, 1), ValueError, "must be 4 but is 3"),
    "padding below 0": (lambda: tf.pad(_x(), [[0, -1]] * 3), ValueError, "non-negative"),
    "numbers of a cosine": (lambda: tf.cos(tf.constant([1])), TypeError, "int32 not in list"),
    "maximum of bytes": (
        lambda: tf.maximum(tf.constant([1], tf.uint8), 2),
        TypeError,
        "uint8 not in list",
    ),
    "a softmax of a number": (lambda: tf.nn.softmax(tf.constant(1.0)), ValueError, "rank 1"),
    "labels of floats": (
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1.0], logits=[[1.0]]),
        TypeError,
        "labels",
    ),
    "weights of another shape": (
        lambda: tf.losses.softmax_cross_entropy(np.eye(3), np.eye(3), np.ones([3, 1])),
        ValueError,
        "broadcast",
    ),
    "a shape to draw that is a number": (lambda: tf.random_normal(3), ValueError, "rank 0"),
    "logits of a vector": (lambda: tf.multinomial([1.0, 2.0], 1), ValueError, "rank 2"),
    "a branch without a result": (
        lambda: tf.cond(tf.constant(True), _x, lambda: None),
        ValueError,
        "false_fn must have a return value",
    ),
    "an equation that does not fit": (
        lambda: tf.einsum("ij,jk->ik", np.ones([2, 3]), np.ones([2, 3])),
        ValueError,
        "differ",
    ),
}


@pytest.mark.parametrize("case", RAISED)
def test_an_error_is_tensorflows_when_the_graph_is_built(case: str) -> None:
    """Of its class: programs catch ValueError and TypeError."""
    make, kind, match = RAISED[case]
    with tf.Graph().as_default(), pytest.raises(kind, match=match) as caught:
        make()

    assert caught.type is kind


@pytest.mark.parametrize("backends", ["auto", ("numpy",)], ids=str)
@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.gather_nd(X, [[0, 5]]),
        lambda: tf.scatter_nd([[0, 5]], [1.0], [4, 3]),
        lambda: tf.gather(X, [[0], [3]], batch_dims=1),
        lambda: tf.nn.embedding_lookup([np.zeros([3, 2]), np.ones([2, 2])], [5]),
        lambda: tf.reverse_sequence(X, [4, 1], seq_axis=1, batch_axis=0),
        lambda: tf.invert_permutation([0, 0]),
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[4], logits=[[1.0, 2.0]]),
    ],
    ids=["place", "update", "batch", "table", "length", "permutation", "label"],
)
def test_a_number_out_of_range_is_an_error_of_the_run(make: Any, backends: Any) -> None:
    """With every backend."""
    with (
        tf.Graph().as_default(),
        pytest.raises(tf.errors.InvalidArgumentError, match=r"out of|no class"),
    ):
        tf.Session(backends=backends).run(make())


def test_texts_that_are_fed_become_bytes() -> None:
    """Also from an array of Python objects."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.string, [2])
        found = session.run([x, tf.equal(x, "a")], {x: np.array(["a", "ü"], object)})

    assert [f.tolist() for f in found] == [[b"a", "ü".encode()], [True, False]]


def test_what_a_generated_operation_gives_is_named() -> None:
    """As in TensorFlow 1.15, where these functions are those of operations."""
    with tf.Graph().as_default():
        q = tf.linalg.qr(tf.eye(2))
        drawn = tf.nn.uniform_candidate_sampler([[1]], 1, 2, True, 5)
        box = tf.image.sample_distorted_bounding_box([4, 4, 3], [[[0, 0, 1, 1]]])

    assert (type(q).__name__, q._fields) == ("Qr", ("q", "r"))
    assert type(drawn).__name__ == "UniformCandidateSampler"
    assert (type(box).__name__, box._fields[0]) == ("SampleDistortedBoundingBoxV2", "begin")


def test_normalized_images_and_penalties_are_called_as_tensorflows() -> None:
    """Programs print these tensors, and read them by their names."""
    with tf.Graph().as_default():
        x = tf.zeros([1, 2, 2, 3])
        y = tf.layers.batch_normalization(x, training=True)
        z = tf.layers.batch_normalization(tf.zeros([2, 3]), name="rows")
        weights = tf.contrib.layers.l2_regularizer(0.1)
        tf.contrib.layers.fully_connected(x, 2, weights_regularizer=weights)
        (penalty,) = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)

    assert y.name == "batch_normalization/FusedBatchNormV3:0"
    assert z.name == "rows/batchnorm/add_1:0"
    assert penalty.name == "fully_connected/kernel/Regularizer/l2_regularizer:0"


def test_decay_of_weights_is_of_the_rows_that_get_a_gradient() -> None:
    """As of an embedding: the others stay."""
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.Variable(tf.ones([3, 2]))
        loss = 0 * tf.reduce_sum(tf.nn.embedding_lookup(table, [1]))
        step = tf.contrib.opt.MomentumWOptimizer(0.5, 0.1, 0.9).minimize(loss)
        session.run(tf.global_variables_initializer())
        session.run(step)
        found = session.run(table)

    assert found.tolist() == [[1, 1], [0.5, 0.5], [1, 1]]
