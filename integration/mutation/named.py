"""Programs of a named dimension as a batch: index arithmetic of sizes is in them alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from byparts_conformance.programs.named import named_campaign
from mutation.trying import Tried


@dataclass
class NamedBatch:
    """Programs of a named dimension, each compiled once and run at six sizes.

    Attributes:
        backends: that compile them.
        count: how many.
        seed: of the first.
        right: what they give without a mutant; by whether code is made again.
    """

    backends: Sequence[str]
    count: int
    seed: int
    right: dict[bool, Tried] = field(default_factory=dict)

    def tried(self) -> Tried:
        """Build and run them, here and now; as `made` counts how many are one for all sizes."""
        report = named_campaign(self.backends, self.count, self.seed, most_failures=1)
        if report.failures:
            return Tried(f"program of names: {report.failures[0].partition(chr(10))[0]}")
        return Tried("", "", f"{report.shared} {sorted(report.reasons.items())}")


def named_batches(backends: Sequence[str], count: int, size: int, seed: int) -> list[NamedBatch]:
    """So many batches of so many programs, those that are right without a mutant."""
    made = [NamedBatch(backends, size, seed + 100 * number) for number in range(count)]
    return [batch for batch in made if not batch.tried().wrong]
