"""`tf.train.MonitoredSession`: a session with hooks, queue runners and recovery."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Optional

from byparts_frontend_tf.api.logging import info
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.training.scaffold import Scaffold
from byparts_tf_estimator.training.session_manager import SessionManager
from byparts_tf_estimator.training.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunValues,
)
from byparts_tf_files.errors import AbortedError, OutOfRangeError, UnavailableError
from byparts_tf_files.messages.config import RunMetadata, RunOptions
from byparts_tf_input.queues.coordinator import Coordinator
from byparts_tf_input.queues.queue_runner import start_queue_runners

_AGAIN = (AbortedError, UnavailableError)  # the session is then made anew


@symbol("train.SessionCreator")
class SessionCreator:
    """Makes sessions."""

    def create_session(self) -> Any:
        """A session whose variables have values."""
        raise NotImplementedError(f"create_session is not implemented for {self}.")


@symbol("train.ChiefSessionCreator")
class ChiefSessionCreator(SessionCreator):
    """Makes a session whose variables are those of the latest checkpoint, or else initialised.

    Args:
        scaffold: what is needed of the graph.
        master: accepted.
        config: of the session.
        checkpoint_dir: where checkpoints are.
        checkpoint_filename_with_path: or one of them.
    """

    def __init__(
        self,
        scaffold: Optional[Scaffold] = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: Any = None,
        checkpoint_filename_with_path: Any = None,
    ) -> None:
        self._scaffold = Scaffold() if scaffold is None else scaffold
        self._master, self._config = master, config
        self._from = {
            "checkpoint_dir": checkpoint_dir,
            "checkpoint_filename_with_path": checkpoint_filename_with_path,
        }

    def _manager(self) -> SessionManager:
        scaffold = self._scaffold.finalize()
        return SessionManager(
            local_init_op=scaffold.local_init_op,
            local_init_feed_dict=scaffold.local_init_feed_dict,
            ready_op=scaffold.ready_op,
            ready_for_local_init_op=scaffold.ready_for_local_init_op,
            graph=get_default_graph(),
        )

    def create_session(self) -> Any:
        """Make a session whose variables have values, of a checkpoint or their first ones."""
        return self._manager().prepare_session(
            self._master,
            saver=self._scaffold.saver,
            config=self._config,
            init_op=self._scaffold.init_op,
            init_feed_dict=self._scaffold.init_feed_dict,
            init_fn=self._scaffold.init_fn,
            **self._from,
        )


@symbol("train.WorkerSessionCreator")
class WorkerSessionCreator(ChiefSessionCreator):
    """Refused when it is to make a session: it waits for the chief, another process."""

    def __init__(
        self,
        scaffold: Optional[Scaffold] = None,
        master: str = "",
        config: Any = None,
        max_wait_secs: float = 1800,
    ) -> None:
        super().__init__(scaffold, master, config)

    def create_session(self) -> Any:
        """Refused.

        Raises:
            UnimplementedError: always.
        """
        return self._manager().wait_for_session(self._master, self._config)


class _Hooked:
    """A session, and hooks that are called around its runs."""

    def __init__(self, session: Any, coord: Coordinator, hooks: Sequence[Any]) -> None:
        self.session, self.coord, self._hooks = session, coord, hooks
        self.stopped = False

    def should_stop(self) -> bool:
        return self.stopped or self.coord.should_stop()

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        if self.stopped:
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self.session)
        wanted: dict[Any, Any] = {"caller": fetches}
        feeds: dict[Any, Any] = {}
        for hook in self._hooks:
            asked = hook.before_run(context)
            if asked is not None:
                if asked.fetches is not None:
                    wanted[hook] = asked.fetches
                options = options or asked.options
                _feed(feeds, asked.feed_dict, "Same tensor is fed by two hooks.")
        _feed(feeds, feed_dict, "Same tensor is fed by a SessionRunHook and user.")
        metadata = RunMetadata() if run_metadata is None else run_metadata
        results = self.session.run(wanted, feeds or None, options, metadata)
        said = RunOptions() if options is None else options
        for hook in self._hooks:
            hook.after_run(context, SessionRunValues(results.get(hook), said, metadata))
        self.stopped = self.stopped or context.stop_requested
        return results["caller"]


@symbol("python.training.monitored_session._HookedSession")
class HookedSession(_Hooked):
    """A session that another one made and closes, and hooks that are called around its runs."""

    def __init__(self, sess: Any, hooks: Sequence[Any]) -> None:
        super().__init__(sess, Coordinator(), list(hooks))

    @property
    def graph(self) -> Any:
        """The graph of the session."""
        return self.session.graph


def _feed(feeds: dict[Any, Any], more: Any, conflict: str) -> None:
    for key in more or ():
        if key in feeds:
            raise RuntimeError(conflict)
    feeds.update(more or {})


class StepContext:
    """The argument of a function given to `run_step_fn`.

    Attributes:
        session: the session, without hooks.
    """

    def __init__(self, session: Any, run_with_hooks: Callable[..., Any]) -> None:
        self.session, self._run = session, run_with_hooks

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """Run as `run` of the monitored session."""
        return self._run(*args, **kwargs)

    def request_stop(self) -> None:
        """End the loop.

        Raises:
            StopIteration: always.
        """
        raise StopIteration("step_fn has requested the iterations to stop.")


class _Monitored:
    """Session, hooks and errors of `MonitoredSession` and `SingularMonitoredSession`."""

    StepContext = StepContext

    def __init__(
        self,
        session_creator: Optional[SessionCreator],
        hooks: Optional[Sequence[Any]],
        recovers: bool,
        stop_grace_period_secs: float,
    ) -> None:
        self._graph = get_default_graph()
        self._was_finalized = self._graph.finalized
        self._hooks = list(hooks or ())
        for hook in self._hooks:
            hook.begin()
        self._creator = ChiefSessionCreator() if session_creator is None else session_creator
        self._recovers, self._grace_s = recovers, stop_grace_period_secs
        self._sess: Optional[_Hooked] = self._made()

    def _made(self) -> _Hooked:
        while True:
            try:
                session = self._creator.create_session()
                coord = Coordinator(clean_stop_exception_types=[])
                if session.graph.get_collection(GraphKeys.QUEUE_RUNNERS):
                    start_queue_runners(sess=session, coord=coord)
                for hook in self._hooks:
                    hook.after_create_session(session, coord)
                return _Hooked(session, coord, self._hooks)
            except _AGAIN as error:
                if not self._recovers:
                    raise
                info("An error was raised while a session was being created: %s", error)

    @property
    def graph(self) -> Any:
        """The graph, or `None` once it is closed."""
        return None if self._sess is None else self._sess.session.graph

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Run as `Session.run`, with the hooks.

        Raises:
            RuntimeError: it is closed, or a hook has asked to stop.
        """
        while True:
            open_ = self._open()
            try:
                return open_.run(fetches, feed_dict, options, run_metadata)
            except _AGAIN as error:
                if not self._recovers:
                    raise
                info("An error was raised; the session is made anew: %s", error)
                self._end_session(open_)
                self._sess = self._made()

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Call a function of a `StepContext`; what it returns.

        Raises:
            ValueError: it takes other arguments.
        """
        takes = [name for name in inspect.signature(step_fn).parameters if name != "self"]
        if takes != ["step_context"]:
            raise ValueError(
                "`step_fn` may either have one `step_context` argument, or `self` and "
                f"`step_context` arguments if it's an instance method. Got {takes} instead."
            )
        return step_fn(StepContext(self._open().session, self.run))

    def _tf_sess(self) -> Any:
        """The session, without hooks: programs call it."""
        return self._open().session

    def _open(self) -> _Hooked:
        if self._sess is None:
            raise RuntimeError("Session is already closed.")
        return self._sess

    def should_stop(self) -> bool:
        """Whether a hook or a thread has asked to stop, or it is closed."""
        return self._sess is None or self._sess.should_stop()

    def close(self) -> None:
        """Call the hooks' `end`, and close the session."""
        self._close(None)

    def _close(self, exception_type: Any) -> None:
        try:
            if exception_type is None and self._sess is not None:
                for hook in self._hooks:
                    hook.end(self._sess.session)
        finally:
            try:
                self._end_session(self._open())
            finally:
                self._sess = None
                if not self._was_finalized:
                    self._graph._unsafe_unfinalize()

    def _end_session(self, hooked: _Hooked) -> None:
        hooked.coord.request_stop()
        try:
            hooked.coord.join(stop_grace_period_secs=self._grace_s, ignore_live_threads=True)
        finally:
            with suppress(Exception):  # as TensorFlow: what went wrong before counts
                hooked.session.close()

    def _is_closed(self) -> bool:
        return self._sess is None

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if kind in (OutOfRangeError, StopIteration):
            kind = None
        self._close(kind)
        return kind is None


