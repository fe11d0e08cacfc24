"""The stream of random numbers that ops draw from; its seed and position are state of programs."""

from __future__ import annotations

import numpy as np

from byparts_eager import Random

stream = Random(0)
numpy_stream = np.random.Generator(np.random.Philox(0))  # draws first values of parameters


def seed(seed_state: int) -> None:
    """Begin the stream anew, and that of first values of parameters."""
    stream.seed.value, stream.position.value = seed_state, 0
    numpy_stream.bit_generator.state = np.random.Philox(seed_state).state
