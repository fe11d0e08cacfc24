"""The values of variables on one level of a run, write after write.

Variables are values.  A read sees the value at the start of the run, and of the writes those that
are ordered before its reader; `visible` says which, as bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import byparts_opset as ops
from byparts_frontend_tf.graph.operation import Operation
from byparts_graph_ir import GraphError, Value


class VariableValues:
    """Values of variables on one level of a run.

    Args:
        first: variable -> its value at the start of the run, or of this body.
        written_once: whether a run may write a variable once only.

    Attributes:
        visible: operation -> the writes that are ordered before it or are it, as bits.
        writes: variable -> the writes to it so far, as (bit, value after it).
        reads: variable -> the values that stand for it, for gradients.
        last: variable -> what its last write gives it.
    """

    def __init__(self, first: Callable[[Any], Value], written_once: bool) -> None:
        self._first, self._written_once = first, written_once
        self.visible: dict[Operation, int] = {}
        self.writes: dict[Any, list[tuple[int, Value]]] = {}
        self.reads: dict[Any, list[Value]] = {}
        self.last: dict[Any, Value] = {}
        self._starts: dict[Any, Value] = {}
        self._bit_of: dict[Operation, int] = {}  # the bit of a write

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
        value = self._starts.get(variable)
        if value is None:
            value = self._starts[variable] = self._first(variable)
            self.reads.setdefault(variable, []).append(value)
        return value

    def write(self, op: Operation, variable: Any, value: Value) -> None:
        """Let `op` give a variable a new value; no gradient passes.

        Raises:
            GraphError: the run has written it already, and may not twice.
        """
        if self._written_once and variable in self.last:
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

    def order(self, op: Operation) -> None:
        """Find the writes that are ordered before an operation, also one on the host."""
        if self._bit_of:
            self.see(op, (*[t.op for t in op.inputs], *op._control_inputs), 0)

    def see(self, op: Operation, before: Iterable[Operation], seen: int) -> None:
        """Let `op` see the writes `seen`, and those that operations before it see or are."""
        for other in before:
            seen |= self.visible.get(other, 0)
        if seen:
            self.visible[op] = seen

    def _own(self, op: Operation) -> int:
        """The bit of a write, the same for all variables that it writes."""
        bit = self._bit_of.get(op)
        if bit is None:
            bit = self._bit_of[op] = 1 << len(self._bit_of)
        return bit
