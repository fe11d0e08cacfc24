"""What a session knows about fetches with feeds: the steps of each run that was seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from byparts_frontend_tf.running.feeds import Feeds
from byparts_frontend_tf.running.fetches import Fetches
from byparts_frontend_tf.running.recorder import Log, Recorder
from byparts_frontend_tf.running.run import Run
from byparts_frontend_tf.running.tree import Finish, Step

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
        self.built = 0
        self._single = self._fetches.leaves == (fetches,)

    def run(self, feed_dict: Any) -> Any:
        """Run; the values of the fetches in their structure."""
        slots = self._feeds.arrays(feed_dict) if feed_dict else []
        key = tuple([a.shape for a in slots])
        results = self.steps(slots, key)
        return results[0] if self._single else self._fetches.build(results)

    def steps(self, slots: list[Any], key: Any) -> list[Any]:
        """Do the steps; the values of the leaves."""
        children, observed = self.first, key
        log: Log = []
        while True:
            step = children.get(observed)
            if step is None:
                step = self._explore(slots, key, log)
            if isinstance(step, Finish):
                return [
                    None if i is None else slots[i] if slots[i].ndim else slots[i][()]
                    for i in step.slots
                ]
            first = len(slots)
            children, observed = step.children, step.do(slots)
            log.append((step, observed, first))

    def _explore(self, slots: list[Any], key: Any, log: Log) -> Finish:
        self.built += 1
        recorder = Recorder(self.first, key, slots, log)
        fed = {t: i for i, t in enumerate(self._feeds.tensors)}
        run = Run(self._session, recorder, fed)
        end = run.finish(self._fetches.leaves)
        if run.assumed:  # that variables have no value, which they may have next time
            self.first.clear()
        return end
