"""Variables that begin with what a checkpoint holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_tf_files.write_checkpoint import write_checkpoint


@pytest.fixture
def path(tmp_path: Path) -> str:
    arrays = {"bert/w": np.full([2, 3], 7.0, np.float32), "b": np.ones([3], np.float32)}
    return write_checkpoint(str(tmp_path / "model.ckpt-1"), arrays)


def first_values(mapping: Any, path: str) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("model"):
            w = tf.get_variable("w", [2, 3])
            b = tf.get_variable("bias", [3], initializer=tf.zeros_initializer())
        tf.train.init_from_checkpoint(path, mapping(w, b))
        session.run(tf.global_variables_initializer())
        return session.run([w, b])


@pytest.mark.parametrize(
    "mapping",
    [
        lambda w, b: {"bert/w": "model/w", "b": b},
        lambda w, b: {"bert/w": w, "b": "model/bias"},
    ],
)
def test_variables_begin_with_a_checkpoint(mapping: Any, path: str) -> None:
    w, b = first_values(mapping, path)

    assert (w == 7.0).all() and (b == 1.0).all()


def test_a_scope_begins_with_a_scope(path: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("here"):
            w = tf.get_variable("w", [2, 3])
        tf.train.init_from_checkpoint(path, {"bert/": "here/"})
        session.run(tf.global_variables_initializer())

        assert (session.run(w) == 7.0).all()


def test_what_does_not_fit_is_said(path: str) -> None:
    with pytest.raises(ValueError, match=r"Tensor none is not found"):
        first_values(lambda w, b: {"none": w}, path)
    with pytest.raises(ValueError, match=r"doesn't match with shape of tensor b \(\[3\]\)"):
        first_values(lambda w, b: {"b": w}, path)
