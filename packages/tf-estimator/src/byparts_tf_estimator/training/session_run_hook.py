"""`tf.train.SessionRunHook`: what is called around the runs of a monitored session."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from byparts_frontend_tf.symbols import symbol


@symbol("train.SessionRunArgs", "estimator.SessionRunArgs")
class SessionRunArgs(NamedTuple):
    """Fetches and feeds that a hook adds to a run.

    Attributes:
        fetches: of any structure, or `None`.
        feed_dict: tensor -> array.
        options: `RunOptions`.
    """

    fetches: Any
    feed_dict: Any = None
    options: Any = None


@symbol("train.SessionRunValues", "estimator.SessionRunValues")
class SessionRunValues(NamedTuple):
    """Results of a run, for a hook.

    Attributes:
        results: in the structure of the hook's fetches.
        options: of the run.
        run_metadata: of the run.
    """

    results: Any
    options: Any
    run_metadata: Any


@symbol("train.SessionRunContext", "estimator.SessionRunContext")
class SessionRunContext:
    """Session and arguments of a run, for a hook.

    Attributes:
        original_args: what the program asked for, as `SessionRunArgs`.
        session: the session, without hooks.
        stop_requested: whether a hook asked to stop.
    """

    def __init__(self, original_args: SessionRunArgs, session: Any) -> None:
        self.original_args, self.session = original_args, session
        self.stop_requested = False

    def request_stop(self) -> None:
        """Have `should_stop` of the session be true from now on."""
        self.stop_requested = True


@symbol("train.SessionRunHook", "estimator.SessionRunHook")
class SessionRunHook:
    """Called around the runs of a monitored session; each method may be left as it is."""

    def begin(self) -> None:
        """Before the session is made: the graph may still be added to."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Act in a new session whose variables have values; also when it is made anew."""

    def before_run(self, run_context: SessionRunContext) -> Optional[SessionRunArgs]:
        """Return what to fetch and feed besides, or `None`."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Act on the results of a run; `run_context.request_stop` ends the training."""

    def end(self, session: Any) -> None:
        """At the end, unless an exception is the end."""
