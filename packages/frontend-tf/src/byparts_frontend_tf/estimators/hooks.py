"""What is called around the runs of a session: the hooks that estimators make themselves."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.symbols import named


class Hook:
    """A hook of a monitored session that does nothing.  See `tf.train.SessionRunHook`."""

    def begin(self) -> None:
        """Before the session is made."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """When the session is made."""

    def before_run(self, run_context: Any) -> Any:
        """Before each run; what is fetched besides."""

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """After each run, with what was fetched."""

    def end(self, session: Any) -> None:
        """Before the session is closed."""


class Listener:
    """Is told of checkpoints, and does nothing.  See `tf.train.CheckpointSaverListener`."""

    def begin(self) -> None:
        """Before the session is made."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Before a checkpoint is written."""

    def after_save(self, session: Any, global_step_value: int) -> Any:
        """When a checkpoint is written."""

    def end(self, session: Any, global_step_value: int) -> None:
        """When the training ends."""


def fetching(fetches: Any) -> Any:
    """What `before_run` gives to have these fetched."""
    return named("train.SessionRunArgs")(fetches)
