"""Functions of arrays give what TensorFlow gave: `math_values.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from math_values import functions, value

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.session import defaults

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parent / "data" / "math.json").read_text(encoding="utf-8")
)
FUNCTIONS = functions(tf)


@pytest.fixture(autouse=True)
def _numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(defaults, "backends", ("numpy",))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_as_recorded(name: str) -> None:
    """Values, dtypes, static shapes."""
    found = value(tf, FUNCTIONS[name])

    assert [row[1:] for row in found] == [row[1:] for row in RECORDED[name]]
    for row, wanted in zip(found, RECORDED[name], strict=True):
        np.testing.assert_allclose(row[0], wanted[0], 1e-5, 1e-6)


def test_a_partition_and_a_stitch_pass_gradients() -> None:
    """Of each row to where it went."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([1.0, 2.0, 3.0])
        first, second = tf.dynamic_partition(x, [1, 0, 1], 2)
        joined = tf.dynamic_stitch([[0], [2, 1]], [first * 3.0, second])
        slopes = tf.gradients(joined * [1.0, 10.0, 100.0], x)[0]

        assert session.run([joined, slopes])[1].tolist() == [100.0, 3.0, 10.0]


def test_long_axes_are_sorted_on_the_host() -> None:
    """The first of equal elements first, up and down; the gradient goes where they came from."""
    x = (np.arange(1800) * 7 % 13).astype(np.float32).reshape(600, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.constant(x)
        y = tf.sort(given, 0, "DESCENDING")
        slope = tf.gradients(y[0], given)[0]
        up, down, found, where = session.run(
            [tf.argsort(given, 0), tf.argsort(given, 0, "DESCENDING"), y, slope]
        )

    np.testing.assert_array_equal(up, np.argsort(x, 0, kind="stable"))
    np.testing.assert_array_equal(down, np.argsort(-x, 0, kind="stable"))
    np.testing.assert_array_equal(found, -np.sort(-x, 0))
    assert where.sum() == 3 and all(where[x[:, i].argmax(), i] == 1 for i in range(3))


def test_wrong_input_is_an_error_of_tensorflows() -> None:
    """When the graph is built, or when it runs."""
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(ValueError, match="rank 1"):
            tf.unique([[1]])
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not in"):
            session.run(tf.dynamic_partition([1.0], [2], 2))
        with pytest.raises(ValueError, match="must be equal"):
            tf.tensordot(tf.zeros([2, 3]), tf.zeros([2, 3]), 1)
        with pytest.raises(ValueError, match="evenly divisible"):
            tf.depth_to_space(tf.zeros([1, 2, 2, 3]), 2)
        with pytest.raises(ValueError, match="ASCENDING"):
            tf.sort([1.0], direction="up")


def test_many_rows_are_shuffled() -> None:
    """Each once, by the seed."""
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(tf.random_shuffle(tf.range(700), seed=1))

    assert sorted(found.tolist()) == list(range(700)) and found.tolist() != list(range(700))


def test_repeated_rows_keep_their_width() -> None:
    """How many there are may be known, too."""
    with tf.Graph().as_default(), tf.Session() as session:
        counts = tf.placeholder(tf.int32, [2])
        fed = tf.repeat(tf.ones([2, 3]), counts, axis=0, name="rows")
        known = tf.repeat(tf.ones([2, 3]), [1, 4], axis=0)
        each = tf.repeat(tf.ones([2, 3]), 2, axis=1)

        assert [t.shape.as_list() for t in (fed, known, each)] == [[None, 3], [5, 3], [2, 6]]
        assert fed.name.startswith("rows/") and session.run(fed, {counts: [2, 0]}).shape == (2, 3)
