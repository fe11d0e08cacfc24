"""More elements at both ends of axes: one value, or what the tensor itself has there.

`constant` repeats `value`; `edge` the last element; `reflect` mirrors at the last element,
`symmetric` behind it.  The last three are slices, reversed and joined, one axis after another,
and so are their gradients.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import (
    Dimension,
    Node,
    Op,
    Sample,
    ShapeError,
    TensorType,
    Types,
    Value,
    dimension,
)
from byparts_opset.constant import Number, exact
from byparts_opset.dtypes import Array
from byparts_opset.slicing import along

Paddings = tuple[tuple[int, int], ...]
_MODES = ("constant", "edge", "reflect", "symmetric")


class Pad(Op):
    """y = x with `paddings[a] = (before, after)` more elements along axis a."""

    paddings: Paddings
    value: Number = 0
    mode: str = "constant"

    pattern = "injective"

    def infer(self, x: TensorType) -> Types:
        self._check(x)
        shape = tuple(
            _longer(d, lo + hi) for d, (lo, hi) in zip(x.shape or (), self.paddings, strict=True)
        )
        return (TensorType(x.dtype, shape),)

    def infer_unranked(self, x: TensorType) -> Types:
        return self.infer(TensorType(x.dtype, (None,) * len(self.paddings)))

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        if self.mode == "constant":
            y = np.full(
                [d + lo + hi for d, (lo, hi) in zip(x.shape, self.paddings, strict=True)],
                self.value,
                x.dtype,
            )
            y[
                tuple(slice(lo, lo + d) for d, (lo, _) in zip(x.shape, self.paddings, strict=True))
            ] = x
            return (y,)
        self._check(TensorType("f32", x.shape))
        mode: Any = self.mode
        return (np.array(np.pad(x, self.paddings, mode), order="C"),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        if self.mode == "constant":
            starts, behind = zip(*self.paddings, strict=True) if self.paddings else ((), ())
            return (ops.Slice(starts, tuple(-hi or None for hi in behind))(dy),)
        for axis in reversed(range(len(self.paddings))):
            dy = self._axis_gradient(axis, dy)
        return (dy,)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        return node.inputs if all(p == (0, 0) for p in self.paddings) else None

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        if self.mode == "constant":
            return None
        for axis, (lo, hi) in enumerate(self.paddings):
            parts = [self._part(axis, lo, -1, x), x, self._part(axis, hi, 1, x)]
            some = [part for part in parts if part is not None]
            x = ops.Concat(axis)(*some) if len(some) > 1 else x
        return (x,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for paddings, value, mode, shape in (
            *((((1, 2),), 0, "constant", (3,)), (((0, 1), (2, 0)), -2, "constant", (2, 3))),
            *((((1, 2), (0, 1)), 0, "edge", (3, 1)), (((1, 2), (2, 0)), 0, "reflect", (3, 4))),
            *((((2, 1), (0, 3)), 0, "symmetric", (2, 3)), ((), 0, "constant", ())),
            (((1, 0), (0, 0)), 1, "constant", (0, 2)),
        ):
            yield Sample(cls(paddings, value, mode), (TensorType("f32", shape),))

    def _check(self, x: TensorType) -> None:
        shape = x.shape or ()
        if self.mode not in _MODES:
            raise ShapeError(f"pad: unknown mode {self.mode!r}; known: {', '.join(_MODES)}")
        if len(self.paddings) != len(shape) or any(p < 0 for pair in self.paddings for p in pair):
            raise ShapeError(
                f"pad: takes a pair of numbers for each axis, got {self.paddings} for {x}"
            )
        exact(self.value, x.dtype)
        for d, pair in zip(shape, self.paddings, strict=True):
            most = max(pair)
            least = {"edge": 1, "reflect": most + 1, "symmetric": most}.get(self.mode, 0)
            if isinstance(d, int) and most and d < least:
                raise ShapeError(
                    f"pad: {pair} in mode {self.mode!r} needs {least} elements, x is {x}"
                )

    def _source(self, axis: int, count: int, side: int) -> ops.Slice:
        """The elements that the padding before (-1) or after (1) the axis repeats."""
        skip = 1 if self.mode == "reflect" else 0
        reach = (1 if self.mode == "edge" else count) + skip
        return along(axis, skip, reach) if side < 0 else along(axis, -reach, -skip or None)

    def _part(self, axis: int, count: int, side: int, x: Value) -> Value | None:
        if count == 0:
            return None
        source = self._source(axis, count, side)(x)
        if self.mode != "edge":
            return ops.Reverse((axis,))(source)
        keep = [-1] * len(self.paddings)
        keep[axis] = count
        return ops.BroadcastTo(tuple(keep))(source)

    def _axis_gradient(self, axis: int, dy: Value) -> Value:
        lo, hi = self.paddings[axis]
        dx = along(axis, lo, -hi or None)(dy)
        whole = dx
        for count, side, part in ((lo, -1, along(axis, 0, lo)), (hi, 1, along(axis, -hi, None))):
            if count:
                mirror = ops.Sum((axis,), True) if self.mode == "edge" else ops.Reverse((axis,))
                source = self._source(axis, count, side)
                put = ops.SliceGradient(source.starts, source.stops, source.steps)
                dx = dx + put(mirror(part(dy)), whole)
        return dx


def pad(
    x: Value, paddings: Iterable[Iterable[int]], value: Number = 0, mode: str = "constant"
) -> Value:
    """Add `(before, after)` elements along each axis of x."""
    pairs: Any = tuple(tuple(pair) for pair in paddings)
    return Pad(pairs, value, mode)(x)


def _longer(d: Dimension, more: int) -> Dimension:
    return d + more if isinstance(d, int) else dimension("d+more", {"d": d, "more": more})
