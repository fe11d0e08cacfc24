"""Numbers that decide how a run goes on: known ones, and those that it asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from byparts_frontend_tf.graph.static import evaluated
from byparts_frontend_tf.running.known import leaves
from byparts_frontend_tf.running.programs import Programs
from byparts_frontend_tf.running.signals import Wanted
from byparts_frontend_tf.running.tree import AskStep, ComputeStep
from byparts_graph_ir import Value

if TYPE_CHECKING:
    pass

_ASKED = 65536  # elements of what NumPy computes from at each run, at most
_LEAF = 3  # elements of a feed that is asked for itself, rather than a number computed from it


class Numbers(Programs):
    """What a run knows of values: the rest of the run is for these very numbers."""

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
