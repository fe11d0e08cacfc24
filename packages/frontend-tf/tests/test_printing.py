"""What `tf.print` and `tf.Print` print: TensorFlow's own text."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import byparts_frontend_tf as tf


def test_arrays_are_printed_as_by_tensorflow(capsys: pytest.CaptureFixture[str]) -> None:
    """Three elements at both ends of an axis; 6 digits where they say the number, else 9."""
    x = np.arange(12).reshape(2, 3, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        numbers = tf.constant([0.1, 1e-8, 1 / 3, 1234567.0, np.nan])
        given = [tf.range(7), tf.constant(x), numbers, tf.constant(1 / 3, tf.float64)]
        for each in (given[0], given[1], (numbers, {"k": given[3]}), tf.constant(["a"])):
            session.run(tf.print("is", each, sep=":", output_stream=sys.stdout))
        session.run(tf.print(numbers, summarize=1, end="", output_stream=sys.stdout))

    assert capsys.readouterr().out == (
        "is:[0 1 2 ... 4 5 6]\n"
        "is:[[[0 1]\n  [2 3]\n  [4 5]]\n\n [[6 7]\n  [8 9]\n  [10 11]]]\n"
        "is:([0.1 1e-08 0.333333343 1234567 nan], {'k': 0.33333333333333331})\n"
        'is:["a"]\n'
        "[0.1 ... nan]"
    )


def test_it_is_printed_when_something_waits_for_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """To standard error or to a file; `tf.Print` has the same digits."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [])
        there = tf.print("x =", x)
        file = tf.print(x, output_stream=f"file://{tmp_path}/log")
        with tf.control_dependencies([there, file]):
            y = tf.Print(x * 2, [x], "it is ")
        assert session.run(y, {x: 0.1}) == pytest.approx(0.2)

    assert sorted(capsys.readouterr().err.splitlines()) == ["it is [0.1]", "x = 0.1"]
    assert (tmp_path / "log").read_text() == "0.1\n"


def test_arguments_that_do_not_exist_are_refused() -> None:
    """Of the call, and streams."""
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="Unrecognized keyword arguments"):
            tf.print("x", file=sys.stdout)
        with pytest.raises(ValueError, match="Unsupported output stream"):
            tf.print("x", output_stream="log")


def test_operations_and_sparse_tensors_are_shown_as_by_tensorflow() -> None:
    """An operation is its message; the parts of a sparse tensor are in a scope of their own."""
    with tf.Graph().as_default():
        product = tf.matmul(tf.placeholder(tf.float32, [2, 2], name="x"), tf.ones([2, 2]))
        first, second = [tf.SparseTensor([[0, 0]], [1.0], [2, 2]) for _ in range(2)]

    assert str(product.op).startswith('name: "MatMul"\nop: "MatMul"\ninput: "x"\ninput: "ones"\n')
    names = [t.name for t in (first.indices, first.dense_shape, second.values)]
    scopes = ["SparseTensor/indices", "SparseTensor/dense_shape", "SparseTensor_1/values"]
    assert names == [f"{s}:0" for s in scopes]
