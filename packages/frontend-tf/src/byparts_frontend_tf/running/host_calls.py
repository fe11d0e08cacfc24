"""Operations of a run that the host computes, beside the arena."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.running.host_arrays import HostRows
from byparts_frontend_tf.running.inputs import Inputs
from byparts_frontend_tf.running.known import Literal, Slot, leaves
from byparts_frontend_tf.running.numbers import Numbers
from byparts_frontend_tf.running.recorder import Recorder
from byparts_frontend_tf.running.signals import Wanted
from byparts_frontend_tf.running.tree import HostStep
from byparts_graph_ir import Value

if TYPE_CHECKING:
    from byparts_frontend_tf.running.lowering import Lowering
    from byparts_frontend_tf.running.session import BaseSession

Source = int | Literal | Value  # a slot, a literal, or a value that a program has to give first


class Effect(NamedTuple):
    """A function of arrays that is called when the last program has run."""

    op: Operation
    function: Callable[..., Any]
    inputs: list[Source]


class Host(Protocol):
    """Calls of a run on arrays.  `lowering` is always that of the run itself, of no body.

    Attributes:
        effects: to be called when the last program has run.
    """

    effects: list[Effect]

    def call(
        self,
        lowering: Lowering,
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

    def afterwards(
        self,
        lowering: Lowering,
        op: Operation,
        function: Callable[..., Any],
        inputs: Sequence[Tensor | Value],
    ) -> None:
        """Call a function of arrays when the last program has run: an effect on the world."""

    def source(self, lowering: Lowering, given: Tensor | Value, reader: Operation) -> Source:
        """Source at which the host finds what the operation `reader` reads."""

    def object_slot(self, variable: Any) -> int:
        """The slot with the value of a variable that lives on the host."""

    def is_array(self, lowering: Lowering, tensor: Tensor) -> bool:
        """Whether a tensor is a TensorArray that is a list on the host."""


class HostCalls:
    """`Host` of a run that is done.

    Args:
        session: whose variables may live on the host.
        inputs: where values come from.
        numbers: what is known of values.
        recorder: does the steps.
    """

    def __init__(
        self, session: BaseSession, inputs: Inputs, numbers: Numbers, recorder: Recorder
    ) -> None:
        self._session, self._inputs = session, inputs
        self._numbers, self._recorder = numbers, recorder
        self.effects: list[Effect] = []

    def call(
        self,
        lowering: Lowering,
        op: Operation,
        function: Callable[..., Any],
        inputs: Sequence[Tensor | Value],
        dtypes: Sequence[Any],
    ) -> None:
        """See `Host.call`."""
        given = [self.source(lowering, t, op) for t in inputs]
        missing = [v for v in given if isinstance(v, Value)]
        if missing:
            raise Wanted(missing, numbers=False)
        slots = [v for v in given if isinstance(v, int)]
        arrays = [v.array if isinstance(v, Literal) else None for v in given]
        step = partial(HostStep, op, called(function, arrays, dtypes), slots)
        first = self._recorder.perform(step)
        for i, tensor in enumerate(op.outputs):
            lowering.env.setdefault(tensor, Slot(first + i))
        lowering.done.add(op)

    def source(self, lowering: Lowering, given: Tensor | Value, reader: Operation) -> Source:
        """See `Host.source`."""
        known: Any = lowering.env.get(given) if isinstance(given, Tensor) else given
        if isinstance(known, Slot):
            return known.index
        if isinstance(known, Literal):
            return known
        if isinstance(given, Tensor) and known is None and of_objects(given):
            return self.object_slot(given.variable)
        value = lowering.value(given, reader) if isinstance(given, Tensor) else given
        slot = self._inputs.slot_of.get(value)
        if slot is not None:
            return slot
        return value if any(True for _ in leaves(value)) else Literal(self._numbers.number(value))

    def object_slot(self, variable: Any) -> int:
        """See `Host.object_slot`."""
        variables = self._session.variables

        def read() -> list[Any]:
            return [variables.object_of(variable)]

        return self._recorder.perform(partial(HostStep, variable, read, ()))

    def afterwards(
        self,
        lowering: Lowering,
        op: Operation,
        function: Callable[..., Any],
        inputs: Sequence[Tensor | Value],
    ) -> None:
        """See `Host.afterwards`."""
        self.effects.append(Effect(op, function, [self.source(lowering, t, op) for t in inputs]))

    def is_array(self, lowering: Lowering, tensor: Tensor) -> bool:
        """See `Host.is_array`."""
        known = lowering.env.get(tensor)
        return isinstance(known, Slot) and isinstance(self._recorder.slots[known.index], HostRows)


def of_objects(tensor: Tensor) -> bool:
    """Whether `tensor` is the memory of a variable that lives on the host."""
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
