"""Exploration of a run that has not been seen before: from fetches and feeds to steps.

Operations are lowered in order.  When nothing else can be lowered, the program so far is run, and
the rest goes on with what it gave.  Programs are pure, so a later one computes again what it shares
with an earlier one, gradients pass through all of it, and variables are written by the last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Optional

from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.running.arrays import Rows
from byparts_frontend_tf.running.fetches import memory_of
from byparts_frontend_tf.running.host_arrays import host_rows
from byparts_frontend_tf.running.host_calls import HostCalls, called, of_objects
from byparts_frontend_tf.running.inputs import Inputs, SlotInputs
from byparts_frontend_tf.running.known import Literal, Slot
from byparts_frontend_tf.running.lowering import Lowering
from byparts_frontend_tf.running.needed import needed
from byparts_frontend_tf.running.numbers import Numbers
from byparts_frontend_tf.running.own_gradient import forget
from byparts_frontend_tf.running.program_steps import ProgramSteps, Steps, Updates
from byparts_frontend_tf.running.recorder import Recorder
from byparts_frontend_tf.running.run import Run
from byparts_frontend_tf.running.starts import StoredStarts
from byparts_frontend_tf.running.tree import Finish, HostStep
from byparts_frontend_tf.running.worklist import Waiting, Worklist, stuck, trailing
from byparts_graph_ir import Value

if TYPE_CHECKING:
    from byparts_frontend_tf.running.session import BaseSession


class Exploration:
    """Finds the steps of a run, and does them.

    Args:
        session: whose variables and programs.
        recorder: does the steps.
        fed: tensor -> the slot of what is fed for it.
        body: where the fetches are: `None`, or the body of a loop that the host runs.
        steps: from a session and the inputs of the run to what makes its steps.
    """

    def __init__(
        self,
        session: BaseSession,
        recorder: Recorder,
        fed: Mapping[Tensor, int],
        body: Any = None,
        steps: Callable[[BaseSession, Inputs], Steps] = ProgramSteps,
    ) -> None:
        self._recorder, self._inputs = recorder, SlotInputs(recorder.slots)
        self._steps = steps(session, self._inputs)
        self._numbers = Numbers(self._inputs, recorder, self._steps)
        self._host = HostCalls(session, self._inputs, self._numbers, recorder)
        variables = {t.variable: slot for t, slot in fed.items() if t.variable is not None}
        self._starts = StoredStarts(session.variables, self._inputs, variables)
        self._run = Run(session, self._inputs, self._numbers, self._starts, self._host, body)
        self._top = Lowering(self._run)
        self._top.env.update({tensor: Slot(slot) for tensor, slot in fed.items()})

    @property
    def assumed(self) -> Sequence[Any]:
        """Variables that have no value, which the steps are true for."""
        return self._starts.assumed

    def finish(self, fetches: Sequence[Any]) -> Finish:
        """Do all steps; the last one says where the fetches are."""
        work = Worklist(self._top)
        pending = needed(fetches, self._top.env, self._run.body)
        self._run.operations.update(pending)
        left = self._all_but_the_last(work, pending)
        self._last(fetches, left.wanted)
        pending = left.operations
        while pending:
            before = pending
            pending = work.lower(pending).operations
            if len(pending) == len(before):
                raise stuck(pending)
        end = Finish([self._slot(f) for f in fetches])
        self._recorder.end(end)
        forget(self._run.passed)
        return end

    def _all_but_the_last(self, work: Worklist, pending: Sequence[Operation]) -> Waiting:
        """Run programs until what is left may come after the last one."""
        while True:
            left = work.lower(pending)
            pending = left.operations
            if not pending or all(trailing(op) for op in pending):
                return left
            if left.wanted:
                self._program(list(left.wanted), asked=list(left.numbers))
            elif work.in_order:  # what waits for an effect is no effect: checks come late
                work.in_order = False
            else:
                raise stuck(pending)

    def _program(
        self,
        outputs: Sequence[Value],
        asked: Sequence[Value] = (),
        updates: Optional[Updates] = None,
    ) -> None:
        """Run a program that computes these; the rest is for the very numbers in `asked`."""
        first = self._recorder.perform(lambda: self._steps.program(outputs, asked, updates or {}))
        for i, v in enumerate(outputs):
            self._inputs.slot_of.setdefault(v, first + i)
        for v in asked:
            self._numbers.known[v] = self._recorder.slots[self._inputs.slot_of[v]]

    def _last(self, fetches: Sequence[Any], wanted: Mapping[Value, None]) -> None:
        """Run the last program, and the effects on what it computed."""
        top, slot_of = self._top, self._inputs.slot_of
        outputs = dict(wanted)
        for fetch in fetches:
            if isinstance(fetch, Tensor) and (fetch.op in top.done or fetch in top.env):
                known = top.env.get(fetch)
                if isinstance(known, Rows):
                    outputs[known.stacked()] = None
                elif not isinstance(known, (Slot, Literal)) and not of_objects(fetch):
                    outputs[fetched(top, fetch)] = None
        effects = self._host.effects
        for effect in effects:
            outputs.update({v: None for v in effect.inputs if isinstance(v, Value)})
        updates = updates_of(top)
        if outputs or updates:
            self._program([v for v in outputs if v not in slot_of], updates=updates)
        for effect in sorted(effects, key=lambda effect: effect.op.number):
            sources = [slot_of[v] if isinstance(v, Value) else v for v in effect.inputs]
            arrays = [v.array if isinstance(v, Literal) else None for v in sources]
            slots = [v for v in sources if isinstance(v, int)]
            function = called(effect.function, arrays, ())
            self._recorder.perform(partial(HostStep, effect.op, function, slots, False))
        effects.clear()

    def _slot(self, fetch: Any) -> Optional[int]:
        if isinstance(fetch, Operation):
            return None
        known = self._top.env.get(fetch)
        if isinstance(known, Slot):
            return known.index
        if isinstance(known, Literal):
            array = known.array
            return self._recorder.perform(partial(HostStep, fetch.op, lambda: [array], ()))
        if isinstance(known, Rows):  # a state of the loop that the host runs
            made = partial(host_rows, known)
            slots = [self._inputs.slot_of[known.stacked()]]
            return self._recorder.perform(partial(HostStep, fetch.op, made, slots))
        if known is None and of_objects(fetch):
            return self._host.object_slot(fetch.variable)
        return self._inputs.slot_of[fetched(self._top, fetch)]


def fetched(lowering: Lowering, tensor: Tensor) -> Value:
    """Value of a fetch; of a variable's memory what the last write of the run leaves there.

    TensorFlow copies it out when all is done: `run([train, global_step])` gives the new step.
    """
    written_once = lowering.run.session.written_once
    variable = tensor.variable if written_once else memory_of(tensor, lowering.env)
    if variable is not None and variable in lowering.variables.last:
        return lowering.variables.latest(variable)
    return lowering.value(tensor)


def updates_of(lowering: Lowering) -> dict[Any, Value]:
    """The new values of what the run writes: variables, and the counters of random draws."""
    return {**lowering.variables.last, **lowering.counters}
