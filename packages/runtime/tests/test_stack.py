"""The stack of a loop's gradient: doubles, stays, has a limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from byparts_graph_ir import HostSpace, TensorType
from byparts_runtime.arrays.access import view
from byparts_runtime.memory.plan import Bytes
from byparts_runtime.run.stack import Stack

ROW, NUMBER = TensorType("f64", (8,)), TensorType("i32", ())


class Counting(HostSpace):
    """Remembers what was asked for, and has only so much."""

    def __init__(self, most_bytes: int = 1 << 30) -> None:
        self.sizes: list[int] = []
        self.most_bytes = most_bytes

    def allocate(self, size_bytes: int) -> memoryview:
        if sum(self.sizes) + size_bytes > self.most_bytes:
            raise MemoryError("nothing left")
        self.sizes.append(size_bytes)
        return super().allocate(size_bytes)


def look(place: Bytes, kind: TensorType) -> Any:
    return view(place.memory, place.offset, kind)


def stack_of(space: HostSpace, most_bytes: int = 1 << 30) -> tuple[Stack, list[Any], list[Any]]:
    """A stack of a row and a number, with the arrays that it pushes, and those it pops into."""
    kinds = (ROW, NUMBER)
    sources, targets = [[Bytes(HostSpace().allocate(64), 0) for _ in kinds] for _ in range(2)]
    made = Stack("loop", space, look, look, kinds, sources, targets, most_bytes)
    pushed, popped = (
        [look(p, k) for p, k in zip(x, kinds, strict=True)] for x in (sources, targets)
    )
    return made, pushed, popped


@pytest.mark.parametrize("rounds", [0, 1, 2, 7, 8, 9])
def test_what_is_pushed_is_popped(rounds: int) -> None:
    """From the last to the first; twice, and the second time no memory is taken."""
    space = Counting()
    stack, (row, number), (last_row, last_number) = stack_of(space)
    for _ in range(2):
        for k in range(rounds):
            row[...], number[...] = k, -k
            stack.push(k)
        for k in reversed(range(rounds)):
            stack.pop(k)
            np.testing.assert_array_equal(last_row, k)
            assert last_number == -k

    rooms = [1, 1, 2, 4, 8][: rounds and (rounds - 1).bit_length() + 1]
    assert space.sizes == [64 * n + 64 for n in rooms]
    assert stack.size_bytes == sum(space.sizes)


@pytest.mark.parametrize(
    ("space", "limit", "why"),
    [(HostSpace(), 600, "max_stack_bytes is 600"), (Counting(600), 1 << 30, "nothing left")],
)
def test_it_says_where_it_ends(space: HostSpace, limit: int, why: str) -> None:
    """Rounds, bytes and what to do; what it had is free again."""
    stack, *_ = stack_of(space, limit)
    for k in range(4):
        stack.push(k)
    with pytest.raises(
        MemoryError,
        match=rf"loop: the stack for the backward pass has 448 bytes after 4 rounds and cannot grow "
        rf"by 320 \({why}\); give the loop max_rounds=",
    ):
        stack.push(4)
    assert stack.size_bytes == 0
