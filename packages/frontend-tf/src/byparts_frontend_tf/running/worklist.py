"""Lowering the operations that a run needs, in order; what has to wait is tried again.

An operation that needs a number, or is computed on the host from what a program gives, waits, and
what reads it waits, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.running.host_calls import on_host
from byparts_frontend_tf.running.lowering import Lowering
from byparts_frontend_tf.running.needed import needed
from byparts_frontend_tf.running.signals import Expand, Wanted
from byparts_graph_ir import Value
from byparts_tf_files.errors import OpError, error_of


class Waiting(NamedTuple):
    """Operations that are left after a pass, and what they wait for.

    Attributes:
        operations: wait.
        wanted: the values that they wait for.
        numbers: those of `wanted` that are wanted as numbers.
    """

    operations: list[Operation]
    wanted: dict[Value, None]
    numbers: dict[Value, None]


class Worklist:
    """Lowers operations of a run.

    Args:
        lowering: that of the run itself.

    Attributes:
        in_order: whether effects wait for the checks before them, which come after the last
            program.
    """

    def __init__(self, lowering: Lowering) -> None:
        self._top, self._host = lowering, lowering.run.host
        self.in_order = True

    def lower(self, pending: Sequence[Operation]) -> Waiting:
        """Lower what can be lowered now."""
        waiting: list[Operation] = []
        late: set[Operation] = set()
        wanted: dict[Value, None] = {}
        numbers: dict[Value, None] = {}
        todo = list(reversed(pending))
        while todo:
            op = todo.pop()
            waits = self._waits(op, late)
            if waits or self._unchecked(op, wanted):
                if waits and trailing(op):
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
                todo.extend(reversed(needed(more.targets, self._top.known, more.body)))
            except Wanted as w:
                wanted.update(dict.fromkeys(w.values))
                if w.numbers:
                    numbers.update(dict.fromkeys(w.values))
                waiting.append(op)
                late.add(op)
        return Waiting(waiting, wanted, numbers)

    def _waits(self, op: Operation, late: set[Operation]) -> bool:
        if not late:
            return False
        env = self._top.env
        if isinstance(op, _Branch):
            return any(_operation(t) in late and t not in env for t in op.targets)
        return any(c in late for c in op._control_inputs) or any(
            t.op in late and t not in env for t in op.inputs
        )

    def _lower(self, op: Operation) -> None:
        try:
            if on_host(op):
                self._top.variables.order(op)
                self._call(op)
            else:
                self._top.lower(op)
        except (OpError, Wanted, Expand, KeyboardInterrupt):
            raise
        except Exception as error:
            raise error_of(op, error) from error

    def _call(self, op: Operation) -> None:
        """Compute an operation on the host, now."""
        assert op.kind.host is not None, f"{op.kind} has no meaning"
        function = partial(op.kind.host, **op.attributes)
        kinds = [t.dtype for t in op.outputs]
        dtypes = [d.as_numpy_dtype if d.is_numpy_compatible else None for d in kinds]
        self._host.call(self._top, op, function, op.inputs, dtypes)

    def _unchecked(self, op: Operation, wanted: dict[Value, None]) -> bool:
        """Whether `op` is an effect that waits for checks, which come after the last program.

        What it reads is wanted then.
        """
        if not (self._host.effects and op.kind.effect and self.in_order):
            return False
        checks = {effect.op for effect in self._host.effects}
        if not any(before in checks for before in needed([op], ())):
            return False
        self._want(op.inputs, op, wanted)
        return True

    def _want(self, inputs: Sequence[Tensor], op: Operation, wanted: dict[Value, None]) -> None:
        """Ask the next program for the values that an operation of the host reads."""
        sources = [self._host.source(self._top, t, op) for t in inputs]
        wanted.update({v: None for v in sources if isinstance(v, Value)})


class _Branch(Operation):
    """The end of an operation that stands for those of a branch: it comes after these."""

    __slots__ = ("ready", "stands_for", "targets")

    def __init__(self, op: Operation, more: Expand) -> None:
        self.kind, self.name, self.number, self.where = op.kind, op.name, op.number, op.where
        self.inputs, self.outputs, self._control_inputs = op.inputs, op.outputs, ()
        self.targets, self.stands_for = more.targets, op
        self.ready = more.ready


def trailing(op: Operation) -> bool:
    """Whether an operation may come after the last program."""
    return not isinstance(op, _Branch) and (on_host(op) or op.type == "NoOp")


def stuck(pending: Sequence[Operation]) -> OpError:
    """An error that names operations that wait for each other."""
    names = ", ".join([op.name for op in pending[:5]])
    return error_of(pending[0], RuntimeError(f"operations wait for each other: {names}"))


def _operation(target: Any) -> Operation:
    return target if isinstance(target, Operation) else target.op
