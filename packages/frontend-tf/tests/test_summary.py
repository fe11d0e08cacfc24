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
