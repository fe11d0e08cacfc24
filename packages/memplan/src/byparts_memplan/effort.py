"""Effort that a search may still spend: counted, so that answers repeat, or limited by a clock."""

from __future__ import annotations

from time import monotonic


class Effort:
    """Work that is left; `spend` says when there is none.

    One unit is one buffer looked at, some five million a second.  With `seconds` the clock decides
    instead, and `work` is not limited.  What a part of an effort spends, `whole` has spent too.
    """

    def __init__(
        self, work: float, seconds: float | None = None, whole: Effort | None = None
    ) -> None:
        self.left = work if seconds is None else float("inf")
        self.deadline = None if seconds is None else monotonic() + seconds
        self.whole = whole
        self.spent = 0.0

    def spend(self, work: float) -> bool:
        """Subtract work from what is left; `False` when nothing is left."""
        self.left -= work
        self.spent += work
        if self.whole is not None:
            self.whole.spend(work)
        if self.deadline is not None:
            return monotonic() < self.deadline
        return self.left > 0

    def part(self, fraction: float, most: float = float("inf")) -> Effort:
        """An effort of a fraction of what is left, at most of `most` work; this is its `whole`."""
        if self.deadline is not None:
            return Effort(0, max(0.0, fraction * (self.deadline - monotonic())), self)
        return Effort(min(fraction * self.left, most), None, self)

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return not self.spend(0)
