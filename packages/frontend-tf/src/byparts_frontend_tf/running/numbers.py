"""Numbers that decide how a run goes on: known ones, and those that it asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.graph.static import evaluated
from byparts_frontend_tf.running.inputs import Inputs
from byparts_frontend_tf.running.known import leaves
from byparts_frontend_tf.running.program_steps import Steps
from byparts_frontend_tf.running.recorder import Recorder
from byparts_frontend_tf.running.signals import Wanted
from byparts_frontend_tf.running.tree import ComputeStep
from byparts_graph_ir import Value

_ASKED = 65536  # elements of what NumPy computes from at each run, at most
_LEAF = 3  # elements of a feed that is asked for itself, rather than a number computed from it


class Numbers:
    """Numbers that a run knows of its values: the rest of the run is for these very numbers.

    Args:
        inputs: where values come from.
        recorder: does the steps that compute a number.
        steps: makes them.

    Attributes:
        known: value -> the array it is known to be, on this path.
    """

    def __init__(self, inputs: Inputs, recorder: Recorder, steps: Steps) -> None:
        self._inputs, self._recorder, self._steps = inputs, recorder, steps
        self.known: dict[Value, Any] = {}

    def decided(self, value: Value) -> bool:
        """Whether a value is known before anything runs: from constants and slots, cheaply."""
        read = list(leaves(value))
        if any(v not in self._inputs.slot_of for v in read):
            return value in self.known
        return sum(v.type.size for v in read) <= _ASKED

    def number(self, value: Value, of_leaves: bool = True) -> Any:
        """The array that a value is on this path.

        Args:
            value: what is asked for.
            of_leaves: whether the rest may be for the small integers that it is computed from.

        Raises:
            Wanted: a program has to compute it.
        """
        known = self.known.get(value)
        if known is not None:
            return known
        read = list(leaves(value))
        if any(v not in self._inputs.slot_of for v in read):
            if value in self._inputs.slot_of:
                return self._ask(value)
            raise Wanted([value], numbers=True)
        if of_leaves and self._steps.of_leaves and _small(value, read):
            for v in read:
                if v not in self.known:
                    self._ask(v)
            (self.known[value],) = evaluated((value,), {v: self.known[v] for v in read})
            return self.known[value]
        if sum(v.type.size for v in read) > _ASKED:
            raise Wanted([value], numbers=True)
        return self._ask(value)

    def asked(self, function: Callable[..., Any], values: Sequence[Value]) -> Optional[list[Any]]:
        """Result of a function of decided values; the rest is for this very result.

        `None` where it gives `None`.
        """
        known = [self.known.get(v) for v in values]
        for i, v in enumerate(values):
            if known[i] is None and not any(True for _ in leaves(v)):
                known[i] = self.number(v)
        if all(a is not None for a in known):
            result: Optional[list[Any]] = function(*known)
            return result
        inputs = list(dict.fromkeys([leaf for v in values for leaf in leaves(v)]))
        slots = [self._inputs.slot_of[v] for v in inputs]

        def compute(*arrays: Any) -> Any:
            given = evaluated(tuple(values), dict(zip(inputs, arrays, strict=True)))
            return function(*given)

        first = self._recorder.perform(partial(ComputeStep, compute, slots))
        made: Optional[list[Any]] = self._recorder.slots[first]
        return made

    def _ask(self, value: Value) -> Any:
        """Go on for this very value."""
        first = self._recorder.perform(lambda: self._steps.ask(value))
        array = self.known[value] = np.asarray(self._recorder.slots[first])
        return array


def _small(value: Value, read: Sequence[Value]) -> bool:
    """Whether what a value is computed from is a few integers.

    Lengths are not asked for where the longest is wanted.
    """
    most = max(_LEAF, value.type.size)
    return all(v.type.size <= most and v.type.dtype[0] in "iu" for v in read)
