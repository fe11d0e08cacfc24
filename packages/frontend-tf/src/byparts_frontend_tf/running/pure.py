"""What a session would run for fetches, as one pure graph, without running anything.

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
from byparts_frontend_tf.running.feeds import Feeds
from byparts_frontend_tf.running.fetches import Fetches
from byparts_frontend_tf.running.needed import needed
from byparts_frontend_tf.running.programs import inputs_of
from byparts_frontend_tf.running.recorder import Recorder
from byparts_frontend_tf.running.run import Run
from byparts_frontend_tf.running.signals import Wanted
from byparts_graph_ir import Graph, GraphError, Input, TensorType, Value
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
    return _Described(session, types).graph_of(Fetches(session.graph, fetches).leaves)


class _Described(Run):
    """A run of which no step is done."""

    def __init__(self, session: BaseSession, feeds: Mapping[Tensor, TensorType]) -> None:
        nothing = Recorder({}, None, [], [], session.exploring)
        super().__init__(session, nothing, {t: i for i, t in enumerate(feeds)})
        self._feeds = list(feeds.items())
        self._variable_of: dict[Value, Any] = {}

    def graph_of(self, leaves: Sequence[Any]) -> PureGraph:
        pending = needed(leaves, self.top.env)
        self.operations = set(pending)
        for op in self._pass(pending)[0]:
            raise GraphError(
                f"pure_graph: {op.name!r} ({op.type}), made at {op.where}, is computed on the host "
                "or has a shape that only a run can tell"
            )
        updates = self.updates()
        outputs = [self.fetched(f) for f in leaves if isinstance(f, Tensor)]
        outputs += updates.values()
        found = inputs_of(outputs)
        fed = {v: self._feeds[i][0] for i, v in sorted(self._inputs.items()) if v in found}
        read = {v: self._variable_of[v] for v in found if v not in fed}
        graph = Graph.of((*fed, *read), outputs)
        return PureGraph(graph, tuple(fed.values()), tuple(read.values()), tuple(updates))

    def input_of(self, slot: int) -> Value:
        if slot not in self._inputs:
            tensor, kind = self._feeds[slot]
            self._inputs[slot] = Input(kind, None, tensor.op.name, tensor.op.where)
        return self._inputs[slot]

    def start(self, variable: Any) -> Value:
        slot = self.fed_variables.get(variable)
        if slot is not None:
            return self.input_of(slot)
        if variable not in self._reads:
            stored, memory = self.session.variables.get(variable), variable.outputs[0]
            own = memory.dtype.base_dtype.own
            kind = TensorType(own, memory.dims) if stored is None else stored.type
            self._reads[variable] = self._read(variable, kind)
        return self._reads[variable]

    def counter(self, op: Operation) -> Value:
        return self._read(op, TensorType("i64", ()))

    def _read(self, variable: Any, kind: TensorType) -> Value:
        made = Input(kind, None, variable.name, getattr(variable, "where", ""))
        self._variable_of[made] = variable
        return made

    def has(self, variable: Any) -> bool:
        return True

    def call(
        self, op: Operation, function: Callable[..., Any], inputs: Any, dtypes: Sequence[Any]
    ) -> None:
        raise Wanted((), numbers=False)  # which nothing computes
