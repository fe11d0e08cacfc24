"""Results worth keeping, where each is measured by two numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def undominated(items: Iterable[T], measure: Callable[[T], tuple[float, float]]) -> list[T]:
    """The items than which no other is at least as small in both numbers of `measure`.

    Sorted by the first number, so the second one falls.  Of equal items the first is kept.
    """
    kept: list[T] = []
    for item in sorted(items, key=measure):
        if not kept or measure(item)[1] < measure(kept[-1])[1]:
            kept.append(item)
    return kept


def stairs(points: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    """The points (bytes, cost) with fewer bytes than all that cost no more, by cost."""
    return undominated(points, lambda point: (point[1], point[0]))
