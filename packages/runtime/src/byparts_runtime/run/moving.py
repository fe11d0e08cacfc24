"""Steps of a loop that read or write rows of a sequence where these are, without a copy.

Row i of an array is contiguous, so a kernel can be bound to it.  Each step that touches rows is
bound to each row once, in the first run of the loop; what `bind` returned is kept for the next run.
The compiler of the loop decides where that costs less than copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from byparts_graph_ir import Backend, Kernel, TensorType
from byparts_graph_ir.backend.instruction import Host
from byparts_graph_ir.backend.kernel import Run
from byparts_runtime.memory.plan import Bytes
from byparts_runtime.run.lines import AtRound
from byparts_runtime.run.results import Changing

_MOST_KEPT = 4096  # runs of a step, of about a kilobyte each


class MovingStep(Changing):
    """A kernel that runs on other rows in each round.

    Args:
        kernel: what to bind.
        backend: of the kernel.
        arrays: its inputs and its outputs, as they are bound for row 0.
        workspace: as `Kernel.bind`.
        persistent: likewise.
        rows: (0 for an input or 1 for an output, position, place of row 0, type, bytes of a row).
    """

    __slots__ = ("_arrays", "_backend", "_blocks", "_kernel", "_rows", "_runs")

    def __init__(
        self,
        kernel: Kernel,
        backend: Backend,
        arrays: tuple[list[Any], list[Any]],
        workspace: Any,
        persistent: Any,
        rows: Sequence[tuple[int, int, Bytes, TensorType, int]],
    ) -> None:
        super().__init__()
        self._kernel, self._backend, self._arrays = kernel, backend, arrays
        self._blocks, self._rows = (workspace, persistent), tuple(rows)
        self._runs: dict[int, Run] = {}

    def move(self, i: int) -> None:
        """Let it run on row i."""
        run = self._runs.get(i)
        self.run = self._bound(i) if run is None else run

    def lines(self, backend: Backend) -> Optional[Sequence[Host]]:
        """A call from Python, whose time is small beside that of what reads a large row."""
        return (Host(self),) if backend is self._backend else None

    def _bound(self, i: int) -> Run:
        arrays, look = self._arrays, self._backend.view
        for side, k, place, kind, row_bytes in self._rows:
            arrays[side][k] = look(place.memory, place.offset + i * row_bytes, kind)
        run = self._kernel.bind(*arrays, *self._blocks)
        if len(self._runs) < _MOST_KEPT:
            self._runs[i] = run
        return run


def moves(steps: Sequence[MovingStep]) -> AtRound:
    """At each round: let these steps run on its rows."""

    def move(i: int) -> None:
        for step in steps:
            step.move(i)

    return AtRound(move, lambda _, at: (Host(lambda: move(at.value)),))
