"""Hooks that write files: checkpoints, summaries, steps a second, profiles."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.logging import info
from byparts_frontend_tf.api.python.timeline import Timeline
from byparts_frontend_tf.api.train.export_meta_graph import export_meta_graph
from byparts_frontend_tf.api.train.write_graph import write_graph
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.scopes import get_collection
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.training.hooks import SecondOrStepTimer, step_for
from byparts_tf_estimator.training.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from byparts_tf_files.atomic import replace_file
from byparts_tf_files.event_file import FileWriterCache
from byparts_tf_files.messages.config import RunOptions
from byparts_tf_files.messages.summary import SessionLog, Summary
from byparts_tf_files.paths import local_path


@symbol("train.CheckpointSaverListener", "estimator.CheckpointSaverListener")
class CheckpointSaverListener:
    """Called when `CheckpointSaverHook` saves; each method may be left as it is."""

    def begin(self) -> None:
        """Before the session is made."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Before a checkpoint is written."""

    def after_save(self, session: Any, global_step_value: int) -> Any:
        """Do something after a checkpoint is written; true stops the training."""

    def end(self, session: Any, global_step_value: int) -> None:
        """At the end."""


@symbol("train.CheckpointSaverHook", "estimator.CheckpointSaverHook")
class CheckpointSaverHook(SessionRunHook):
    """Writes a checkpoint at the start, every so many seconds or steps, and at the end.

    Args:
        checkpoint_dir: the folder.
        save_secs: seconds between checkpoints.
        save_steps: or steps.
        saver: by default that of the scaffold, or of the collection SAVERS.
        checkpoint_basename: how their names begin.
        scaffold: has a saver.
        listeners: are told.

    Raises:
        ValueError: there are saver and scaffold; not one of save_secs and save_steps.
    """

    def __init__(
        self,
        checkpoint_dir: Any,
        save_secs: Optional[float] = None,
        save_steps: Optional[int] = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
        listeners: Optional[Sequence[Any]] = None,
    ) -> None:
        info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver, self._scaffold = saver, scaffold
        self._folder = checkpoint_dir
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._listeners = list(listeners or ())

    def begin(self) -> None:
        """Open the summaries, find the global step, and tell the listeners."""
        self._writer = FileWriterCache.get(self._folder)
        self._step = step_for(self)
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Write the graph, and the first checkpoint."""
        step = int(session.run(self._step))
        graph = get_default_graph()
        write_graph(graph, self._folder, "graph.pbtxt")
        self._writer.add_graph(graph)
        saver_def = self._get_saver().as_saver_def()
        self._writer.add_meta_graph(export_meta_graph(saver_def=saver_def))
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetch the global step."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write a checkpoint, if it is time."""
        if not self._timer.should_trigger_for_step(int(run_values.results) + 1):
            return
        step = int(run_context.session.run(self._step))
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: Any) -> None:
        """Write the last checkpoint, and tell the listeners."""
        step = int(session.run(self._step))
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: Any, step: int) -> bool:
        """Write a checkpoint; whether a listener asks to stop."""
        info("Saving checkpoints for %d into %s.", step, self._save_path)
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(session, self._save_path, global_step=step)
        log = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._writer.add_session_log(log, step)
        asked = [listener.after_save(session, step) for listener in self._listeners]
        return any(asked)

    def _get_saver(self) -> Any:
        if self._saver is not None:
            return self._saver
        if self._scaffold is not None:
            return self._scaffold.saver
        savers = get_collection(GraphKeys.SAVERS)
        if len(savers) != 1:
            raise RuntimeError(
                f"{len(savers)} items in collection {GraphKeys.SAVERS}. Please add a saver to the "
                "collection or provide a saver or scaffold."
            )
        self._saver = savers[0]
        return self._saver


