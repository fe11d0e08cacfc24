"""Values that variables and counters of random draws have before a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Optional, Protocol

from byparts_frontend_tf.graph.operation import Operation
from byparts_frontend_tf.running.inputs import Inputs
from byparts_frontend_tf.running.store import Variables
from byparts_graph_ir import Input, Value
from byparts_runtime import Variable as Stored
from byparts_tf_files.errors import FailedPreconditionError

if TYPE_CHECKING:
    from byparts_frontend_tf.running.lowering import Lowering


class Starts(Protocol):
    """Values with which a run begins: of variables, and counters of draws."""

    def has(self, variable: Any) -> bool:
        """Whether a variable has a value before the run; the plan holds while that is so."""

    def start(self, variable: Any, lowering: Lowering) -> Value:
        """The value of a variable before the run.

        Raises:
            FailedPreconditionError: it has none.
        """

    def counter(self, op: Operation) -> Value:
        """The counter of an operation's draws at the start of the run, which advances it."""


class StoredStarts:
    """`Starts` of a run that is done: what a session keeps, or what is fed for a variable.

    Args:
        variables: the session's.
        inputs: gets the memory that programs read.
        fed: variable -> the slot of what is fed for it.

    Attributes:
        assumed: variables that have no value, which the steps are true for.
    """

    def __init__(self, variables: Variables, inputs: Inputs, fed: Mapping[Any, int]) -> None:
        self._variables, self._inputs, self._fed = variables, inputs, fed
        self._reads: dict[Any, Value] = {}
        self.assumed: list[Any] = []

    def has(self, variable: Any) -> bool:
        """See `Starts.has`."""
        has = self._variables.has(variable) or variable in self._fed
        if not has:
            self.assumed.append(variable)
        return has

    def start(self, variable: Any, lowering: Lowering) -> Value:
        """See `Starts.start`."""
        slot = self._fed.get(variable)
        if slot is not None:
            return self._inputs.of_slot(slot)
        value = self._reads.get(variable)
        if value is None:
            stored = self._variables.get(variable)
            if stored is None and (initial := self._initial(variable, lowering)) is not None:
                return initial
            if stored is None:
                known = variable.variable_object
                reads = variable if known is None else known.value().op  # as TensorFlow blames
                raise FailedPreconditionError(
                    None, reads, f"Attempting to use uninitialized value {variable.name}"
                )
            value = self._reads[variable] = self._read(stored, variable.name)
        return value

    def counter(self, op: Operation) -> Value:
        """See `Starts.counter`."""
        stored = self._variables.counter(op)
        return self._read(stored, stored.name)

    def _read(self, stored: Stored, name: str) -> Value:
        value = Input(stored.type, None, name, "")
        self._inputs.memory_of[value] = stored
        return value

    def _initial(self, variable: Any, lowering: Lowering) -> Optional[Value]:
        """The first value that this very run gives a variable, for the first value of another."""
        for op in variable.outputs[0].consumers():
            if op.initializes is variable and op in lowering.run.operations:
                self.assumed.append(variable)
                first = op.inputs[1]
                return lowering.value(first, op) if first in lowering.env else None
        return None
