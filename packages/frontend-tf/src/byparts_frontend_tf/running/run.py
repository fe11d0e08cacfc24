"""One run of a session that has not been seen before: from fetches and feeds to steps, doing them.

Operations are lowered in order.  One that needs a number, or is computed on the host from what a
program gives, waits: when nothing else is left, the program so far is run, and the rest goes on
with what it gave.  Programs are pure, so a later one computes again what it shares with an earlier
one, gradients pass through all of it, and variables are written by the last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from byparts_frontend_tf.graph.late import late
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.static import evaluated
from byparts_frontend_tf.running.errors import FailedPreconditionError, OpError, error_of
from byparts_frontend_tf.running.lowering import (
    Expand,
    Literal,
    Lowering,
    Slot,
    Wanted,
    leaves,
    type_of,
)
from byparts_frontend_tf.running.needed import needed
from byparts_frontend_tf.running.own_gradient import forget
from byparts_frontend_tf.running.programs import Programs
from byparts_frontend_tf.running.store import COUNTERS, DRAWS
from byparts_frontend_tf.running.tree import AskStep, ComputeStep, Finish, HostStep
from byparts_graph_ir import Input, Value

if TYPE_CHECKING:
    from byparts_frontend_tf.running.recorder import Recorder
    from byparts_frontend_tf.running.session import BaseSession

_ASKED = 65536  # elements of what NumPy computes from at each run, at most
_LEAF = 3  # elements of a feed that is asked for itself, rather than a number computed from it


class Run(Programs):
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
        passed: numbers of the rules for gradients that the program says (`own_gradient.py`).
    """

    def __init__(
        self, session: BaseSession, recorder: Recorder, fed: dict[Tensor, int], body: Any = None
    ) -> None:
        super().__init__(session, recorder)
        self.body = body
        self.top = Lowering(self)
        self.fed_variables: dict[Any, int] = {}
        for tensor, slot in fed.items():
            self.top.env[tensor] = Slot(slot)
            if tensor.variable is not None:
                self.fed_variables[tensor.variable] = slot
        self._after: list[tuple[Operation, Callable[..., Any], list[Any]]] = []
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
            if self._waits(op, late) or self._unchecked(op, wanted):
                waiting.append(op)
                late.add(op)
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
        given = [self._host_input(t, op) for t in op.inputs]
        wanted.update({v: None for v in given if isinstance(v, Value)})
        return True

    # The host

    def _call(self, op: Operation) -> None:
        """Compute an operation on the host, now."""
        assert op.kind.host is not None, f"{op.kind} has no meaning"
        function = partial(op.kind.host, **op.attributes)
        kinds = [t.dtype for t in op.outputs]
        dtypes = [d.as_numpy_dtype if d.is_numpy_compatible else None for d in kinds]
        self.call(op, function, op.inputs, dtypes)

    def call(
        self,
        op: Operation,
        function: Callable[..., Any],
        inputs: Sequence[Tensor | Value],
        dtypes: Sequence[Any],
    ) -> None:
        """Compute the outputs of `op` by a function of arrays, now and at each run.

        `dtypes` are NumPy's, or `None` for what is no array.

        Raises:
            Wanted: an input has to be computed first.
        """
        given = [self._host_input(t, op) for t in inputs]
        missing = [v for v in given if isinstance(v, Value)]
        if missing:
            raise Wanted(missing, numbers=False)
        slots = [v for v in given if isinstance(v, int)]
        arrays = [v.array if isinstance(v, Literal) else None for v in given]
        step = partial(HostStep, op, _called(function, arrays, dtypes), slots)
        first = self.recorder.perform(step)
        for i, tensor in enumerate(op.outputs):
            self.top.env.setdefault(tensor, Slot(first + i))
        self.top.done.add(op)

    def _host_input(self, given: Tensor | Value, reader: Operation) -> int | Literal | Value:
        """A slot, a literal, or a value that a program has to give first."""
        known: Any = self.top.env.get(given) if isinstance(given, Tensor) else given
        if isinstance(known, Slot):
            return known.index
        if isinstance(known, Literal):
            return known
        if isinstance(given, Tensor) and known is None and _of_objects(given):
            return self._object(given.variable)
        value = self.top.value(given, reader) if isinstance(given, Tensor) else given
        slot = self.slots_of.get(value)
        if slot is not None:
            return slot
        return value if any(True for _ in leaves(value)) else Literal(self.number(value))

    def _object(self, variable: Any) -> int:
        """The slot with the value of a variable that lives on the host."""
        variables = self.session.variables

        def read() -> list[Any]:
            return [variables.object_of(variable)]

        return self.recorder.perform(partial(HostStep, variable, read, ()))

    def afterwards(
        self, op: Operation, function: Callable[..., Any], inputs: Sequence[Tensor | Value]
    ) -> None:
        """Call a function of arrays when the last program has run: an effect on the world."""
        self._after.append((op, function, [self._host_input(t, op) for t in inputs]))

    def call_on_array(self, op: Operation, function: Callable[..., Any]) -> None:
        """An operation on a TensorArray that is a list on the host."""
        self.call(op, partial(function, **op.attributes), op.inputs, [None])

    def loop_on_host(self, op: Operation) -> None:
        """Run a loop round after round, each a run of its own."""
        loop = late("running.host_loop:HostLoop")(self.session, op)
        inputs: list[Any] = []
        for i, t in enumerate(op.inputs):
            rows = self.top.array_of(t)
            inputs.append(t if rows is None else loop.array_input(i, rows))
        self.call(op, loop, inputs, [None] * len(op.outputs))

    # Numbers and variables

    def decided(self, value: Value) -> bool:
        """Whether a value is known before anything runs: from constants and slots, cheaply."""
        found = list(leaves(value))
        if any(v not in self.slots_of for v in found):
            return value in self.numbers
        return sum(v.type.size for v in found) <= _ASKED

    def number(self, value: Value, of_leaves: bool = True) -> Any:
        """The array that a value is on this path.

        Args:
            value: what is asked for.
            of_leaves: whether the rest may be for the small integers that it is computed from.

        Raises:
            Wanted: a program has to compute it.
        """
        known = self.numbers.get(value)
        if known is not None:
            return known
        found = list(leaves(value))
        if any(v not in self.slots_of for v in found):
            if value in self.slots_of:
                return self._ask(value)
            raise Wanted([value], numbers=True)
        most = max(_LEAF, value.type.size)  # lengths are not asked for where the longest is wanted
        small = of_leaves and all(v.type.size <= most and v.type.dtype[0] in "iu" for v in found)
        for v in found if small else ():
            if v not in self.numbers:
                self._ask(v)
        if small:
            (self.numbers[value],) = evaluated((value,), {v: self.numbers[v] for v in found})
            return self.numbers[value]
        if sum(v.type.size for v in found) > _ASKED:
            raise Wanted([value], numbers=True)
        return self._ask(value)

    def asked(self, function: Callable[..., Any], values: Sequence[Value]) -> Optional[list[Any]]:
        """What a function of decided values gives; the rest is for this very result.

        `None` where it gives `None`.
        """
        known = [self.numbers.get(v) for v in values]
        for i, v in enumerate(values):
            if known[i] is None and not any(True for _ in leaves(v)):
                known[i] = self.number(v)
        if all(a is not None for a in known):
            found: Optional[list[Any]] = function(*known)
            return found
        inputs = list(dict.fromkeys([leaf for v in values for leaf in leaves(v)]))
        slots = [self.slots_of[v] for v in inputs]

        def compute(*arrays: Any) -> Any:
            given = evaluated(tuple(values), dict(zip(inputs, arrays, strict=True)))
            return function(*given)

        first = self.recorder.perform(partial(ComputeStep, compute, slots))
        made: Optional[list[Any]] = self.recorder.slots[first]
        return made

    def _ask(self, value: Value) -> Any:
        """Go on for this very value; by NumPy, from slots."""
        inputs = [(v, self.slots_of[v]) for v in leaves(value)]
        if value in self.slots_of:
            first = self.recorder.perform(partial(AskStep, value, [(value, self.slots_of[value])]))
        else:
            first = self.recorder.perform(partial(AskStep, value, inputs))
        array = self.numbers[value] = np.asarray(self.recorder.slots[first])
        return array

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
                known = variable.__dict__.get("_variable_object")
                reads = variable if known is None else known.value().op  # as TensorFlow blames
                raise FailedPreconditionError(
                    None, reads, f"Attempting to use uninitialized value {variable.name}"
                )
            found = self._reads[variable] = Input(stored.type, None, variable.name, "")
            self.variable_inputs[found] = stored
        return found

    def counter(self, fixed: bool) -> Value:
        """The counter of random draws at the start of the run; the run advances it."""
        stored = self.session.variables.counter(fixed)
        found = Input(stored.type, None, stored.name, "")
        self.variable_inputs[found] = stored
        return found

    def _initial(self, variable: Any) -> Optional[Value]:
        """The first value that this very run gives a variable, for the first value of another."""
        for t in variable.outputs[0].consumers():
            if t.__dict__.get("_initializes") is variable and t in self.operations:
                self.assumed.append(variable)
                return self.top.value(t.inputs[1], t) if t.inputs[1] in self.top.env else None
        return None

    # The last program

    def _last(self, fetches: Sequence[Any], wanted: dict[Value, None]) -> None:
        outputs = dict(wanted)
        for fetch in fetches:
            if isinstance(fetch, Tensor) and (fetch.op in self.top.done or fetch in self.top.env):
                known = self.top.env.get(fetch)
                if not isinstance(known, (Slot, Literal)) and not _of_objects(fetch):
                    outputs[self.top.value(fetch)] = None
        for _, _, given in self._after:
            outputs.update({v: None for v in given if isinstance(v, Value)})
        updates: dict[Any, Value] = dict(self.top.last)
        for fixed, counter in self.top.counters.items():
            updates[COUNTERS[fixed]] = counter + DRAWS
        if outputs or updates:
            self.program([v for v in outputs if v not in self.slots_of], updates=updates)
        for op, function, given in sorted(self._after, key=lambda row: row[0].number):
            slots = [self.slots_of[v] if isinstance(v, Value) else v for v in given]
            arrays = [v.array if isinstance(v, Literal) else None for v in slots]
            called = _called(function, arrays, ())
            indices = [v for v in slots if isinstance(v, int)]
            self.recorder.perform(partial(HostStep, op, called, indices, False))
        self._after.clear()

    def _slot(self, fetch: Any) -> Optional[int]:
        if isinstance(fetch, Operation):
            return None
        known = self.top.env.get(fetch)
        if isinstance(known, Slot):
            return known.index
        if isinstance(known, Literal):
            array = known.array
            return self.recorder.perform(partial(HostStep, fetch.op, lambda: [array], ()))
        if known is None and _of_objects(fetch):
            return self._object(fetch.variable)
        return self.slots_of[self.top.value(fetch)]


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


