"""Philox4x32-10: random bits as a pure function of a key and a counter.

Salmon, Moraes, Dror and Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3"
(https://doi.org/10.1145/2063384.2063405).  Ten rounds turn a counter of four 32-bit words and a key
of two into four random words; neighbouring counters give independent ones, so element i of a draw
needs nothing of the elements before it and every backend can compute it by itself.

The stream, exactly, so that all backends give the same bits.  With key and counter i64, read as
unsigned 64-bit numbers:

    key words      (key mod 2^32, key div 2^32)
    block b        philox4x32_10(counter words = (n mod 2^32, n div 2^32, 0, 0)),
                   n = (counter + b) mod 2^64
    word i         word i mod 4 of block i div 4

This file is the plain version, for reference; kernels do the same in fewer passes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[Any]  # uint32

ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)  # the golden ratio and sqrt(3) - 1, as in the paper
MASK = 0xFFFFFFFF


def philox(counters: Words, key: tuple[int, int]) -> Words:
    """Four random words for each row of `counters`: u32 [blocks, 4] -> u32 [blocks, 4]."""
    c0, c1, c2, c3 = counters.astype(np.uint64).T
    k0, k1 = key
    for _ in range(ROUNDS):
        low, high = MULTIPLIERS[0] * c0, MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (high >> 32) ^ c1 ^ k0, high & MASK, (low >> 32) ^ c3 ^ k1, low & MASK
        k0, k1 = (k0 + KEY_STEPS[0]) & MASK, (k1 + KEY_STEPS[1]) & MASK
    return np.stack([c0, c1, c2, c3], axis=1).astype(np.uint32)


def stream(key: int, counter: int, count: int) -> Words:
    """The first `count` words of the stream of `key` that starts at block `counter`."""
    blocks = -(-count // 4)
    n = np.uint64(counter % 2**64) + np.arange(blocks, dtype=np.uint64)  # wraps at 2^64
    rest = np.zeros(blocks, np.uint64)
    counters = np.stack([n & MASK, n >> 32, rest, rest], axis=1)
    return philox(counters, (key & MASK, key >> 32 & MASK)).reshape(-1)[:count]
