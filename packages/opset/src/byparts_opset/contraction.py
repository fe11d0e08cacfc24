"""Order in which the operands of an einsum are multiplied, two at a time.

Every order gives the same sums, but not at the same cost: joined from the left, the two matrices
that shrink the sides of an image become their outer product before they meet the image.  Up to six
operands have the cheapest order of all, by dynamic programming over their subsets, O(3^n); more are
joined greedily, O(n^3), as by opt_einsum (Smith and Gray 2018, https://doi.org/10.21105/joss.00753).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import prod

_EXACT = 6  # operands, at most
_UNKNOWN = 64  # counts for a size that is not known
Joins = tuple[tuple[int, int], ...]  # of two subsets, as bits


class Contraction:
    """The operands of an einsum, and what it costs to join subsets of them.

    Args:
        terms: the letters of each operand.
        out: those of the result.
        sizes: of each letter; what is no number counts as 64.
    """

    def __init__(self, terms: tuple[str, ...], out: str, sizes: Mapping[str, object]) -> None:
        self._terms, self._out = [*map(set, terms)], set(out)
        self._sizes = {i: d if isinstance(d, int) else _UNKNOWN for i, d in sizes.items()}

    def letters(self, subset: int) -> set[str]:
        """Letters of a subset that are left when all that only it has is summed."""
        inside, outside = set[str](), set(self._out)
        for k, term in enumerate(self._terms):
            (inside if subset >> k & 1 else outside).update(term)
        return inside & outside

    def size(self, subset: int) -> int:
        """Number of elements of a subset's product."""
        return prod(self._sizes[i] for i in self.letters(subset))

    def products(self, a: int, b: int) -> int:
        """Number of multiplications that join two subsets."""
        return prod(self._sizes[i] for i in self.letters(a) | self.letters(b))

    def joins(self) -> Joins:
        """Subsets that are joined, one after the other."""
        return self._exact() if len(self._terms) <= _EXACT else self._greedy()

    def order(self) -> tuple[tuple[int, int], ...]:
        """Positions of each two that are joined; the result goes to the end, as in NumPy's path."""
        present = [1 << k for k in range(len(self._terms))]
        positions = []
        for pair in self.joins():
            i, j = sorted(map(present.index, pair))
            positions.append((i, j))
            present = [*present[:i], *present[i + 1 : j], *present[j + 1 :], pair[0] | pair[1]]
        return tuple(positions)

    def _exact(self) -> Joins:
        best: dict[int, tuple[int, Joins]] = {}
        for subset in range(1, 1 << len(self._terms)):
            found: list[tuple[int, Joins]] = [] if subset & (subset - 1) else [(0, ())]
            part = (subset - 1) & subset
            while part > (rest := subset ^ part):  # each two once
                cost = self.products(part, rest) + self.size(subset)  # which is written, too
                cost += best[part][0] + best[rest][0]
                found.append((cost, (*best[part][1], *best[rest][1], (part, rest))))
                part = (part - 1) & subset
            best[subset] = min(found)
        return best[(1 << len(self._terms)) - 1][1]

    def _greedy(self) -> Joins:
        present = [1 << k for k in range(len(self._terms))]
        joins = []
        while len(present) > 1:
            growth = {
                (self.size(a | b) - self.size(a) - self.size(b), a, b)
                for a, b in combinations(present, 2)
            }
            _, a, b = min(growth)
            joins.append((a, b))
            present = [*(s for s in present if s not in (a, b)), a | b]
        return tuple(joins)
