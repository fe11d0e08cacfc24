"""Handwritten digits, 8 by 8: the rows of scikit-learn's `load_digits`, without scikit-learn."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from byparts_nn.data import digits


def load_digits() -> Any:
    """`data`, f64 [1797, 64] with numbers 0 to 16, and `target`, i64 [1797]."""
    pictures, labels = digits()
    return SimpleNamespace(data=pictures.reshape(-1, 64).astype(np.float64) * 16, target=labels)


def train_test_split(*arrays: Any, test_size: float = 0.25) -> list[Any]:
    """Each array in two: rows to train with, and a share to test with, in random order."""
    order = np.random.permutation(len(arrays[0]))
    tested = int(np.ceil(len(order) * test_size))
    return [a[part] for a in arrays for part in (order[tested:], order[:tested])]


def digit_dataset() -> Any:
    """Rows to train and to test with, numbers 0 to 1, then their labels."""
    data = load_digits()
    return train_test_split(data.data / 16.0, data.target)
