"""`Random`: a stream of random numbers whose position is a cell.

The numbers are pure functions of the seed and the position (Philox, as in programs), so a function
draws the same eagerly and compiled, and goes on exactly where a saved position stood.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_eager.array import asarray
from byparts_eager.cell import Cell
from byparts_eager.dtype import our_name
from byparts_graph_ir import ArgumentError


class Random:
    """A stream of random numbers; each draw moves it on.

    Args:
        seed: which stream, a whole number of 64 bits.

    Raises:
        ArgumentError: `seed` is no whole number.
    """

    def __init__(self, seed: int = 0) -> None:
        if isinstance(seed, bool) or not hasattr(seed, "__index__"):
            raise ArgumentError(f"Random: the seed is {seed!r:.60}; give a whole number")
        self.seed = Cell(np.array(seed, np.int64), name="seed")
        self.position = Cell(np.zeros((), np.int64), name="position")

    def cells(self) -> dict[str, Cell]:
        """The seed and the position, to be saved and restored."""
        return {"seed": self.seed, "position": self.position}

    def uniform(
        self, shape: Sequence[int] = (), low: float = 0.0, high: float = 1.0, dtype: object = "f32"
    ) -> Any:
        """Numbers of [low, high)."""
        key, position = self._stream()
        return self._drawn(
            ops.random_uniform(key, position, tuple(shape), low, high, our_name(dtype))
        )

    def normal(
        self,
        shape: Sequence[int] = (),
        mean: float = 0.0,
        deviation: float = 1.0,
        dtype: object = "f32",
    ) -> Any:
        """Normally distributed numbers."""
        key, position = self._stream()
        return self._drawn(
            ops.random_normal(key, position, tuple(shape), mean, deviation, our_name(dtype))
        )

    def bernoulli(self, p: float = 0.5, shape: Sequence[int] = ()) -> Any:
        """Bools that are true with probability p."""
        return self._drawn(ops.bernoulli(*self._stream(), tuple(shape), p))

    def integers(
        self, low: int, high: int, shape: Sequence[int] = (), dtype: object = "i64"
    ) -> Any:
        """Whole numbers of [low, high)."""
        key, position = self._stream()
        return self._drawn(ops.random_int(key, position, tuple(shape), low, high, our_name(dtype)))

    def permutation(self, n: int) -> Any:
        """The numbers 0 to n - 1 in random order."""
        return ops.top_k(self.uniform((n,), dtype="f64"), n)[1]

    def dropout(self, x: Any, rate: float) -> Any:
        """x with elements set to 0 with probability `rate`, and the others divided by 1 - rate."""
        y = ops.dropout(asarray(x), *self._stream(), rate)
        return self._drawn(y)

    def _stream(self) -> tuple[Any, Any]:
        return self.seed.value, self.position.value

    def _drawn(self, y: Any) -> Any:
        """Move the stream past what was drawn."""
        self.position.assign(ops.next_counter(self.position.value, y))
        return y
