"""Random problems, and slow obvious answers about them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import gcd

from hypothesis import strategies as st

from byparts_memplan import Buffer


def problems(
    most: int = 9, pins: bool = True, spaces: Sequence[str] = ("",)
) -> st.SearchStrategy[list[Buffer]]:
    """Buffers with gaps, alignments, pins and spaces, in any order."""
    numbers = st.tuples(
        st.integers(0, 40),
        st.integers(0, 12),
        st.integers(0, 9),
        st.sampled_from([1, 1, 4, 6, 16]),
        st.none() | st.integers(0, 5) if pins else st.none(),
        st.integers(0, 2**9 - 1),
        st.sampled_from(spaces),
    )
    return st.lists(numbers.map(lambda row: _buffer(*row)), max_size=most)


def _buffer(
    size_bytes: int, born: int, life: int, alignment: int, pin: int | None, mask: int, space: str
) -> Buffer:
    """Gaps begin and end, in turn, at the steps of the mask."""
    steps = [born + k for k in range(life + 1) if mask >> k & 1]
    gaps = tuple(zip(steps[::2], steps[1::2], strict=False))
    pinned = None if pin is None else pin * alignment
    return Buffer(size_bytes, born, born + life, alignment, pinned, gaps, space)


def alive(b: Buffer, step: int) -> bool:
    """Straight from the definition."""
    gone = any(lower <= step < upper for lower, upper in b.gaps)
    return b.size_bytes > 0 and b.born <= step < b.dies and not gone


def obvious_bound(buffers: Sequence[Buffer]) -> int:
    """`lower_bound`, step by step and alignment by alignment."""
    return sum(_of_space([b for b in buffers if b.space == space]) for space in _spaces(buffers))


def _of_space(buffers: Sequence[Buffer]) -> int:
    best = max((b.pinned or 0) + b.size_bytes for b in buffers)
    for step in range(max(b.dies for b in buffers)):
        for grain in {gcd(*(b.alignment for b in buffers)), *(b.alignment for b in buffers)}:
            here = [b for b in buffers if alive(b, step) and b.alignment % grain == 0]
            pads = [-b.size_bytes % grain for b in here]
            best = max(best, sum(b.size_bytes for b in here) + sum(pads) - max(pads, default=0))
    return best


def _spaces(buffers: Sequence[Buffer]) -> set[str]:
    return {b.space for b in buffers}


def conflicts(buffers: Sequence[Buffer], offsets: Sequence[int]) -> list[tuple[int, int, int]]:
    """(step, buffer, buffer) for all that share a byte at a step."""
    return [
        (step, i, j)
        for (i, a), (j, b) in combinations(enumerate(buffers), 2)
        for step in range(max(a.born, b.born), min(a.dies, b.dies))
        if a.space == b.space
        and (alive(a, step) and alive(b, step))
        and offsets[i] < offsets[j] + b.size_bytes
        and offsets[j] < offsets[i] + a.size_bytes
    ]
