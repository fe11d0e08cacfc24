"""Connectionist temporal classification, as TensorFlow does it: `ctc_values.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ctc_values import LABELS, PLACES, SCORES, STEPS, values

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.session import defaults

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parent / "data" / "ctc.json").read_text(encoding="utf-8")
)


@pytest.fixture(autouse=True)
def _numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(defaults, "backends", ("numpy",))


def test_losses_and_labels_are_as_recorded() -> None:
    """Rows of different lengths; a row that does not fit into its time has no loss."""
    for name, found in values(tf).items():
        np.testing.assert_allclose(found, RECORDED[name], 1e-5, 1e-5, err_msg=name)


@pytest.mark.parametrize(
    ("labels", "steps", "match"),
    [(LABELS, [2, 4, 5], "Not enough time"), ([1, 1, 3, 0, 2, 0], STEPS, "null label")],
)
def test_labels_that_cannot_be_are_errors(labels: list[int], steps: list[int], match: str) -> None:
    """When it runs."""
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.SparseTensor(PLACES, tf.constant(labels, tf.int32), [3, 3])
        with pytest.raises(tf.errors.InvalidArgumentError, match=match):
            session.run(tf.nn.ctc_loss(y, SCORES, steps))
        with pytest.raises(TypeError, match="SparseTensor"):
            tf.nn.ctc_loss(tf.zeros([3, 3], tf.int32), SCORES, steps)