@symbol("train.StepCounterHook", "estimator.StepCounterHook")
class StepCounterHook(SessionRunHook):
    """Logs how many steps are done in a second, and writes it as a summary.

    Args:
        every_n_steps: steps between two lines.
        every_n_secs: or seconds.
        output_dir: the folder of the event file.
        summary_writer: or its writer.
    """

    def __init__(
        self,
        every_n_steps: Optional[int] = 100,
        every_n_secs: Optional[float] = None,
        output_dir: Any = None,
        summary_writer: Any = None,
    ) -> None:
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_n_secs, every_n_steps)
        self._writer, self._folder = summary_writer, output_dir

    def begin(self) -> None:
        """Open the summaries, and find the global step."""
        if self._writer is None and self._folder:
            self._writer = FileWriterCache.get(self._folder)
        self._step = step_for(self)
        self._tag = f"{self._step.op.name}/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetch the global step."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write the steps a second, if it is time."""
        if not self._timer.should_trigger_for_step(int(run_values.results) + 1):
            return
        step = int(run_context.session.run(self._step))
        if not self._timer.should_trigger_for_step(step):
            return
        passed_s, steps = self._timer.update_last_triggered_step(step)
        if passed_s is not None and steps is not None:
            self._log_and_record(steps, passed_s, step)

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        rate = elapsed_steps / max(elapsed_time, 1e-9)
        if self._writer is not None:
            value = Summary.Value(tag=self._tag, simple_value=rate)
            self._writer.add_summary(Summary(value=[value]), global_step)
        info("%s: %g", self._tag, rate)


@symbol("train.SummarySaverHook", "estimator.SummarySaverHook")
class SummarySaverHook(SessionRunHook):
    """Writes summaries every so many steps or seconds.

    Args:
        save_steps: steps between them.
        save_secs: or seconds.
        output_dir: the folder of the event file.
        summary_writer: or its writer.
        scaffold: has a `summary_op`.
        summary_op: or a summary, or a list of them.

    Raises:
        ValueError: not one of scaffold and summary_op; not one of steps and seconds.
    """

    def __init__(
        self,
        save_steps: Optional[int] = None,
        save_secs: Optional[float] = None,
        output_dir: Any = None,
        summary_writer: Any = None,
        scaffold: Any = None,
        summary_op: Any = None,
    ) -> None:
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op, self._scaffold = summary_op, scaffold
        self._writer, self._folder = summary_writer, output_dir
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        """Open the summaries, and find the global step."""
        if self._writer is None and self._folder:
            self._writer = FileWriterCache.get(self._folder)
        self._next: Optional[int] = None
        self._now = False
        self._step = step_for(self)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetch the global step, and the summaries if it is time."""
        self._now = self._next is None or self._timer.should_trigger_for_step(self._next)
        fetches = {"global_step": self._step}
        found = self._found() if self._now else None
        if found is not None:
            fetches["summary"] = found
        return SessionRunArgs(fetches)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write the summaries, if they were fetched."""
        results = run_values.results
        step = int(results["global_step"]) + 1
        if self._writer is None:
            return
        if self._now:
            step = int(run_context.session.run(self._step))
        if self._next is None:
            self._writer.add_session_log(SessionLog(status=SessionLog.START), step)
        if self._now:
            self._timer.update_last_triggered_step(step if self._next is None else self._next)
        for summary in results.get("summary", ()):
            self._writer.add_summary(summary, step)
        self._next = step + 1

    def end(self, session: Any) -> None:
        """Write out all summaries."""
        if self._writer is not None:
            self._writer.flush()

    def _found(self) -> Any:
        found = self._scaffold.summary_op if self._summary_op is None else self._summary_op
        if found is None:
            return None
        return list(found) if isinstance(found, (list, tuple)) else [found]


@symbol("train.ProfilerHook", "estimator.ProfilerHook")
class ProfilerHook(SessionRunHook):
    """Writes the `Timeline` of a run every so many steps or seconds, as timeline-STEP.json."""

    def __init__(
        self,
        save_steps: Optional[int] = None,
        save_secs: Optional[float] = None,
        output_dir: Any = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ) -> None:
        self._folder = output_dir
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        """Find the global step."""
        self._next: Optional[int] = None
        self._step = step_for(self)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for a trace, if it is time."""
        self._now = self._next is not None and self._timer.should_trigger_for_step(self._next)
        options = RunOptions(trace_level=RunOptions.FULL_TRACE) if self._now else None
        return SessionRunArgs(self._step, None, options)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write the trace, if there is one."""
        step = int(run_values.results) + 1
        if self._next is None:
            self._timer.update_last_triggered_step(step - 1)
        if self._now:
            step = int(run_context.session.run(self._step))
            self._timer.update_last_triggered_step(step)
            text = Timeline(run_values.run_metadata.step_stats).generate_chrome_trace_format()
            path = os.path.join(local_path(self._folder or "."), f"timeline-{step}.json")
            replace_file(path, text.encode())
        self._next = step + 1