@symbol("train.MonitoredSession")
class MonitoredSession(_Monitored):
    """A session with hooks; made anew where it is aborted.

    Args:
        session_creator: by default `ChiefSessionCreator()`.
        hooks: are called around each run.
        stop_grace_period_secs: how long threads may take to end.
    """

    def __init__(
        self,
        session_creator: Optional[SessionCreator] = None,
        hooks: Optional[Sequence[Any]] = None,
        stop_grace_period_secs: float = 120,
    ) -> None:
        super().__init__(session_creator, hooks, True, stop_grace_period_secs)


@symbol("train.SingularMonitoredSession")
class SingularMonitoredSession(_Monitored):
    """A session with hooks; with `raw_session`, without recovery.

    Args:
        hooks: are called around each run.
        scaffold, master, config, checkpoint_dir: as those of `ChiefSessionCreator`.
        stop_grace_period_secs: how long threads may take to end.
        checkpoint_filename_with_path: as that of `ChiefSessionCreator`.
    """

    def __init__(
        self,
        hooks: Optional[Sequence[Any]] = None,
        scaffold: Optional[Scaffold] = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: Any = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: Any = None,
    ) -> None:
        creator = ChiefSessionCreator(
            scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path
        )
        super().__init__(creator, hooks, False, stop_grace_period_secs)

    def raw_session(self) -> Any:
        """The session, without hooks."""
        return self._open().session
