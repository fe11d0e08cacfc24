"""Every test begins with a graph and random numbers of its own."""

from __future__ import annotations

import random

import numpy as np
import pytest

import byparts_frontend_tf as tensorflow
from byparts_frontend_tf.graph import seeds


@pytest.fixture(autouse=True)
def _begin(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Where no seed says the numbers, the name of the test does: a failure can be seen again."""
    tensorflow.reset_default_graph()
    chance = random.Random(request.node.nodeid)
    monkeypatch.setattr(seeds, "unseeded", chance.getrandbits)
    random.seed(chance.getrandbits(32))
    np.random.seed(chance.getrandbits(32))
