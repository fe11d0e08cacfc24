"""Philox4x32-10 in i64 tensors of any device; `byparts_opset.philox` says which bits.

A 32-bit word is held in an i64, so a product of two keeps all of its bits (its sign means nothing).
The state is two arrays of two rows, (c0, c2) and (c3, c1): a round multiplies the first, whose high
halves meet the second as it stands, and whose low halves become the next second with rows changed.
Key and counter are tensors that are read when the step runs, by the device.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch

from byparts_graph_ir.backend import Run
from byparts_kernels_torch.table import Tensor
from byparts_kernels_torch.wide import in_turn
from byparts_opset.philox import KEY_STEPS, MASK, MULTIPLIERS, ROUNDS

# Blocks of four words at a time: pieces that fit the cache on the CPU, few launches on a GPU.
PIECE = {"cpu": 1 << 14}
PIECE_ELSEWHERE = 1 << 18


def drawing(
    key: Tensor, counter: Tensor, count: int, start: Callable[[int, int, Tensor], list[Run]]
) -> Run:
    """A step that draws `count` words of the stream that begins at block `counter`.

    `start(lower, upper, words)` gives the steps for the words [lower, upper) of the draw, which are
    at the front of `words`: i64, free to write to.
    """
    blocks = -(-count // 4)
    pieces = -(-blocks // PIECE.get(key.device.type, PIECE_ELSEWHERE))
    size = -(-blocks // max(1, pieces))
    draw = _Blocks(key, counter, size)
    steps: list[Run] = draw.key_steps()
    for first in range(0, blocks, max(1, size)):
        upper = min(4 * (first + size), count)
        steps += [*draw.steps(first), *start(4 * first, upper, draw.words.view(-1))]
    return in_turn(steps)


class _Blocks:
    """Scratch for so many blocks, and the steps that fill `words`, [blocks, 4]."""

    def __init__(self, key: Tensor, counter: Tensor, blocks: int) -> None:
        self.key, self.counter = key.view(()), counter.view(())
        self.new = partial(torch.empty, dtype=torch.int64, device=key.device)
        self.words = self.new(blocks, 4)
        self.each = torch.arange(blocks, device=key.device)
        self.n, self.even, self.odd, self.product = (
            *(self.new(blocks), self.new(2, blocks), self.new(2, blocks), self.new(2, blocks)),
        )
        self.keys = self.new(ROUNDS, 2, 1)
        self.mask, self.half = self.number(MASK), self.number(32)

    def number(self, value: int) -> Tensor:
        """A 0-d i64."""
        return torch.tensor(value, dtype=torch.int64, device=self.key.device)

    def key_steps(self) -> list[Run]:
        """The key of each round, of the words that are changed in it: k1, k0, k1, k0, ..."""
        words, turned = self.new(2, 1), self.new(2, 1)
        raised = [[[r * s & MASK] for s in KEY_STEPS[:: 1 if r % 2 else -1]] for r in range(ROUNDS)]
        steps = torch.tensor(raised, dtype=torch.int64, device=self.key.device)
        return [
            partial(words[0].copy_, self.key),
            partial(torch.bitwise_right_shift, self.key, self.half, out=words[1, 0]),
            partial(turned[0].copy_, words[1]),
            partial(turned[1].copy_, words[0]),
            partial(torch.add, steps[0::2], turned, out=self.keys[0::2]),
            partial(torch.add, steps[1::2], words, out=self.keys[1::2]),
            partial(torch.bitwise_and, self.keys, self.mask, out=self.keys),
        ]

    def steps(self, first: int) -> list[Run]:
        """Fill `words` with the blocks that stand `first` behind the counter."""
        start = self.new(())
        ways = [torch.tensor(m, dtype=torch.int64, device=self.key.device) for m in self._turns()]
        even, odd, words = self.even, self.odd, self.words
        return [
            partial(torch.add, self.counter, self.number(first), out=start),
            partial(torch.add, self.each, start, out=self.n),
            partial(torch.bitwise_and, self.n, self.mask, out=even[0]),
            partial(torch.bitwise_right_shift, self.n, self.half, out=odd[1]),
            partial(torch.bitwise_and, odd[1], self.mask, out=odd[1]),
            even[1].zero_,
            odd[0].zero_,
            *(step for r in range(ROUNDS) for step in self._round(ways[r % 2], self.keys[r])),
            partial(words[:, 0::2].copy_, even.t()),
            partial(words[:, 1].copy_, odd[1]),
            partial(words[:, 3].copy_, odd[0]),
        ]

    def _turns(self) -> tuple[list[list[int]], list[list[int]]]:
        return [[m] for m in MULTIPLIERS], [[m] for m in MULTIPLIERS[::-1]]

    def _round(self, multipliers: Tensor, key: Tensor) -> list[Run]:
        even, odd, product = self.even, self.odd, self.product
        return [
            partial(torch.mul, even, multipliers, out=product),
            partial(torch.bitwise_right_shift, product, self.half, out=even),
            partial(torch.bitwise_and, even, self.mask, out=even),
            partial(torch.bitwise_xor, even, odd, out=even),
            partial(torch.bitwise_xor, even, key, out=even),
            partial(torch.bitwise_and, product[0], self.mask, out=odd[1]),
            partial(torch.bitwise_and, product[1], self.mask, out=odd[0]),
        ]
