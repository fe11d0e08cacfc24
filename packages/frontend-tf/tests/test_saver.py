"""Checkpoints: what is saved comes back, in TensorFlow's format; old ones go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf


def variables() -> tuple[Any, Any]:
    """Two variables of a default graph."""
    w = tf.get_variable("w", [2, 3], initializer=tf.random_normal_initializer())
    return w, tf.get_variable("scope/steps", [], tf.int64, initializer=tf.zeros_initializer())


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    """In another session and graph; with names of one's own; the state file says where."""
    with tf.Graph().as_default(), tf.Session() as session:
        w, steps = variables()
        saver = tf.train.Saver()
        session.run([tf.global_variables_initializer(), steps.assign_add(7)][:1])
        session.run(steps.assign_add(7))
        saved = session.run(w)
        path = saver.save(session, tmp_path / "model.ckpt", global_step=steps)

    assert path == str(tmp_path / "model.ckpt-7") == tf.train.latest_checkpoint(tmp_path)
    assert dict(tf.train.list_variables(path)) == {"w": [2, 3], "scope/steps": []}
    with tf.Graph().as_default(), tf.Session() as session:
        other = tf.get_variable("other", [2, 3], initializer=tf.zeros_initializer())
        tf.train.Saver({"w": other}).restore(session, path)

        np.testing.assert_array_equal(session.run(other), saved)


def test_old_checkpoints_are_removed(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variables()
        saver = tf.train.Saver(max_to_keep=2)
        session.run(tf.global_variables_initializer())
        paths = [saver.save(session, tmp_path / "m", global_step=i) for i in range(4)]
        state = tf.train.get_checkpoint_state(tmp_path)

    assert saver.last_checkpoints == paths[2:] == list(state.all_model_checkpoint_paths)
    assert [tf.train.checkpoint_exists(p) for p in paths] == [False, False, True, True]


def test_what_does_not_fit_leaves_all_variables_as_they_were(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        w, _ = variables()
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver([w]).save(session, tmp_path / "m")
    with tf.Graph().as_default(), tf.Session() as session:
        steps = tf.get_variable("steps", [], initializer=tf.zeros_initializer())
        flat = tf.get_variable("w", [6], initializer=tf.zeros_initializer())
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.NotFoundError, match="Key steps not found in checkpoint"):
            tf.train.Saver([flat, steps], reshape=True).restore(session, path)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"lhs shape= \[6\] rhs shape= \["):
            tf.train.Saver([flat]).restore(session, path)
        with pytest.raises(ValueError, match="not a valid checkpoint"):
            tf.train.Saver([flat]).restore(session, tmp_path / "none")

        assert not session.run(flat).any()
        tf.train.Saver([flat], reshape=True).restore(session, path)
        assert session.run(flat).all()


def test_a_variable_of_another_dtype_is_not_restored(tmp_path: Path) -> None:
    """The error names the tensor and both dtypes, and the variable is as it was."""
    path = str(tmp_path / "m")
    with tf.Graph().as_default(), tf.Session() as session:
        whole = tf.Variable([1, 2], name="w")
        session.run(whole.initializer)
        tf.train.Saver().save(session, path)
    with tf.Graph().as_default(), tf.Session() as session:
        real = tf.Variable([0.5, 0.5], name="w")
        session.run(real.initializer)
        with pytest.raises(
            tf.errors.InvalidArgumentError,
            match="tensor_name = w; expected dtype float32 does not equal original dtype int32",
        ):
            tf.train.Saver().restore(session, path)

        assert session.run(real).tolist() == [0.5, 0.5]


def test_what_cannot_be_saved_is_refused(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(ValueError, match="No variables to save"):
            tf.train.Saver()
        assert tf.train.Saver(allow_empty=True).save(session, tmp_path / "m") is None
        w, _ = variables()
        with pytest.raises(
            tf.errors.FailedPreconditionError, match="uninitialized value scope/steps"
        ):
            tf.train.Saver().save(session, tmp_path / "m")
        session.run(tf.global_variables_initializer())
        with pytest.raises(ValueError, match="collides with 'save_path'"):
            tf.train.Saver([w]).save(session, tmp_path / "checkpoint")
    assert tf.train.latest_checkpoint(tmp_path) is None
