"""Stacks of tensors."""

from __future__ import annotations

from typing import Any, ClassVar

from byparts_frontend_pytensor.network import functions
from byparts_frontend_pytensor.network.operation import *  # noqa: F403
from byparts_frontend_pytensor.ops.formula import Formula


class HStack(Formula):
    """Columns side by side: (n, a) and (n, b) give (n, a + b); vectors give a longer one."""

    axis: ClassVar[int] = -1
    takes = "tensors that differ in their last size alone"

    def fits(self, *shapes: Any) -> bool:
        return len({s[:-1] for s in shapes}) == 1

    def compute(self, *values: Any) -> Any:
        return functions.concat([self._rows(x) for x in values], self.axis, self.xp)

    def gradients(self, dy: Any, y: Any, *values: Any) -> Any:
        grads, start = [], 0
        for x in values:
            stop = start + self._rows(x).shape[self.axis]
            part = dy[start:stop] if self.axis == 0 else dy[..., start:stop]
            grads.append(self.xp.reshape(part, tuple(x.shape)) * 1)  # each is an array of its own
            start = stop
        return grads

    def _rows(self, x: Any) -> Any:
        return x


class VStack(HStack):
    """Rows one above the other: (a, n) and (b, n) give (a + b, n); vectors are rows."""

    axis = 0
    takes = "tensors that differ in their first size alone"

    def fits(self, *shapes: Any) -> bool:
        return len({s[1:] if len(s) > 1 else s for s in shapes}) == 1

    def _rows(self, x: Any) -> Any:
        return self.xp.reshape(x, (1, -1)) if len(x.shape) == 1 else x
