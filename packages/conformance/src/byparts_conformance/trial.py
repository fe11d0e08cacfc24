"""Runs one kernel as a program does: compile, reserve planned memory, bind at addresses, run.

The inputs are written after binding.  The workspace is overwritten before each run, as other steps
of a program would do; the persistent block keeps its contents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any

from byparts_conformance.trial_memory import Array, TrialMemory, arrays_of, filler
from byparts_graph_ir import Op, Types

Pairs = tuple[tuple[int, int], ...]  # (input, output) in the same bytes

FILLS = (0xFF, 0x55)  # bytes that overwrite a workspace: NaN and -1; a large number


class Trial:
    """A kernel compiled and bound on memory of its own.

    Args:
        memory: allocates the arrays.
        op, types: the op to compile and the types of its inputs.
        pairs: (input, output) positions that share their bytes.
        constants: inputs, by position, whose values are written before the kernel is bound.
        beside: another trial of the same kernel; this trial uses its workspace and its persistent
            block, as two steps of one program do.

    Raises:
        MissingRule: the backend has no kernel for these types.
    """

    def __init__(
        self,
        memory: TrialMemory,
        op: Op,
        types: Types,
        pairs: Pairs = (),
        constants: dict[int, Array] | None = None,
        beside: Trial | None = None,
    ) -> None:
        self.memory, self.types, self.pairs = memory, types, pairs
        self.kernel = memory.backend.compile(op, types, frozenset(constants or ()))
        self.results = op.infer(*types)
        self.inputs = arrays_of(memory, types)
        self.outputs = arrays_of(memory, self.results)
        for i, o in pairs:
            self.outputs[o] = self.inputs[i]
        for i, value in (constants or {}).items():
            memory.write(self.inputs[i], value)
        if beside is None:
            self.workspace = memory.block(self.kernel.workspace_bytes)
            self.persistent = memory.block(self.kernel.persistent_bytes)
        else:
            self.workspace, self.persistent = beside.workspace, beside.persistent
        self._fills, self._ran = cycle(FILLS), False
        self._overwrite_workspace()
        self.step = self.kernel.bind(self.inputs, self.outputs, self.workspace, self.persistent)

    def run(self, values: Sequence[Array]) -> None:
        """Write the inputs, overwrite the workspace and the results of the run before, then run."""
        over = {o for _, o in self.pairs}
        for o, t in enumerate(self.results if self._ran else ()):
            if o not in over:
                self.memory.write(self.outputs[o], filler(t))
        for array, value in zip(self.inputs, values, strict=True):
            self.memory.write(array, value)
        self.again()

    def again(self) -> None:
        """Run without writing the inputs."""
        self._overwrite_workspace()
        self.step()
        self._ran = True

    def output(self, o: int) -> Array:
        """The contents of output `o`."""
        return self.memory.fetch(self.outputs[o], self.results[o])

    def misuse(self, values: Sequence[Array]) -> str:
        """A sentence about memory that the kernel must not write and has written, or "".

        Args:
            values: the values that were written to the inputs.
        """
        over = {i for i, _ in self.pairs}
        for i, (array, t, value) in enumerate(zip(self.inputs, self.types, values, strict=True)):
            if i not in over and self.memory.fetch(array, t).tobytes() != value.tobytes():
                return f"the kernel changed its input {i}"
        for name, array in self._arrays():
            if array is not None and (message := self.memory.overrun(array)):
                return f"{name} {message}"
        return ""

    def _arrays(self) -> Iterator[tuple[str, Any]]:
        yield from ((f"output {o}", array) for o, array in enumerate(self.outputs))
        yield f"the workspace of {self.kernel.workspace_bytes} bytes", self.workspace
        yield f"the persistent memory of {self.kernel.persistent_bytes} bytes", self.persistent
        yield from ((f"input {i}", array) for i, array in enumerate(self.inputs))

    def _overwrite_workspace(self) -> None:
        if self.workspace is not None:
            self.memory.fill(self.workspace, next(self._fills))
