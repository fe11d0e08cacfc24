"""Programs of a run: graphs of what was lowered so far, built by the session's executor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional

from byparts_frontend_tf.running.known import type_of
from byparts_frontend_tf.running.tree import ProgramStep, Step
from byparts_graph_ir import Graph, Input, Value, producers
from byparts_runtime import Program, Variable as Stored
from byparts_tf_files.errors import error_of

if TYPE_CHECKING:
    from byparts_frontend_tf.running.recorder import Recorder
    from byparts_frontend_tf.running.session import BaseSession

Updates = Mapping[Any, Value]  # variable -> its new value


class Programs:
    """Where the values of a run come from, and the programs made of them.

    Attributes:
        slots_of: value -> the slot that holds it.
        numbers: value -> the array it is known to be.
        variable_inputs: the values of variables at the start of the run -> their memory.
    """

    def __init__(self, session: BaseSession, recorder: Recorder) -> None:
        self.session, self.recorder = session, recorder
        self.slots_of: dict[Value, int] = {}
        self.numbers: dict[Value, Any] = {}
        self.variable_inputs: dict[Value, Stored] = {}
        self._inputs: dict[int, Input] = {}

    def input_of(self, slot: int) -> Value:
        """The value that a program reads for what is in a slot."""
        found = self._inputs.get(slot)
        if found is None:
            found = self._inputs[slot] = Input(type_of(self.recorder.slots[slot]), None, "", "")
            self.slots_of[found] = slot
        return found

    def program(
        self,
        outputs: Sequence[Value],
        asked: Sequence[Value] = (),
        updates: Optional[Updates] = None,
    ) -> None:
        """Run a program that computes these; the rest is for the very numbers in `asked`."""
        updates = updates or {}
        first = self.recorder.perform(lambda: self._built(outputs, asked, updates))
        for i, v in enumerate(outputs):
            self.slots_of.setdefault(v, first + i)
        for v in asked:
            self.numbers[v] = self.recorder.slots[self.slots_of[v]]

    def _built(self, outputs: Sequence[Value], asked: Sequence[Value], updates: Updates) -> Step:
        try:
            return self._step(outputs, asked, updates)
        except Exception as error:  # what is constant is computed while a program is built
            raise error_of(None, error) from error

    def _step(
        self, outputs: Sequence[Value], asked: Sequence[Value], updates: Updates
    ) -> ProgramStep:
        variables = self.session.variables
        news = tuple(updates.values())
        targets = {v: variables.target(v, new.type, v.name) for v, new in updates.items()}
        inputs = inputs_of((*outputs, *news))
        feeds = [v for v in inputs if v not in self.variable_inputs]
        bound = {v: self.variable_inputs[v] for v in inputs if v in self.variable_inputs}
        graph = Graph.of((*feeds, *bound), (*outputs, *news))
        once = not inputs and not outputs  # it gives variables their first values
        executor = self.session.first_executor if once else self.session.executor
        program = executor.program(graph, variables=bound, updates=tuple(targets.values()))
        assert isinstance(program, Program), "all types are static"
        slots = [self.slots_of[v] for v in feeds]
        return ProgramStep(
            program, slots, [outputs.index(v) for v in asked], _keeper(variables, targets)
        )


def inputs_of(values: Sequence[Value]) -> list[Value]:
    """The inputs that values depend on, in the order in which they are read."""
    found = {v: None for n in producers(values) for v in n.inputs if v.node is None}
    found.update({v: None for v in values if v.node is None})
    return list(found)


def _keeper(variables: Any, targets: Mapping[Any, Stored]) -> Optional[Callable[[], None]]:
    """What makes new memory that of its variable, after a run; `None`: nothing is new."""
    new = {v: s for v, s in targets.items() if variables.get(v) is not s}
    if not new:
        return None

    def keep() -> None:
        for variable, stored in new.items():
            variables.keep(variable, stored)

    return keep
