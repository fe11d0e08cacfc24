"""Doing the steps of a run for the first time, while they are found out."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from byparts_frontend_tf.running.tree import HostStep, Slots, Step

Log = list[tuple[Step, Hashable, int]]  # step, what was observed, where its results begin


class Recorder:
    """Appends steps to a tree and does them.

    Args:
        children: where the first step is, or is put.
        key: under which key.
        slots: the feeds, and the results so far.
        log: steps of this run that are done already, on a path that ends in a place not seen
            before.
        lock: held while steps are found out, and given back while the host does one: a queue may
            wait for what another thread runs.
    """

    def __init__(
        self, children: dict[Hashable, Step], key: Hashable, slots: Slots, log: Log, lock: Any
    ) -> None:
        self.slots, self._lock = slots, lock
        self._children, self._key, self._log, self._at = children, key, log, 0

    def perform(self, make: Callable[[], Step]) -> int:
        """Do the next step, if this run has not done it yet; the slot of its first result."""
        if self._at == len(self._log):
            step = self._children.get(self._key)
            if step is None:
                step = self._children[self._key] = make()
            first = len(self.slots)
            self._log.append((step, self._done(step), first))
        step, key, first = self._log[self._at]
        self._at += 1
        self._children, self._key = step.children, key
        return first

    def _done(self, step: Step) -> Hashable:
        if not isinstance(step, HostStep):
            return step.do(self.slots)
        self._lock.release()
        try:
            return step.do(self.slots)
        finally:
            self._lock.acquire()

    def end(self, finish: Step) -> None:
        """Nothing comes after the steps so far."""
        self._children[self._key] = finish
