"""Every test begins with names and pending variables of its own."""

from __future__ import annotations

import pytest

import byparts_frontend_tf as tensorflow
import byparts_frontend_tf.tinyflow as tf


@pytest.fixture(autouse=True)
def _begin() -> None:
    tensorflow.reset_default_graph()
    tf.reset_default_graph()
    tf.set_random_seed(0)
