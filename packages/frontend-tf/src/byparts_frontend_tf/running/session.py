"""Sessions: they own the values of variables, and keep what they made of fetches.

    with tf.Session() as session:
        loss, _ = session.run([cross_entropy, train], feed_dict={x: images, y: labels})

A call costs what finds the plan of its fetches, what makes arrays of its feeds, and the program.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.running.fetches import key_of
from byparts_frontend_tf.running.plan import Plan
from byparts_frontend_tf.running.planning import quick_planner
from byparts_frontend_tf.running.stack import default_session
from byparts_frontend_tf.running.store import Variables
from byparts_frontend_tf.running.waiting import Waiting, time_limit
from byparts_graph_ir.fork import make_lock
from byparts_runtime import Executor

_PLANS = 1024  # sets of fetches and feeds whose plan is remembered
_PROGRAMS = 512
# Of all sessions.  "backends": of those that are given none.  "wait": whether the first run waits
# for a compiler; most programs end before that is worth its time (docs/tf1.md).
defaults: dict[str, Any] = {"backends": "auto", "wait": os.environ.get("BYPARTS_WAIT") == "1"}


class BaseSession:
    """Runs operations of a graph.

    Args:
        target: accepted; there is one process.
        graph: by default the default graph.
        config: a `ConfigProto`, or words ("gpu fusion"); most of it needs no heed here.
        backends: names or backends, best first; by default all that start.

    Attributes:
        written_once: whether a run may write a variable once only, and a variable that is fetched
            beside its assignment has the new value: TinyFlow's rule.
        variables: their values.
        executor: builds and keeps the programs.
    """

    written_once = False

    def __init__(
        self,
        target: Any = "",
        graph: Optional[Graph] = None,
        config: Any = None,
        backends: Any = None,
    ) -> None:
        if target is not None and not isinstance(target, (str, bytes)):
            raise TypeError(f"target must be a string, but got {target!r}")
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {graph!r}")
        self.sess_str, self._config = target, config
        self._timeout_ms = getattr(config, "operation_timeout_in_ms", 0) or None
        self._backends = defaults["backends"] if backends is None else backends
        self._graph = get_default_graph() if graph is None else graph
        self.variables = Variables(lambda: self.executor.backends[0].space)
        self._plans: dict[Any, Plan] = {}
        self._made_for = (0, 0)
        self._closed = False
        self._executor: Optional[Executor] = None
        self._first: Optional[Executor] = None
        self._lock = make_lock()
        self.exploring = make_lock()  # held while the steps of a run are found out
        self._as_default: list[Any] = []
        self.kept: dict[
            Any, Any
        ] = {}  # what other modules keep for this session: queues, iterators

    @property
    def executor(self) -> Executor:
        """Builds and keeps the programs; made when first needed."""
        if self._executor is None:
            with self._lock:
                if self._executor is None:
                    self._executor = Executor(
                        backends=self._backends,
                        capacity=_PROGRAMS,
                        planner=quick_planner(),
                        wait=defaults["wait"],
                    )
        return self._executor

    @property
    def first_executor(self) -> Executor:
        """Builds programs that run once, such as initialisers: not with generated code.

        Draws are the same on all backends.
        """
        if self._first is None:
            usual = self.executor
            names = [b.name for b in usual.backends]
            plain = "numpy" in names[1:] and usual.backends[0].space.name == "host"
            self._first = Executor(backends=("numpy",), planner=None) if plain else usual
        return self._first

    @property
    def graph(self) -> Graph:
        """The graph whose operations it runs."""
        return self._graph

    @property
    def graph_def(self) -> Any:
        """The graph as a message of TensorFlow's files."""
        return self._graph.as_graph_def()

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """The values of `fetches`, in its own structure.

        Args:
            fetches: a tensor, a variable, an operation, a name; lists, tuples and dicts of fetches.
            feed_dict: arrays for placeholders, or for any other tensor.
            options: its `timeout_in_ms` limits how long queues wait.
            run_metadata: accepted.

        Returns:
            NumPy arrays, NumPy scalars for those of rank 0, and `None` for operations.

        Raises:
            RuntimeError: the session is closed.
            tf.errors.OpError: something went wrong in an operation; variables are as they were.
        """
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        plan = self._plan(fetches, tuple(feed_dict) if feed_dict else ())
        if options is None and self._timeout_ms is None:
            return plan.run(feed_dict)
        with time_limit(getattr(options, "timeout_in_ms", 0) or self._timeout_ms):
            return plan.run(feed_dict)

    def _plan(self, fetches: Any, fed: tuple[Any, ...]) -> Plan:
        made_for = (self.variables.moved, self._graph.changes)
        if made_for != self._made_for:
            with self._lock:
                self._plans.clear()
                self._made_for = made_for
        key = fetches if fetches.__class__ is not list else key_of(fetches), fed
        try:
            plan = self._plans.get(key)
        except TypeError:  # lists inside have no hash
            key = key_of(fetches), fed
            plan = self._plans.get(key)
        if plan is None:
            with self._lock:  # threads that run the same share one plan
                plan = self._plans.get(key)
                if plan is None:
                    plan = Plan(self, fetches, fed)
                    if len(self._plans) >= _PLANS:
                        self._plans.pop(next(iter(self._plans)))
                    self._plans[key] = plan
        return plan

    def make_callable(
        self, fetches: Any, feed_list: Optional[Sequence[Any]] = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """A function of the values of `feed_list` that runs `fetches`."""
        keys = tuple(feed_list or ())

        def call(*values: Any, **_: Any) -> Any:
            if len(values) != len(keys):
                raise ValueError(f"Expected {len(keys)} feeds, got {len(values)}")
            return self.run(fetches, dict(zip(keys, values, strict=True)))

        return call

    def keep(self, key: Any, make: Callable[[], Any]) -> Any:
        """Find the object that is kept under a key for this session; made by whoever asks first."""
        with self._lock:
            if key not in self.kept:
                self.kept[key] = make()
            return self.kept[key]

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> Any:
        """Refused.

        Raises:
            NotImplementedError: always; run the parts one by one, feeding what was fetched.
        """
        raise NotImplementedError(
            "partial_run keeps what is half done between calls, and programs here are whole: run "
            "the first fetches, then run the others and feed what you have"
        )

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        """Refused.

        Raises:
            NotImplementedError: always.
        """
        return self.partial_run_setup(fetches)

    def as_default(self) -> Any:
        """The default session inside the block; it stays open at its end."""
        return default_session(self)

    def list_devices(self) -> list[Any]:
        """Names of the devices that compute: the backends."""
        return [b.name for b in self.executor.backends]

    def close(self) -> None:
        """Forget all variables and programs; nothing runs afterwards."""
        self._closed = True
        for kept in list(self.kept.values()):
            if isinstance(kept, Waiting):
                kept.cancel()
        self._plans.clear()
        self.variables.clear()
        if self._executor is not None:
            self._executor.clear()

    def load(self, variable: Any, value: Any) -> None:
        """Give a variable a value."""
        self.variables.write(variable.op, np.asarray(value), variable.op.name)


class Session(BaseSession):
    """A session that is used in a `with` block: the default one inside, closed at its end."""

    def __enter__(self) -> Session:
        graph, session = self._graph.as_default(), self.as_default()
        graph.__enter__()
        session.__enter__()
        self._as_default.append((graph, session))
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        graph, session = self._as_default.pop()
        session.__exit__(kind, error, trace)
        graph.__exit__(kind, error, trace)
        self.close()


class InteractiveSession(BaseSession):
    """A session that is the default one from its making until it is closed."""

    def __init__(
        self,
        target: Any = "",
        graph: Optional[Graph] = None,
        config: Any = None,
        backends: Any = None,
    ) -> None:
        super().__init__(target, graph, config, backends)
        self._blocks = [self.as_default()]
        if graph is not None:
            self._blocks.append(graph.as_default())
        for block in self._blocks:
            block.__enter__()

    def close(self) -> None:
        """Close as `Session.close` does; this is not the default session any more."""
        super().close()
        while self._blocks:
            self._blocks.pop().__exit__(None, None, None)
