"""A toy sequence."""

from __future__ import annotations

from typing import Any

import numpy as np


def generate_toy_sequence(num: int) -> tuple[list[Any], list[Any]]:
    """Lists of x of shape (1, 2) and of y = 2 x1 + 3 x2 + N(0, 0.1) of shape (1, 1)."""
    x = np.random.uniform(size=(num, 1, 2))
    y = x @ np.array([[2.0], [3.0]]) + np.random.normal(scale=0.1, size=(num, 1, 1))
    return list(x), list(y)
