"""Philox4x32-10 in few passes: three of NumPy's calls for each of the ten rounds.

A 32-bit word times a 32-bit constant is a 64-bit number whose halves are both needed; seen as pairs
of 32-bit words in memory, the halves cost nothing.  (Little-endian, as every machine we know of.)
Two words of a counter are multiplied, two are not: `even` and `odd` hold those of all blocks.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from byparts_kernels_numpy.workspace import Shared
from byparts_opset.dtypes import Array
from byparts_opset.philox import KEY_STEPS, MASK, MULTIPLIERS, ROUNDS

Fill = Callable[[int, int], None]  # (key, counter of the first block)

BLOCKS = 8192  # at a time: 0.5 MB of scratch; 6 ns a word, against 20 for chunks of 512
_STEPS = np.array([[(r * s) & MASK for s in KEY_STEPS] for r in range(ROUNDS)], np.uint32)[
    ..., None
]
_MULTIPLIERS = np.array(MULTIPLIERS, np.uint64)[:, None]


def filler(words: Array, each: Array, shared: Shared) -> Fill:
    """The run that fills u32 `words`, four for each block, with a key's stream from a counter on.

    `each` has the numbers of the blocks: 0, 1, 2, ... in u64.
    """
    count = words.size // 4
    even, n = (shared.take("even", (2, count), np.uint32), shared.take("n", (count,), np.uint64))
    products = shared.take("products", (2, 2, count), np.uint64)
    halves = products.view(np.uint32).reshape(2, 2, count, 2)[:, ::-1]  # [round % 2, word, block]
    low, high = halves[..., 0], halves[..., 1]
    keys, key_words = np.empty_like(_STEPS), np.empty((2, 1), np.uint32)
    start = np.empty((), np.uint64)
    result = words.reshape(count, 2, 2)

    def fill(key: int, counter: int) -> None:
        key_words[0], key_words[1] = key & MASK, key >> 32 & MASK
        np.add(_STEPS, key_words, keys)
        start[...] = counter % 2**64
        np.add(each, start, n)
        _set_counters(n, even, low[1])
        for r in range(ROUNDS):
            np.copyto(products[r & 1], even)
            np.multiply(products[r & 1], _MULTIPLIERS, products[r & 1])
            np.bitwise_xor(high[r & 1], low[1 - (r & 1)], even)
            np.bitwise_xor(even, keys[r], even)
        result[:, :, 0] = even.T
        result[:, :, 1] = low[(ROUNDS - 1) & 1].T

    return fill


def in_chunks(words_each: int, count: int, shared: Shared) -> list[tuple[slice, int, Array, Fill]]:
    """(elements, first block, words, how to fill them): `count` elements, chunk by chunk.

    The chunks share their memory.
    """
    size = 4 * BLOCKS // words_each
    bounds = [(i, min(i + size, count)) for i in range(0, count, size)]
    each = shared.counting(-(-min(size, count) * words_each // 4))
    by_length: dict[int, tuple[Array, Fill]] = {}
    result = []
    for i, j in bounds:
        used = (j - i) * words_each
        if used not in by_length:
            blocks = -(-used // 4)
            words = shared.take("words", (4 * blocks,), np.uint32)
            by_length[used] = (words[:used], filler(words, each[:blocks], shared))
        result.append((slice(i, j), i * words_each // 4, *by_length[used]))
    return result


def _set_counters(n: Array, even: Array, odd: Array) -> None:
    """Words 0 and 1 of the counters are the halves of n; 2 and 3 are 0."""
    halves = n.view(np.uint32).reshape(-1, 2)
    even[0], even[1], odd[0], odd[1] = halves[:, 0], 0, halves[:, 1], 0