def _of_objects(tensor: Tensor) -> bool:
    """Whether it is the memory of a variable that lives on the host."""
    return tensor.variable is not None and not tensor.dtype.base_dtype.own


def on_host(op: Operation) -> bool:
    """Whether an operation is computed on the host, beside the arena."""
    kind = op.kind
    if kind.host is None:
        return False
    if kind.meaning is None and kind.special is None:
        return True
    return not all(t.dtype.own for t in (*op.inputs, *op.outputs))


def _called(
    function: Callable[..., Any], literals: Sequence[Any], dtypes: Sequence[Any]
) -> Callable[..., list[Any]]:
    """A function of the arrays that are in slots, giving a list of arrays of these dtypes."""

    def call(*arrays: Any) -> list[Any]:
        rest = iter(arrays)
        made = function(*[next(rest) if a is None else a for a in literals])
        if not dtypes:
            return []
        results = made if isinstance(made, (tuple, list)) and len(dtypes) != 1 else (made,)
        pairs = zip(results, dtypes, strict=True)
        return [r if d is None else np.asarray(r, d) for r, d in pairs]

    return call


def _stuck(pending: Sequence[Operation]) -> OpError:
    names = ", ".join([op.name for op in pending[:5]])
    return error_of(pending[0], RuntimeError(f"operations wait for each other: {names}"))


__all__ = ["Run", "on_host", "type_of"]
