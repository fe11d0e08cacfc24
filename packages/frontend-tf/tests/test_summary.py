"""Summaries of a training, as a file of events holds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf


def test_what_is_summarized_stands_in_the_file(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [4])
        with tf.name_scope("train"):
            tf.summary.scalar("loss", tf.reduce_sum(x))
        tf.summary.histogram("x values", x)
        tf.summary.image("im", tf.ones([2, 3, 3, 1]), max_outputs=1)
        tf.summary.scalar("aside", x[0], collections=["others"], family="f")
        merged, other = tf.summary.merge_all(), tf.summary.merge_all("others")
        with tf.summary.FileWriter(str(tmp_path)) as writer:
            for step in range(2):
                writer.add_summary(session.run(merged, {x: np.full(4, step)}), step)
            writer.add_summary(session.run(other, {x: np.zeros(4)}), 7)
    (file,) = tmp_path.iterdir()
    events: list[Any] = [e for e in tf.train.summary_iterator(str(file)) if e.HasField("summary")]
    tags = [[v.tag for v in e.summary.value] for e in events]

    assert tags == [["train/loss", "x_values", "im/image"]] * 2 + [["f/f/aside"]]
    assert [e.step for e in events] == [0, 1, 7]
    assert [e.summary.value[0].simple_value for e in events[:2]] == [0.0, 4.0]
    assert events[1].summary.value[1].histo.num == 4


def test_two_summaries_of_one_tag_are_not_merged() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        assert tf.summary.merge_all() is None
        one = tf.summary.scalar("a", 1.0)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Duplicate tag a found"):
            session.run(tf.summary.merge([one, one]))


def test_operations_write_summaries_at_the_global_step(tmp_path: Path) -> None:
    """`contrib.summary`: each second step, always, and not where nothing says so."""
    summary = tf.contrib.summary
    with tf.Graph().as_default() as graph, tf.Session() as session:
        step = tf.train.create_global_step()
        loss = tf.to_float(step) * 0.5
        writer = summary.create_file_writer(str(tmp_path))
        with writer.as_default(), summary.record_summaries_every_n_global_steps(2):
            often = [summary.scalar("train/loss", loss), summary.scalar("train/twice", 2 * loss)]
        with writer.as_default(), summary.always_record_summaries():
            always = summary.scalar("dev/loss", loss, step=7)
        with writer.as_default():
            never = summary.scalar("test/loss", loss)
        session.run(step.initializer)
        with pytest.raises(tf.errors.NotFoundError):
            session.run(always)
        with pytest.raises(RuntimeError, match="No default"):
            summary.initialize()
        with writer.as_default():
            summary.initialize(graph)
        told = [session.run([often, step.assign_add(1).op])[0] for _ in range(3)]
        assert told == [[True, True], [False, False], [True, True]]
        assert session.run([always, never]) == [True, False]
        assert summary.all_summary_ops() == [*often, always, never]
        session.run(writer.close())

    (file,) = tmp_path.iterdir()
    events: list[Any] = list(tf.train.summary_iterator(str(file)))
    found = [(e.step, v.tag, v.simple_value) for e in events for v in e.summary.value]
    assert sorted(found) == [
        (0, "train/loss", 0.0), (0, "train/twice", 0.0), (2, "train/loss", 1.0),
        (2, "train/twice", 2.0), (7, "dev/loss", 1.5),
    ]  # fmt: skip
    assert any(e.graph_def for e in events)


def test_old_summaries_have_the_tag_that_is_given() -> None:
    old = tf.contrib.deprecated
    with tf.Graph().as_default(), tf.Session() as session, tf.name_scope("within"):
        old.scalar_summary("a tag", 2.0)
        old.histogram_summary("b", [1.0, 2.0])
        old.image_summary("c", tf.ones([1, 2, 2, 1]))
        made = tf.Summary.FromString(session.run(old.merge_all_summaries()))

    assert [v.tag for v in made.value] == ["a tag", "b", "c/image/0"]
    assert made.value[0].simple_value == 2.0
