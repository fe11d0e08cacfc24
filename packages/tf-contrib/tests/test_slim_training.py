"""`slim.learning.train`, then `slim.evaluation` of what it has written."""

from __future__ import annotations

from pathlib import Path

import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.session import defaults

slim = tf.contrib.slim


@pytest.fixture(autouse=True)
def _numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(defaults, "backends", ("numpy",))


def test_steps_are_taken_and_the_checkpoint_is_evaluated(tmp_path: Path) -> None:
    """Six steps of half the way to 4; the mean over three batches of what was learned."""
    logs = str(tmp_path / "train")
    with tf.Graph().as_default():
        v = slim.model_variable("v", [], initializer=tf.zeros_initializer())
        optimizer = tf.train.GradientDescentOptimizer(0.25)
        train = slim.learning.create_train_op(tf.square(v - 4.0), optimizer)
        loss = slim.learning.train(train, logs, number_of_steps=6, log_every_n_steps=0)
        assert abs(loss - (4 * 0.5**5) ** 2) < 1e-5

    path = tf.train.latest_checkpoint(logs)
    assert path is not None and path.endswith("model.ckpt-6")
    assert slim.evaluation.wait_for_new_checkpoint(logs, timeout=0) == path
    assert slim.evaluation.wait_for_new_checkpoint(logs, path, timeout=0) is None
    with tf.Graph().as_default():
        v = slim.model_variable("v", [], initializer=tf.zeros_initializer())
        tf.train.create_global_step()
        mean, update = tf.metrics.mean(v * 2)
        tf.summary.scalar("mean", mean)
        given = {"num_evals": 3, "eval_op": update, "final_op": [mean, v]}
        found = slim.evaluation.evaluate_once("", path, str(tmp_path / "eval"), **given)
        assert abs(found[1] - 4 * (1 - 0.5**6)) < 1e-6 and abs(found[0] - 2 * found[1]) < 1e-5
    events = list(tmp_path.glob("eval/events*"))
    assert [e.step for e in tf.train.summary_iterator(str(events[0])) if e.summary.value] == [6]


def test_training_ends_with_its_input() -> None:
    with tf.Graph().as_default():
        numbers = tf.train.limit_epochs(tf.constant([1.0]), num_epochs=3)
        total = tf.get_variable("total", [], initializer=tf.zeros_initializer())
        train = tf.assign_add(total, numbers[0])
        assert slim.learning.train(train, None, log_every_n_steps=0) == 3.0


def test_a_loop_evaluates_as_often_as_asked(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "m"), global_step=1)
    with tf.Graph().as_default():
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        found = slim.evaluation.evaluation_loop(
            "", str(tmp_path), str(tmp_path), final_op=v, max_number_of_evaluations=1,
            summary_op=None,
        )  # fmt: skip
    assert found == 1.0
