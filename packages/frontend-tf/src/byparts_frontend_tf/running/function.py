"""Functions of arrays that are called often, on small ones: those of `tf.data`.

They are lowered as a run is, once for each shape of what they are given, but no program is built:
the operations of graph-ir are evaluated by NumPy one after the other, which costs some microseconds
each and nothing for a new shape.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.running.explore import Exploration
from byparts_frontend_tf.running.inputs import Inputs
from byparts_frontend_tf.running.plan import do_steps
from byparts_frontend_tf.running.program_steps import Updates, ask_step
from byparts_frontend_tf.running.recorder import Log, Recorder
from byparts_frontend_tf.running.store import Variables
from byparts_frontend_tf.running.tree import Finish, Slots, Step, key_of, type_key
from byparts_graph_ir import Value, producers
from byparts_tf_files.errors import OpError, error_of

if TYPE_CHECKING:
    from byparts_frontend_tf.running.session import BaseSession

_PATHS = 1024  # shapes and numbers whose steps are remembered, at most


class FunctionPlan:
    """Tensors of one graph as a function of others.

    Args:
        session: whose variables are read, and whose resources operations of the host have.
        targets: what is computed.
        fed: what is given.
    """

    def __init__(
        self, session: BaseSession, targets: Sequence[Tensor], fed: Sequence[Tensor]
    ) -> None:
        self._session, self._targets, self._fed = session, targets, fed
        self._first: dict[Any, Step] = {}
        self._paths = 0

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """The arrays of the targets.

        Raises:
            OpError: something went wrong in an operation.
        """
        key = tuple([type_key(a) for a in arrays])
        with np.errstate(all="ignore"):
            return do_steps(self._first, key, list(arrays), self._explore)

    def _explore(self, slots: list[Any], key: Any, log: Log) -> Finish:
        lock = self._session.exploring
        with lock:
            self._paths += 1
            if self._paths > _PATHS:
                self._first.clear()
                self._paths, log = 0, log[:0]
            recorder = Recorder(self._first, key, slots, log, lock)
            fed = {t: i for i, t in enumerate(self._fed)}
            exploration = Exploration(self._session, recorder, fed, steps=EvaluatedSteps)
            end = exploration.finish(self._targets)
            if exploration.assumed:
                self._first.clear()
            return end


class EvaluatedSteps:
    """`Steps` of a function: its operations are evaluated by NumPy, and no program is built.

    Args:
        session: whose variables are read and written.
        inputs: where values come from.
    """

    of_leaves = False  # what a number is computed from is another each time

    def __init__(self, session: BaseSession, inputs: Inputs) -> None:
        self._variables, self._inputs = session.variables, inputs

    def program(self, outputs: Sequence[Value], asked: Sequence[Value], updates: Updates) -> Step:
        """Evaluate operations of graph-ir."""
        return EvaluateStep(self._inputs, self._variables, outputs, asked, updates)

    def ask(self, value: Value) -> Step:
        """Evaluate what one value needs; the rest is for this very value."""
        if value.node is None or value in self._inputs.slot_of:
            return ask_step(value, self._inputs)
        return self.program([value], [value], {})


class EvaluateStep(Step):
    """Evaluate the operations of graph-ir that outputs need, in order.

    Args:
        inputs: where values come from.
        variables: those of the session.
        outputs: the values that are results.
        asked: which of them the rest is specialised on.
        updates: variable -> its new value.
    """

    __slots__ = (
        "_arrays",
        "_asked",
        "_results",
        "_rows",
        "_slots",
        "_stored",
        "_updates",
        "_variables",
    )

    def __init__(
        self,
        inputs: Inputs,
        variables: Variables,
        outputs: Sequence[Value],
        asked: Sequence[Value],
        updates: Updates,
    ) -> None:
        super().__init__()
        self._variables = variables
        places: dict[Value, int] = {}

        def place(value: Value) -> int:
            return places.setdefault(value, len(places))

        wanted = (*outputs, *updates.values())
        nodes = list(producers(wanted))
        self._rows = [
            (n.op.evaluate, [place(v) for v in n.inputs], [place(v) for v in n.outputs])
            for n in nodes
        ]
        self._results = [place(v) for v in outputs]
        self._asked = [outputs.index(v) for v in asked]
        self._updates = [
            (v, variables.target(v, new.type, v.name), place(new)) for v, new in updates.items()
        ]
        leaves = [v for v in places if v.node is None]
        read = inputs.memory_of
        self._slots = [(places[v], inputs.slot_of[v]) for v in leaves if v not in read]
        self._stored = [(places[v], read[v]) for v in leaves if v in read]
        self._arrays: list[Any] = [None] * len(places)
        self._fold({place for place, _ in (*self._slots, *self._stored)})

    def _fold(self, changing: set[int]) -> None:
        """Evaluate now what depends on no input."""
        rest = []
        for evaluate, inputs, outputs in self._rows:
            if changing.isdisjoint(inputs):
                made = evaluate(*[self._arrays[i] for i in inputs])
                for i, array in zip(outputs, made, strict=True):
                    self._arrays[i] = np.asarray(array)
            else:
                changing.update(outputs)
                rest.append((evaluate, inputs, outputs))
        self._rows = rest

    def do(self, slots: Slots) -> Hashable:
        arrays = self._arrays.copy()
        for i, slot in self._slots:
            arrays[i] = slots[slot]
        for i, stored in self._stored:
            arrays[i] = stored.read()
        try:
            for evaluate, inputs, outputs in self._rows:
                made = evaluate(*[arrays[i] for i in inputs])
                for i, array in zip(outputs, made, strict=True):
                    arrays[i] = array
        except (OpError, KeyboardInterrupt):
            raise
        except Exception as error:
            raise error_of(None, error) from error
        results = [np.asarray(arrays[i]) for i in self._results]
        for variable, stored, i in self._updates:
            stored.write(arrays[i])
            self._variables.keep(variable, stored)
        slots += results
        return tuple([key_of(results[i]) for i in self._asked]) if self._asked else None
