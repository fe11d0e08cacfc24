"""How much may still be done: counted work, so that answers repeat, or a clock if one is asked."""

from __future__ import annotations

from time import monotonic


class Effort:
    """Work that is left; `spend` says when there is none.

    One unit is one buffer looked at, some five million a second.  With `seconds` the clock decides
    instead, and `work` is not limited.
    """

    def __init__(self, work: float, seconds: float | None = None) -> None:
        self.left = work if seconds is None else float("inf")
        self.deadline = None if seconds is None else monotonic() + seconds

    def spend(self, work: float) -> bool:
        """Take it off; `False` when nothing is left."""
        self.left -= work
        if self.deadline is not None:
            return monotonic() < self.deadline
        return self.left > 0

    def part(self, fraction: float) -> Effort:
        """Some of what is left, for one question; give it back to `settle`."""
        if self.deadline is not None:
            return Effort(0, max(0.0, fraction * (self.deadline - monotonic())))
        return Effort(fraction * self.left)

    def settle(self, part: Effort, fraction: float) -> None:
        """Take off what a part has used."""
        if self.deadline is None:
            self.left -= fraction * self.left - part.left

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return not self.spend(0)
