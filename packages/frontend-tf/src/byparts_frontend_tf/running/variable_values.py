"""The values of variables on one level of a run, write after write.

Variables are values.  A read sees the value at the start of the run, and of the writes those that
are ordered before its reader; `visible` says which, as bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.graph.operation import Operation
from byparts_graph_ir import GraphError, Value

if TYPE_CHECKING:
    from byparts_frontend_tf.running.lowering import Lowering
    from byparts_frontend_tf.running.run import Run


class VariableValues:
    """What variables are on one level of a run.

    Attributes:
        visible: operation -> the writes that are ordered before it or are it, as bits.
        writes: variable -> the writes to it so far, as (bit, value after it).
        reads: variable -> the values that stand for it, for gradients.
        last: variable -> what its last write gives it.
    """

    run: Run
    outer: Optional[Lowering]
    reader: Optional[Operation]

    def __init__(self) -> None:
        self.visible: dict[Operation, int] = {}
        self.writes: dict[Any, list[tuple[int, Value]]] = {}
        self.reads: dict[Any, list[Value]] = {}
        self.last: dict[Any, Value] = {}
        self._starts: dict[Any, Value] = {}
        self._bit_of: dict[Operation, int] = {}  # the bit of a write

    def _new_input(self, outside: Value) -> Value:
        """A value of the outer level, as an input of this body."""
        raise NotImplementedError

    def read(self, variable: Any, seen: int) -> Value:
        """The value of a variable after the writes `seen`."""
        for bit, value in reversed(self.writes.get(variable, ())):
            if bit & seen:
                return value
        return self.start(variable)

    def latest(self, variable: Any) -> Value:
        """The value of a variable after all writes so far: what the next write starts from."""
        writes = self.writes.get(variable)
        return writes[-1][1] if writes else self.start(variable)

    def start(self, variable: Any) -> Value:
        """The value of a variable at the start of the run, or of this body."""
        found = self._starts.get(variable)
        if found is None:
            if self.outer is None:
                found = self.run.start(variable)
            else:
                seen = self.outer.visible.get(self.reader, 0)  # type: ignore[arg-type]  # a body has one
                found = self._new_input(self.outer.read(variable, seen))
            self._starts[variable] = found
            self.reads.setdefault(variable, []).append(found)
        return found

    def write(self, op: Operation, variable: Any, value: Value) -> None:
        """`op` gives a variable a new value; no gradient passes.

        Raises:
            GraphError: the run has written it already, and may not twice.
        """
        if self.run.written_once and variable in self.last:
            raise GraphError(
                f"variable {variable.name!r} is assigned twice in one run, the second time at "
                f"{op.where}; fetch the assignments in two runs"
            )
        bit = self.visible.get(op, 0) & self._own(op)
        if not bit:
            bit = self._own(op)
            self.visible[op] = self.visible.get(op, 0) | bit
        after = ops.stop_gradient(value)
        self.writes.setdefault(variable, []).append((bit, after))
        self.last[variable] = value
        self.reads.setdefault(variable, []).append(after)

    def _own(self, op: Operation) -> int:
        """The bit of a write, the same for all variables that it writes."""
        bit = self._bit_of.get(op)
        if bit is None:
            bit = self._bit_of[op] = 1 << len(self._bit_of)
        return bit
