"""One kernel as programs run it: compiled, its memory planned, bound at addresses, run.

The inputs are written after binding.  The workspace is overwritten before each run, as other steps
do; the persistent block keeps its contents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any

from byparts_conformance.desk import Array, Desk, arrays_of, rubbish
from byparts_graph_ir import Op, Types

Pairs = tuple[tuple[int, int], ...]  # (input, output) in the same bytes

SPOILS = (0xFF, 0x55)  # NaN and -1; a large number


class Trial:
    """A kernel bound on memory of its own.

    Args:
        desk: where the memory is.
        op, types: what to compile.
        pairs: the inputs and outputs that are the same bytes.
        constants: these inputs, by position, are in place when the kernel is bound.
        beside: a trial of the same kernel that shares its workspace and its persistent block with
            this one, as two steps of one program do.

    Raises:
        MissingRule: the backend has no kernel for these types.
    """

    def __init__(
        self,
        desk: Desk,
        op: Op,
        types: Types,
        pairs: Pairs = (),
        constants: dict[int, Array] | None = None,
        beside: Trial | None = None,
    ) -> None:
        self.desk, self.types, self.pairs = desk, types, pairs
        self.kernel = desk.backend.compile(op, types, frozenset(constants or ()))
        self.results = op.infer(*types)
        self.inputs = arrays_of(desk, types)
        self.outputs = arrays_of(desk, self.results)
        for i, o in pairs:
            self.outputs[o] = self.inputs[i]
        for i, value in (constants or {}).items():
            desk.write(self.inputs[i], value)
        if beside is None:
            self.workspace = desk.block(self.kernel.workspace_bytes)
            self.persistent = desk.block(self.kernel.persistent_bytes)
        else:
            self.workspace, self.persistent = beside.workspace, beside.persistent
        self._spoils, self._ran = cycle(SPOILS), False
        self._spoil()
        self.step = self.kernel.bind(self.inputs, self.outputs, self.workspace, self.persistent)

    def run(self, values: Sequence[Array]) -> None:
        """Write the inputs, overwrite the workspace and the outputs of the run before, run."""
        over = {o for _, o in self.pairs}
        for o, t in enumerate(self.results if self._ran else ()):
            if o not in over:
                self.desk.write(self.outputs[o], rubbish(t))
        for array, value in zip(self.inputs, values, strict=True):
            self.desk.write(array, value)
        self.again()

    def again(self) -> None:
        """Run with the inputs that stand there."""
        self._spoil()
        self.step()
        self._ran = True

    def output(self, o: int) -> Array:
        """What stands in an output."""
        return self.desk.fetch(self.outputs[o], self.results[o])

    def misuse(self, values: Sequence[Array]) -> str:
        """Which memory was written that is not the kernel's to write, or "".

        Args:
            values: what was written to the inputs.
        """
        over = {i for i, _ in self.pairs}
        for i, (array, t, value) in enumerate(zip(self.inputs, self.types, values, strict=True)):
            if i not in over and self.desk.fetch(array, t).tobytes() != value.tobytes():
                return f"the kernel changed its input {i}"
        for name, array in self._memory():
            if array is not None and (said := self.desk.overrun(array)):
                return f"{name} {said}"
        return ""

    def _memory(self) -> Iterator[tuple[str, Any]]:
        yield from ((f"output {o}", array) for o, array in enumerate(self.outputs))
        yield f"the workspace of {self.kernel.workspace_bytes} bytes", self.workspace
        yield f"the persistent memory of {self.kernel.persistent_bytes} bytes", self.persistent
        yield from ((f"input {i}", array) for i, array in enumerate(self.inputs))

    def _spoil(self) -> None:
        if self.workspace is not None:
            self.desk.fill(self.workspace, next(self._spoils))
