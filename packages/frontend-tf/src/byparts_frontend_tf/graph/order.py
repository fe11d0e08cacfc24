"""Control dependencies: what the operations made in a block wait for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from byparts_frontend_tf.graph.operation import Operation, Tensor


class _Block:
    """A `with control_dependencies(...)`: what is waited for, and what was made inside."""

    __slots__ = ("made", "waited_for")

    def __init__(self, waited_for: Sequence[Operation]) -> None:
        self.waited_for, self.made = tuple(waited_for), set[int]()


class ControlDependencies:
    """The blocks that are open in a graph."""

    def __init__(self) -> None:
        self._blocks: list[_Block] = []

    @contextmanager
    def after(self, ops: Sequence[Operation]) -> Iterator[None]:
        """Operations made inside wait for `ops`."""
        self._blocks.append(_Block(ops))
        try:
            yield
        finally:
            self._blocks.pop()

    @contextmanager
    def cleared(self) -> Iterator[None]:
        """Operations made inside wait for nothing."""
        before, self._blocks = self._blocks, []
        try:
            yield
        finally:
            self._blocks = before

    def of(self, op: Operation, inputs: Sequence[Tensor]) -> tuple[Operation, ...]:
        """Operations that `op` waits for, without those that its inputs wait for already."""
        if not self._blocks:
            return ()
        waited_for: dict[Operation, None] = {}
        made_by = {id(t.op) for t in inputs}
        for block in self._blocks:
            if block.made.isdisjoint(made_by):
                waited_for.update(dict.fromkeys(block.waited_for))
            block.made.add(id(op))
        return tuple(waited_for)
