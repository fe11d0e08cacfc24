"""What `mlp.py` computes, in NumPy alone: the price that no system on NumPy can go below.

python integration/small/by_hand.py [weights.npz]
"""

from __future__ import annotations

import sys

import numpy as np

TYPE_CHECKING = False  # numpy.typing is not free
if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDTHS = ("w1", (784, 128)), ("b1", (128,)), ("w2", (128, 10)), ("b2", (10,))


def numbers(*shape: int) -> NDArray[np.float32]:
    """Stand for weights that were trained."""
    x = np.sin(np.arange(np.prod(shape), dtype=np.float32))
    x *= np.float32(0.1)
    return x.reshape(shape)


def main(files: list[str]) -> NDArray[np.float32]:
    """Ten probabilities."""
    weights = np.load(files[0]) if files else {name: numbers(*shape) for name, shape in WIDTHS}
    x: NDArray[np.float32] = (
        np.maximum(numbers(1, 784) @ weights["w1"] + weights["b1"], 0) @ weights["w2"]
    )
    x += weights["b2"]
    x -= x.max(axis=-1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=-1, keepdims=True)
    return x


if __name__ == "__main__":
    print(*main(sys.argv[1:])[0])
