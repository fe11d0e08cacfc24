"""One run of a session that has not been seen before: from fetches and feeds to steps, doing them.

Operations are lowered in order.  One that needs a number, or is computed on the host from what a
program gives, waits: when nothing else is left, the program so far is run, and the rest goes on
with what it gave.  Programs are pure, so a later one computes again what it shares with an earlier
one, gradients pass through all of it, and variables are written by the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Optional

from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.running.arrays import Rows
from byparts_frontend_tf.running.fetches import memory_of
from byparts_frontend_tf.running.host_arrays import host_rows
from byparts_frontend_tf.running.host_calls import HostCalls, called, of_objects, on_host
from byparts_frontend_tf.running.known import Literal, Slot
from byparts_frontend_tf.running.lowering import Lowering
from byparts_frontend_tf.running.needed import needed
from byparts_frontend_tf.running.own_gradient import forget
from byparts_frontend_tf.running.signals import Expand, Wanted
from byparts_frontend_tf.running.tree import Finish, HostStep
from byparts_graph_ir import Input, Value
from byparts_tf_files.errors import FailedPreconditionError, OpError, error_of

if TYPE_CHECKING:
    from byparts_frontend_tf.running.recorder import Recorder
    from byparts_frontend_tf.running.session import BaseSession


class Run(HostCalls):
    """A run, and what the lowering of all its levels shares.

    Args:
        session: whose variables and programs.
        recorder: does the steps.
        fed: tensor -> the slot of what is fed for it.
        body: where the fetches are: `None`, or the body of a loop that the host runs.

    Attributes:
        numbers: value -> the array it is known to be, on this path.
        top: the lowering of the run itself.
        assumed: variables that have no value, which the steps are true for.
        operations: what the run needs.
        written_once: as the session's.
        passed: numbers of the rules for gradients that the program says (`own_gradient.py`).
    """

    def __init__(
        self, session: BaseSession, recorder: Recorder, fed: dict[Tensor, int], body: Any = None
    ) -> None:
        super().__init__(session, recorder)
        self.body, self.written_once = body, session.written_once
        self.top = Lowering(self)
        self.fed_variables: dict[Any, int] = {}
        for tensor, slot in fed.items():
            self.top.env[tensor] = Slot(slot)
            if tensor.variable is not None:
                self.fed_variables[tensor.variable] = slot
        self._after = []
        self._in_order = True
        self._reads: dict[Any, Value] = {}
        self.assumed: list[Any] = []
        self.operations: set[Operation] = set()
        self.passed: list[int] = []

    def finish(self, fetches: Sequence[Any]) -> Finish:
        """Do all steps; the last one says where the fetches are."""
        pending = needed(fetches, self.top.env, self.body)
        self.operations = set(pending)
        while True:
            pending, wanted, numbers = self._pass(pending)
            if not pending or all(self._trailing(op) for op in pending):
                break
            if wanted:
                self.program(list(wanted), asked=list(numbers))
            elif self._in_order:  # what waits for an effect is no effect: checks come late
                self._in_order = False
            else:
                raise _stuck(pending)
        self._last(fetches, wanted)
        while pending:
            before = pending
            pending, wanted, _ = self._pass(pending)
            if len(pending) == len(before):
                raise _stuck(pending)
        end = Finish([self._slot(f) for f in fetches])
        self.recorder.end(end)
        forget(self.passed)
        return end

    def _pass(
        self, pending: Sequence[Operation]
    ) -> tuple[list[Operation], dict[Value, None], dict[Value, None]]:
        """Lower what can be; what waits, the values it waits for, and those of which as numbers."""
        waiting: list[Operation] = []
        late: set[Operation] = set()
        wanted: dict[Value, None] = {}
        numbers: dict[Value, None] = {}
        todo = list(reversed(pending))
        while todo:
            op = todo.pop()
            waits = self._waits(op, late)
            if waits or self._unchecked(op, wanted):
                if waits and self._trailing(op):
                    self._want([t for t in op.inputs if t.op not in late], op, wanted)
                waiting.append(op)
                late.add(op.stands_for if isinstance(op, _Branch) else op)
                continue
            if isinstance(op, _Branch):
                op.ready()
                late.discard(op.stands_for)
                continue
            try:
                self._lower(op)
            except Expand as more:
                late.add(op)
                todo.append(_Branch(op, more))
                todo.extend(reversed(needed(more.targets, self.top.known, more.body)))
            except Wanted as w:
                wanted.update(dict.fromkeys(w.values))
                if w.numbers:
                    numbers.update(dict.fromkeys(w.values))
                waiting.append(op)
                late.add(op)
        return waiting, wanted, numbers

    def _waits(self, op: Operation, late: set[Operation]) -> bool:
        if not late:
            return False
        env = self.top.env
        if isinstance(op, _Branch):
            return any(_operation(t) in late and t not in env for t in op.targets)
        return any(c in late for c in op._control_inputs) or any(
            t.op in late and t not in env for t in op.inputs
        )

    def _lower(self, op: Operation) -> None:
        try:
            if on_host(op):
                self.top.order(op)
                self._call(op)
            else:
                self.top.lower(op)
        except (OpError, Wanted, Expand, KeyboardInterrupt):
            raise
        except Exception as error:
            raise error_of(op, error) from error

    @staticmethod
    def _trailing(op: Operation) -> bool:
        """Whether it may come after the last program."""
        return not isinstance(op, _Branch) and (on_host(op) or op.type == "NoOp")

    def _unchecked(self, op: Operation, wanted: dict[Value, None]) -> bool:
        """Whether it is an effect that waits for checks, which come after the last program.

        What it reads is wanted then.
        """
        if not (self._after and op.kind.effect and self._in_order):
            return False
        checks = {row[0] for row in self._after}
        if not any(before in checks for before in needed([op], ())):
            return False
        self._want(op.inputs, op, wanted)
        return True

    def _want(self, inputs: Sequence[Tensor], op: Operation, wanted: dict[Value, None]) -> None:
        """Ask the next program for the values that an operation of the host reads."""
        wanted.update({v: None for t in inputs if isinstance(v := self._host_input(t, op), Value)})

    # Variables

    def has(self, variable: Any) -> bool:
        """Whether a variable has a value before the run; the plan holds while that is so."""
        has = self.session.variables.has(variable) or variable in self.fed_variables
        if not has:
            self.assumed.append(variable)
        return has

    def start(self, variable: Any) -> Value:
        """The value of a variable before the run.

        Raises:
            FailedPreconditionError: it has none.
        """
        slot = self.fed_variables.get(variable)
        if slot is not None:
            return self.input_of(slot)
        found = self._reads.get(variable)
        if found is None:
            stored = self.session.variables.get(variable)
            if stored is None and (initial := self._initial(variable)) is not None:
                return initial
            if stored is None:
                known = variable.variable_object
                reads = variable if known is None else known.value().op  # as TensorFlow blames
                raise FailedPreconditionError(
                    None, reads, f"Attempting to use uninitialized value {variable.name}"
                )
            found = self._reads[variable] = Input(stored.type, None, variable.name, "")
            self.variable_inputs[found] = stored
        return found

    def counter(self, op: Operation) -> Value:
        """The counter of an operation's draws at the start of the run, which advances it."""
        stored = self.session.variables.counter(op)
        found = Input(stored.type, None, stored.name, "")
        self.variable_inputs[found] = stored
        return found

    def _initial(self, variable: Any) -> Optional[Value]:
        """The first value that this very run gives a variable, for the first value of another."""
        for t in variable.outputs[0].consumers():
            if t.initializes is variable and t in self.operations:
                self.assumed.append(variable)
                return self.top.value(t.inputs[1], t) if t.inputs[1] in self.top.env else None
        return None

    # The last program

    def _last(self, fetches: Sequence[Any], wanted: dict[Value, None]) -> None:
        outputs = dict(wanted)
        for fetch in fetches:
            if isinstance(fetch, Tensor) and (fetch.op in self.top.done or fetch in self.top.env):
                known = self.top.env.get(fetch)
                if isinstance(known, Rows):
                    outputs[known.stacked()] = None
                elif not isinstance(known, (Slot, Literal)) and not of_objects(fetch):
                    outputs[self.fetched(fetch)] = None
        for _, _, given in self._after:
            outputs.update({v: None for v in given if isinstance(v, Value)})
        updates = self.updates()
        if outputs or updates:
            self.program([v for v in outputs if v not in self.slots_of], updates=updates)
        for op, function, given in sorted(self._after, key=lambda row: row[0].number):
            slots = [self.slots_of[v] if isinstance(v, Value) else v for v in given]
            arrays = [v.array if isinstance(v, Literal) else None for v in slots]
            step = called(function, arrays, ()), [v for v in slots if isinstance(v, int)], False
            self.recorder.perform(partial(HostStep, op, *step))
        self._after.clear()

    def fetched(self, tensor: Tensor) -> Value:
        """What is fetched; of the memory of a variable what the last write of the run leaves there.

        TensorFlow copies it out when all is done: `run([train, global_step])` gives the new step.
        """
        variable = tensor.variable if self.written_once else memory_of(tensor, self.top.env)
        if variable is not None and variable in self.top.last:
            return self.top.latest(variable)
        return self.top.value(tensor)

    def updates(self) -> dict[Any, Value]:
        """The new values of what the run writes: variables, and the counters of random draws."""
        return {**self.top.last, **self.top.counters}

    def _slot(self, fetch: Any) -> Optional[int]:
        if isinstance(fetch, Operation):
            return None
        known = self.top.env.get(fetch)
        if isinstance(known, Slot):
            return known.index
        if isinstance(known, Literal):
            array = known.array
            return self.recorder.perform(partial(HostStep, fetch.op, lambda: [array], ()))
        if isinstance(known, Rows):  # a state of the loop that the host runs
            made = partial(host_rows, known)
            slots = [self.slots_of[known.stacked()]]
            return self.recorder.perform(partial(HostStep, fetch.op, made, slots))
        if known is None and of_objects(fetch):
            return self._object(fetch.variable)
        return self.slots_of[self.fetched(fetch)]


class _Branch(Operation):
    """The end of an operation that stands for those of a branch: it comes after these."""

    __slots__ = ("ready", "stands_for", "targets")

    def __init__(self, op: Operation, more: Expand) -> None:
        self.kind, self.name, self.number, self.where = op.kind, op.name, op.number, op.where
        self.inputs, self.outputs, self._control_inputs = op.inputs, op.outputs, ()
        self.targets, self.stands_for = more.targets, op
        self.ready = more.ready


def _operation(target: Any) -> Operation:
    return target if isinstance(target, Operation) else target.op


def _stuck(pending: Sequence[Operation]) -> OpError:
    names = ", ".join([op.name for op in pending[:5]])
    return error_of(pending[0], RuntimeError(f"operations wait for each other: {names}"))
