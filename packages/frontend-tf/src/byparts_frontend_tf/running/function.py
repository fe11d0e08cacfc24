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
from byparts_frontend_tf.running.plan import do_steps
from byparts_frontend_tf.running.programs import Programs, Updates
from byparts_frontend_tf.running.recorder import Log, Recorder
from byparts_frontend_tf.running.run import Run
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
            run = _FunctionRun(self._session, recorder, fed)
            end = run.finish(self._targets)
            if run.assumed:
                self._first.clear()
            return end


class _FunctionRun(Run):
    """A run whose programs are evaluated by NumPy."""

    def number(self, value: Value, of_leaves: bool = True) -> Any:
        """As for all runs, but not for what it is computed from: that is another each time."""
        return super().number(value, of_leaves=False)

    def _ask(self, value: Value) -> Any:
        if value.node is None or value in self.slots_of:
            return super()._ask(value)
        first = self.recorder.perform(lambda: EvaluateStep(self, [value], [value], {}))
        array = self.numbers[value] = np.asarray(self.recorder.slots[first])
        return array

    def _built(self, outputs: Sequence[Value], asked: Sequence[Value], updates: Updates) -> Step:
        return EvaluateStep(self, outputs, asked, updates)


class EvaluateStep(Step):
    """Evaluate the operations of graph-ir that outputs need, in order.

    Args:
        programs: says where inputs come from.
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
        self, programs: Programs, outputs: Sequence[Value], asked: Sequence[Value], updates: Updates
    ) -> None:
        super().__init__()
        variables = self._variables = programs.session.variables
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
        read = programs.variable_inputs
        self._slots = [(places[v], programs.slots_of[v]) for v in leaves if v not in read]
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
