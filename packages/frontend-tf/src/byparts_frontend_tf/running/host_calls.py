"""Operations of a run that the host computes, beside the arena."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.running.host_arrays import HostRows
from byparts_frontend_tf.running.known import Literal, Slot, leaves
from byparts_frontend_tf.running.lowering import Lowering
from byparts_frontend_tf.running.signals import Wanted
from byparts_frontend_tf.running.tree import HostStep
from byparts_graph_ir import Value

if TYPE_CHECKING:
    pass

from byparts_frontend_tf.running.numbers import Numbers


class HostCalls(Numbers):
    """What a run calls on arrays: now and at each run, or when the last program has run.

    Attributes:
        top: the lowering of the run itself.
    """

    top: Lowering
    _after: list[tuple[Operation, Callable[..., Any], list[Any]]]

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
        step = partial(HostStep, op, called(function, arrays, dtypes), slots)
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
        if isinstance(given, Tensor) and known is None and of_objects(given):
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

    def is_host_array(self, tensor: Tensor) -> bool:
        """Whether a tensor is a TensorArray that is a list on the host."""
        known = self.top.env.get(tensor)
        return isinstance(known, Slot) and isinstance(self.recorder.slots[known.index], HostRows)

    def loop_on_host(self, op: Operation) -> None:
        """Run a loop round after round, each a run of its own."""
        loop = self.session.host_loop(op)
        inputs: list[Any] = []
        for i, t in enumerate(op.inputs):
            rows = self.top.array_of(t)
            inputs.append(t if rows is None else loop.array_input(i, rows))
        self.call(op, loop, inputs, [None] * len(op.outputs))


def of_objects(tensor: Tensor) -> bool:
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


def called(
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
