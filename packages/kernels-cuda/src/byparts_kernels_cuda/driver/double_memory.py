"""Memory of the double: blocks of the host between margins, poisoned, never used again too soon.

A new block holds no zeros, what is freed is filled with another pattern and kept for a while, and
an address that is in no living block is an illegal one, as on a GPU.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right, insort
from collections import Counter, deque
from dataclasses import dataclass
from typing import Any

ALIGNMENT, MARGIN = 256, 256
FRESH, FREED, EDGE = 0xCB, 0xDD, 0xA5
_MOST_FILLED = 1 << 20  # bytes; of a larger block its ends
_MOST_KEPT = 16 << 20  # bytes of freed blocks


@dataclass(frozen=True, eq=False)
class Block:
    """Memory of a GPU, or of the host where `device` is -1."""

    start: int
    size_bytes: int
    device: int
    owner: Any

    @property
    def end(self) -> int:
        """Address one past the last byte of the block."""
        return self.start + self.size_bytes

    def overrun(self) -> bool:
        """Whether the margin on either side was written."""
        edges = (self.start - MARGIN, self.end)
        return any(ctypes.string_at(at, MARGIN) != bytes([EDGE]) * MARGIN for at in edges)


class Memories:
    """All blocks that live, in the order of their addresses."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._blocks: dict[int, Block] = {}
        self._freed: deque[Block] = deque()
        self._freed_bytes = 0
        self.used_bytes: Counter[int] = Counter()  # of each device, and of the host as -1

    def allocate(self, size_bytes: int, device: int) -> Block:
        """A block of undefined contents."""
        owner = ctypes.create_string_buffer(size_bytes + 2 * MARGIN + ALIGNMENT)
        start = -(-(ctypes.addressof(owner) + MARGIN) // ALIGNMENT) * ALIGNMENT
        block = Block(start, size_bytes, device, owner)
        ctypes.memset(start - MARGIN, EDGE, MARGIN)
        ctypes.memset(block.end, EDGE, MARGIN)
        _fill(block, FRESH)
        insort(self._starts, start)
        self._blocks[start] = block
        self.used_bytes[device] += size_bytes
        return block

    def free(self, start: int, *, on_host: bool) -> str | None:
        """Free the block that begins there; what is wrong, or `None`."""
        block = self._blocks.get(start)
        if block is None or (block.device < 0) != on_host:
            return f"{start:#x} is the address of no block that lives"
        del self._blocks[start]
        del self._starts[bisect_right(self._starts, start) - 1]
        self.used_bytes[block.device] -= block.size_bytes
        wrong = f"the margin of a block of {block.size_bytes} bytes was written"
        overrun = block.overrun()
        _fill(block, FREED)
        self._freed.append(block)
        self._freed_bytes += block.size_bytes
        while self._freed_bytes > _MOST_KEPT and len(self._freed) > 1:
            self._freed_bytes -= self._freed.popleft().size_bytes
        return wrong if overrun else None

    def find(self, address: int, size_bytes: int = 1) -> Block | None:
        """The block that holds all these bytes."""
        i = bisect_right(self._starts, address)
        block = self._blocks[self._starts[i - 1]] if i else None
        inside = block is not None and address + size_bytes <= block.end
        return block if inside and address < block.end else None  # type: ignore[union-attr]

    def of(self, device: int) -> list[Block]:
        """The blocks of a device, or of the host for -1."""
        return [b for b in self._blocks.values() if b.device == device]


def _fill(block: Block, byte: int) -> None:
    head = min(block.size_bytes, _MOST_FILLED)
    ctypes.memset(block.start, byte, head)
    ctypes.memset(block.end - head, byte, head)
