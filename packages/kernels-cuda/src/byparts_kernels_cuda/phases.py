"""Elements of a filter that reach a row of a transposed convolution, by the row's phase.

Row h of the result is the sum over elements u of the filter of the row (h + lower - u dilation) /
stride of what is given, where that number is whole.  Whether it is whole depends on h modulo the
stride: the phase of the row.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd


@dataclass(frozen=True)
class Phase:
    """The rows (or columns) row, row + stride, ... of a result.

    Element t = 0, 1, ... is `tap + t * tap_step` of the filter; the k-th row takes for it the row
    `first - t * back + k` of what is given.

    Attributes:
        row, count: the first row, and how many there are.
        taps: how many elements reach them.
    """

    row: int
    count: int
    taps: int
    tap: int
    tap_step: int
    first: int
    back: int


def phases(extent: int, kernel: int, stride: int, dilation: int, lower: int) -> list[Phase]:
    """All phases that have rows.

    Args:
        extent: of the result.
        kernel: of the filter.
        stride: of the convolution that is transposed.
        dilation: likewise.
        lower: how many rows before the result are cut off.
    """
    phases = []
    common = gcd(stride, dilation)
    for row in range(min(stride, extent)):
        taps = [u for u in range(kernel) if (row + lower - u * dilation) % stride == 0]
        tap = taps[0] if taps else 0
        first = (row + lower - tap * dilation) // stride
        steps = (stride // common, first, dilation // common)
        phases.append(Phase(row, -(-(extent - row) // stride), len(taps), tap, *steps))
    return phases
