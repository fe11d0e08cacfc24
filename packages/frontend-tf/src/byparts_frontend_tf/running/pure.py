"""Pure graph of what a session would run for fetches, built without running anything.

    pure = pure_graph(session, [loss, train], {x: [100, 784], label: [100]})
    print(pure.graph)                 # (feeds, old variables) -> (fetches, new variables)

For passes, planners, pictures and tables.  A variable without a value has the shape it was made
with, and shapes may be partly known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.running.explore import fetched, updates_of
from byparts_frontend_tf.running.feeds import Feeds
from byparts_frontend_tf.running.fetches import Fetches
from byparts_frontend_tf.running.host_calls import Effect, Source
from byparts_frontend_tf.running.inputs import Inputs, inputs_of
from byparts_frontend_tf.running.known import Slot
from byparts_frontend_tf.running.lowering import Lowering
from byparts_frontend_tf.running.needed import needed
from byparts_frontend_tf.running.numbers import Numbers
from byparts_frontend_tf.running.program_steps import ProgramSteps
from byparts_frontend_tf.running.recorder import Recorder
from byparts_frontend_tf.running.run import Run
from byparts_frontend_tf.running.signals import Wanted
from byparts_frontend_tf.running.store import Variables
from byparts_frontend_tf.running.worklist import Worklist
from byparts_graph_ir import Graph, GraphError, Input, TensorType, Value
from byparts_runtime import Variable as Stored
from byparts_tf_files.shape import as_dims

if TYPE_CHECKING:
    from byparts_frontend_tf.running.session import BaseSession


@dataclass(frozen=True)
class PureGraph:
    """A graph, and what its inputs and outputs are.

    Attributes:
        graph: inputs are the feeds, then the variables read; outputs the tensors fetched, then the
            new values of variables.
        fed: the tensors that the leading inputs are; those that nothing needs are left out.
        variables: those that the trailing inputs are: `variable.op`, or an operation that draws,
            for its counter.
        updates: those that the trailing outputs are.
    """

    graph: Graph
    fed: tuple[Tensor, ...]
    variables: tuple[Any, ...]
    updates: tuple[Any, ...]


def pure_graph(session: BaseSession, fetches: Any, feeds: Mapping[Any, Any]) -> PureGraph:
    """The graph of a run that is one program.

    Args:
        session: whose variables are read; nothing in it changes.
        fetches: as of `Session.run`.
        feeds: the shape of each tensor that is fed, `None` where it is not known.

    Raises:
        GraphError: a number decides a shape that only a run can tell, or the host computes a part.
        tf.errors.OpError: an operation cannot be lowered: a placeholder that is not fed.
    """
    tensors = Feeds(session.graph, tuple(feeds)).tensors
    types = {
        t: TensorType(t.dtype.base_dtype.own, as_dims(s))
        for t, s in zip(tensors, feeds.values(), strict=True)
    }
    return _described(session, types, Fetches(session.graph, fetches).leaves)


def _described(
    session: BaseSession, types: Mapping[Tensor, TensorType], leaves: Sequence[Any]
) -> PureGraph:
    recorder = Recorder({}, None, [], [], session.exploring)
    inputs, fed = _DescribedInputs(types), list(types)
    numbers = Numbers(inputs, recorder, ProgramSteps(session, inputs))
    variables = {t.variable: i for i, t in enumerate(fed) if t.variable is not None}
    starts = _DescribedStarts(session.variables, inputs, variables)
    run = Run(session, inputs, numbers, starts, _NothingOnHost())
    top = Lowering(run)
    top.env.update({t: Slot(i) for i, t in enumerate(fed)})
    pending = needed(leaves, top.env)
    run.operations.update(pending)
    for op in Worklist(top).lower(pending).operations:
        raise GraphError(
            f"pure_graph: {op.name!r} ({op.type}), made at {op.where}, is computed on the host "
            "or has a shape that only a run can tell"
        )
    updates = updates_of(top)
    outputs = [fetched(top, f) for f in leaves if isinstance(f, Tensor)]
    outputs += updates.values()
    read = inputs_of(outputs)
    feeds = {v: fed[i] for i, v in sorted(inputs.by_slot.items()) if v in read}
    of_variables = {v: starts.variable_of[v] for v in read if v not in feeds}
    graph = Graph.of((*feeds, *of_variables), outputs)
    return PureGraph(graph, tuple(feeds.values()), tuple(of_variables.values()), tuple(updates))


class _DescribedInputs:
    """`Inputs` of a run of which no step is done: no array is in a slot, only its type is known."""

    def __init__(self, types: Mapping[Tensor, TensorType]) -> None:
        self._types = list(types.items())
        self.by_slot: dict[int, Input] = {}
        self.slot_of: dict[Value, int] = {}
        self.memory_of: dict[Value, Stored] = {}

    def of_slot(self, slot: int) -> Value:
        if slot not in self.by_slot:
            tensor, kind = self._types[slot]
            self.by_slot[slot] = Input(kind, None, tensor.op.name, tensor.op.where)
        return self.by_slot[slot]


class _DescribedStarts:
    """`Starts` of such a run: a variable without a value has the shape that it was made with."""

    def __init__(self, variables: Variables, inputs: Inputs, fed: Mapping[Any, int]) -> None:
        self._variables, self._inputs, self._fed = variables, inputs, fed
        self._reads: dict[Any, Value] = {}
        self.variable_of: dict[Value, Any] = {}

    def has(self, variable: Any) -> bool:
        return True

    def start(self, variable: Any, lowering: Lowering) -> Value:
        slot = self._fed.get(variable)
        if slot is not None:
            return self._inputs.of_slot(slot)
        if variable not in self._reads:
            stored, memory = self._variables.get(variable), variable.outputs[0]
            own = memory.dtype.base_dtype.own
            kind = TensorType(own, memory.dims) if stored is None else stored.type
            self._reads[variable] = self._read(variable, kind)
        return self._reads[variable]

    def counter(self, op: Operation) -> Value:
        return self._read(op, TensorType("i64", ()))

    def _read(self, variable: Any, kind: TensorType) -> Value:
        value = Input(kind, None, variable.name, getattr(variable, "where", ""))
        self.variable_of[value] = variable
        return value


class _NothingOnHost:
    """`Host` of such a run: what it is asked for waits, and nothing ever gives it."""

    def __init__(self) -> None:
        self.effects: list[Effect] = []

    def call(
        self,
        lowering: Lowering,
        op: Operation,
        function: Callable[..., Any],
        inputs: Sequence[Tensor | Value],
        dtypes: Sequence[Any],
    ) -> None:
        raise Wanted((), numbers=False)

    def afterwards(
        self,
        lowering: Lowering,
        op: Operation,
        function: Callable[..., Any],
        inputs: Sequence[Tensor | Value],
    ) -> None:
        """Nothing: a pure graph has no effects on the world."""

    def source(self, lowering: Lowering, given: Tensor | Value, reader: Operation) -> Source:
        return lowering.value(given, reader) if isinstance(given, Tensor) else given

    def object_slot(self, variable: Any) -> int:
        raise Wanted((), numbers=False)

    def is_array(self, lowering: Lowering, tensor: Tensor) -> bool:
        return False
