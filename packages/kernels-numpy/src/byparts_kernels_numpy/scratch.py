"""Scratch memory, shared by all steps of a program: they run one after the other.

A rule asks for it when it is bound, and its run may leave anything in it, for nobody: the next step
writes over it.  A thousand convolutions take no more than the one that needs most (twice that, as
blocks come in powers of two).  What must stay between runs is an array of the rule's own, but for
frames of zeros, into whose middle alone is written: steps whose frames are alike share one.

Outside a program (`Lent` is not entered), scratch is memory like any other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from math import prod
from threading import local
from typing import Any, Literal, Optional

import numpy as np

from byparts_graph_ir import Backend, Node
from byparts_graph_ir.backend import Run
from byparts_opset.dtypes import Array

Order = Literal["C", "F"]


class NumpyBackend(Backend):
    """Its steps share scratch memory."""

    def bind(self, node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
        """As `Backend.bind`."""
        if _now.lent is not None:
            _now.lent.again()
        return super().bind(node, inputs, outputs)


def empty(shape: Sequence[int], dtype: Any, order: Order = "C") -> Array:
    """Scratch, with anything in it."""
    lent = _now.lent
    if lent is None:
        return np.empty(tuple(shape), dtype, order)
    return lent.take(tuple(shape), np.dtype(dtype), order)


def framed(size: int, dtype: Any, frame: Hashable) -> Array:
    """Zeros in a row; who names the same frame writes to the same elements, so others stay zero."""
    lent = _now.lent
    if lent is None:
        return np.zeros(size, dtype)
    return lent.frame((size, np.dtype(dtype), frame))


class Lent:
    """What a program lends to its steps; a context while they are bound."""

    __slots__ = ("_before", "_frames", "_free", "_taken")

    def __init__(self) -> None:
        self._free: list[Array] = []  # by size
        self._taken: list[Array] = []
        self._frames: dict[tuple[int, np.dtype[Any], Hashable], Array] = {}
        self._before: Optional[Lent] = None

    def __enter__(self) -> Lent:
        self._before, _now.lent = _now.lent, self
        return self

    def __exit__(self, *raised: object) -> None:
        _now.lent, self._before = self._before, None

    def take(self, shape: tuple[int, ...], dtype: np.dtype[Any], order: Order) -> Array:
        """In the smallest block that this step has not taken and that is large enough."""
        size = prod(shape) * dtype.itemsize
        at = bisect_left(self._free, size, key=len)
        fits = at < len(self._free)
        block = self._free.pop(at) if fits else np.empty(1 << (size - 1).bit_length(), np.uint8)
        self._taken.append(block)
        found: Array = np.ndarray(shape, dtype, block.data, order=order)
        return found

    def frame(self, key: tuple[int, np.dtype[Any], Hashable]) -> Array:
        """The one of this kind."""
        if key not in self._frames:
            self._frames[key] = np.zeros(*key[:2])
        return self._frames[key]

    def again(self) -> None:
        """For the next step: what the others have taken may be taken again."""
        if self._taken:
            self._free = sorted([*self._free, *self._taken], key=len)
            self._taken.clear()


class _Now(local):
    lent: Optional[Lent] = None


_now = _Now()
