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

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.table import Tensor, Tensors
from byparts_kernels_torch.wide import in_turn
from byparts_kernels_torch.workspace import counted, scratch
from byparts_opset.philox import KEY_STEPS, MASK, MULTIPLIERS, ROUNDS

# Blocks of four words at a time: pieces that fit the cache on the CPU, few launches on a GPU.
PIECE = {"cpu": 1 << 14}
PIECE_ELSEWHERE = 1 << 18


def drawing(
    inputs: Tensors,
    count: int,
    start: Callable[[int, int, Tensor], list[Run]],
    workspace: Workspace,
) -> Run:
    """A step that draws `count` words of a stream.

    `inputs` are the key of the stream and the counter, its first block.
    `start(lower, upper, words)` gives the steps for the words [lower, upper) of the draw, which are
    at the front of `words`: i64, free to write to.
    """
    (key, counter), blocks = inputs, -(-count // 4)
    pieces = -(-blocks // PIECE.get(key.device.type, PIECE_ELSEWHERE))
    size = -(-blocks // max(1, pieces))
    draw = _Blocks(key.view(()), size, workspace)
    fill, steps = in_turn(draw.steps()), draw.key_steps()
    for first in range(0, blocks, max(1, size)):
        upper = min(4 * (first + size), count)
        begin = partial(torch.add, counter.view(()), draw.number(first), out=draw.start)
        steps += [begin, fill, *start(4 * first, upper, draw.words.view(-1))]
    return in_turn(steps)


class _Blocks:
    """Scratch for so many blocks, and the steps that fill `words`, [blocks, 4], from `start` on."""

    def __init__(self, key: Tensor, blocks: int, workspace: Workspace) -> None:
        self.key, self.workspace = key, workspace
        self.words, self.start = self.new(blocks, 4), self.new()
        self.even, self.odd, self.product = (self.new(2, blocks) for _ in range(3))
        self.keys = self.new(ROUNDS, 2, 1)
        self.mask, self.half = self.number(MASK), self.number(32)

    def new(self, *shape: int) -> Tensor:
        """Scratch of i64."""
        return scratch(self.workspace, shape, self.key, torch.int64)

    def number(self, value: object) -> Tensor:
        """Numbers as i64."""
        return torch.tensor(value, dtype=torch.int64, device=self.key.device)

    def key_steps(self) -> list[Run]:
        """The key of each round, in the order of the words it meets: k1, k0; k0, k1; ..."""
        words, turned = self.new(2, 1), self.new(2, 1)
        raised = [[[r * s & MASK] for s in KEY_STEPS[:: 1 if r % 2 else -1]] for r in range(ROUNDS)]
        added = self.number(raised)
        return [
            partial(words[0].copy_, self.key),
            partial(torch.bitwise_right_shift, self.key, self.half, out=words[1, 0]),
            partial(turned[0].copy_, words[1]),
            partial(turned[1].copy_, words[0]),
            partial(torch.add, added[0::2], turned, out=self.keys[0::2]),
            partial(torch.add, added[1::2], words, out=self.keys[1::2]),
            partial(torch.bitwise_and, self.keys, self.mask, out=self.keys),
        ]

    def steps(self) -> list[Run]:
        """Counters, ten rounds, and the words in their order."""
        even, odd, words, n = self.even, self.odd, self.words, self.new(len(self.words))
        each = counted(len(n), n, torch.int64, self.workspace)
        turns = [self.number([[m] for m in MULTIPLIERS[::way]]) for way in (1, -1)]
        return [
            partial(torch.add, each, self.start, out=n),
            partial(torch.bitwise_and, n, self.mask, out=even[0]),
            partial(torch.bitwise_right_shift, n, self.half, out=odd[1]),
            partial(torch.bitwise_and, odd[1], self.mask, out=odd[1]),
            even[1].zero_,
            odd[0].zero_,
            *(step for r in range(ROUNDS) for step in self._round(turns[r % 2], self.keys[r])),
            partial(words[:, 0::2].copy_, even.t()),
            partial(words[:, 1].copy_, odd[1]),
            partial(words[:, 3].copy_, odd[0]),
        ]

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
