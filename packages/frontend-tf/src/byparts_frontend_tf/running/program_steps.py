"""Steps that compute values: programs, built by the session's executor, and NumPy for numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Protocol

from byparts_frontend_tf.running.inputs import Inputs, inputs_of
from byparts_frontend_tf.running.known import leaves
from byparts_frontend_tf.running.tree import AskStep, ProgramStep, Step
from byparts_graph_ir import Graph, Value
from byparts_runtime import Program, Variable as Stored
from byparts_tf_files.errors import error_of

if TYPE_CHECKING:
    from byparts_frontend_tf.running.session import BaseSession

Updates = Mapping[Any, Value]  # variable -> its new value


class Steps(Protocol):
    """Maker of the steps that compute the values of a run.

    Attributes:
        of_leaves: whether the rest of a run may be for the small integers that a number is
            computed from, rather than for that number.
    """

    of_leaves: bool

    def program(self, outputs: Sequence[Value], asked: Sequence[Value], updates: Updates) -> Step:
        """Compute outputs and new values of variables; the rest is for the numbers in `asked`."""

    def ask(self, value: Value) -> Step:
        """Compute one value from slots; the rest is for this very value."""


class ProgramSteps:
    """`Steps` of a session.

    Args:
        session: whose executors build, and whose variables are written.
        inputs: where values come from.
    """

    of_leaves = True

    def __init__(self, session: BaseSession, inputs: Inputs) -> None:
        self._session, self._inputs = session, inputs

    def program(self, outputs: Sequence[Value], asked: Sequence[Value], updates: Updates) -> Step:
        """Build a program."""
        try:
            return self._built(outputs, asked, updates)
        except Exception as error:  # what is constant is computed while a program is built
            raise error_of(None, error) from error

    def ask(self, value: Value) -> Step:
        """Let NumPy compute a value."""
        return ask_step(value, self._inputs)

    def _built(
        self, outputs: Sequence[Value], asked: Sequence[Value], updates: Updates
    ) -> ProgramStep:
        variables, memory_of = self._session.variables, self._inputs.memory_of
        news = tuple(updates.values())
        targets = {v: variables.target(v, new.type, v.name) for v, new in updates.items()}
        inputs = inputs_of((*outputs, *news))
        feeds = [v for v in inputs if v not in memory_of]
        bound = {v: memory_of[v] for v in inputs if v in memory_of}
        graph = Graph.of((*feeds, *bound), (*outputs, *news))
        once = not inputs and not outputs  # it gives variables their first values
        executor = self._session.first_executor if once else self._session.executor
        program = executor.program(graph, variables=bound, updates=tuple(targets.values()))
        assert isinstance(program, Program), "all types are static"
        slots = [self._inputs.slot_of[v] for v in feeds]
        return ProgramStep(
            program, slots, [outputs.index(v) for v in asked], _keeper(variables, targets)
        )


def ask_step(value: Value, inputs: Inputs) -> AskStep:
    """Compute a value by NumPy from what is in slots; the rest is for this very value."""
    if value in inputs.slot_of:
        return AskStep(value, [(value, inputs.slot_of[value])])
    return AskStep(value, [(v, inputs.slot_of[v]) for v in leaves(value)])


def _keeper(variables: Any, targets: Mapping[Any, Stored]) -> Optional[Callable[[], None]]:
    """Function that makes new memory that of its variable, after a run; `None`: nothing is new."""
    new = {v: s for v, s in targets.items() if variables.get(v) is not s}
    if not new:
        return None

    def keep() -> None:
        for variable, stored in new.items():
            variables.keep(variable, stored)

    return keep
