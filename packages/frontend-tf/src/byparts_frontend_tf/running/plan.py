"""Plans of fetches with feeds: the steps of each run that a session has seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
from numpy import ndarray

from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.running.explore import Exploration
from byparts_frontend_tf.running.feeds import Feeds
from byparts_frontend_tf.running.fetches import Fetches
from byparts_frontend_tf.running.recorder import Log, Recorder
from byparts_frontend_tf.running.tree import Finish, ProgramStep, Step, type_key

if TYPE_CHECKING:
    from byparts_frontend_tf.running.session import BaseSession


class Plan:
    """The steps of runs for these fetches with these tensors fed.

    Attributes:
        first: shapes of the feeds -> the first step.
        built: how many paths were found, each by lowering the graph once.
    """

    def __init__(self, session: BaseSession, fetches: Any, fed: tuple[Any, ...]) -> None:
        self._session = session
        self._fetches = Fetches(session.graph, fetches)
        self._feeds = Feeds(session.graph, fed)
        self.first: dict[Any, Step] = {}
        self._programs: dict[Any, tuple[ProgramStep, list[Optional[int]]]] = {}  # all of a run
        self.built = 0
        self._single = self._fetches.leaves == (fetches,)
        fed_too = [i for i, f in enumerate(self._fetches.leaves) if f in self._feeds.tensors]
        self._fed_too = tuple(fed_too)  # these come as the arrays that are fed

    def run(self, feed_dict: Any) -> Any:
        """Run; the values of the fetches in their structure."""
        slots = self._feeds.arrays(feed_dict) if feed_dict else []
        key = tuple([a.shape for a in slots])
        known = self._programs.get(key)
        if known is None:
            results = self.steps(slots, key)
        else:
            step, places = known
            found = step.results(slots)
            results = [None if i is None else _scalar(found[i]) for i in places]
        return results[0] if self._single else self._fetches.build(results)

    def _remember(self, key: Any) -> None:
        """Remember the quickest way to do a run that is one program and nothing else."""
        step = self.first.get(key)
        places = step.all_of_a_run(len(key)) if isinstance(step, ProgramStep) else None
        if isinstance(step, ProgramStep) and places is not None:
            self._programs[key] = step, places

    def steps(self, slots: list[Any], key: Any) -> list[Any]:
        """Do the steps; the values of the leaves."""
        found = do_steps(self.first, key, slots, self._explore)
        results = [_scalar(v) for v in found]
        for i in self._fed_too:
            results[i] = found[i]
        return results

    def _explore(self, slots: list[Any], key: Any, log: Log) -> Finish:
        lock = self._session.exploring
        with lock:
            self.built += 1
            recorder = Recorder(self.first, key, slots, log, lock)
            fed = {t: i for i, t in enumerate(self._feeds.tensors)}
            exploration = Exploration(self._session, recorder, fed)
            end = exploration.finish(self._fetches.leaves)
            if exploration.assumed:  # that variables have no value, which they may have next time
                self.first.clear()
                self._programs.clear()
            else:
                self._remember(key)
            return end


def _scalar(value: Any) -> Any:
    """A scalar of NumPy for an array of rank 0."""
    return value[()] if value.__class__ is ndarray and not value.ndim else value


def do_steps(
    first: dict[Any, Step],
    key: Any,
    slots: list[Any],
    explore: Callable[[list[Any], Any, Log], Finish],
) -> list[Any]:
    """Do steps until the end, finding out those that were never done; what is fetched."""
    children, observed = first, key
    log: Log = []
    while True:
        step = children.get(observed)
        if step is None:
            step = explore(slots, key, log)
        if isinstance(step, Finish):
            return [None if i is None else slots[i] for i in step.slots]
        begin = len(slots)
        children, observed = step.children, step.do(slots)
        log.append((step, observed, begin))


class BodyPlan:
    """Plan of tensors in the body of a loop, with its states and what it reads fed."""

    def __init__(
        self, session: BaseSession, targets: Sequence[Tensor], fed: Sequence[Tensor], body: Any
    ) -> None:
        self._session, self._targets, self._fed, self._body = session, targets, fed, body
        self._first: dict[Any, Step] = {}

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        """The values of the targets."""
        slots = [np.asarray(v) if isinstance(v, np.generic) else v for v in values]
        key = tuple([type_key(v) for v in slots])
        return do_steps(self._first, key, slots, self._explore)

    def _explore(self, slots: list[Any], key: Any, log: Log) -> Finish:
        lock = self._session.exploring
        with lock:
            recorder = Recorder(self._first, key, slots, log, lock)
            fed = {t: i for i, t in enumerate(self._fed)}
            exploration = Exploration(self._session, recorder, fed, self._body)
            end = exploration.finish(self._targets)
            if exploration.assumed:
                self._first.clear()
            return end
