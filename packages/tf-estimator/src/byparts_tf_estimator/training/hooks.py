"""Hooks that watch, count and stop: `LoggingTensorHook`, `StopAtStepHook` and others."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.logging import error as log_error, info, warning
from byparts_frontend_tf.api.train.global_step import get_global_step
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.training.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)


def step_for(hook: SessionRunHook) -> Any:
    """The variable that counts steps.

    Raises:
        RuntimeError: there is none.
    """
    step = get_global_step()
    if step is None:
        raise RuntimeError(f"Global step should be created to use {type(hook).__name__}.")
    return step


@symbol("train.SecondOrStepTimer", "estimator.SecondOrStepTimer")
class SecondOrStepTimer:
    """Says when it is time again: so many seconds or steps after the last time.

    Raises:
        ValueError: neither is given, or both.
    """

    def __init__(
        self, every_secs: Optional[float] = None, every_steps: Optional[int] = None
    ) -> None:
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_s, self._every_steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        """Forget the last time."""
        self._last_step: Optional[int] = None
        self._last_s: Optional[float] = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether the timer triggers at this step."""
        if self._last_step is None:
            return True
        if self._last_step == step:
            return False
        if self._every_s is not None and self._last_s is not None:
            return time.time() >= self._last_s + self._every_s
        return self._every_steps is not None and step >= self._last_step + self._every_steps

    def update_last_triggered_step(self, step: int) -> tuple[Optional[float], Optional[int]]:
        """Note this step as the last; return seconds and steps since the one before, or `None`."""
        now_s = time.time()
        before = self._last_step, self._last_s
        self._last_step, self._last_s = step, now_s
        if before[0] is None or before[1] is None:
            return None, None
        return now_s - before[1], step - before[0]

    def last_triggered_step(self) -> Optional[int]:
        """The step of the last time."""
        return self._last_step


def _elements(given: Any) -> Any:
    """A tensor or an operation of the graph; a name without a number is the only output's.

    Raises:
        ValueError: the operation of this name has several outputs.
    """
    graph = get_default_graph()
    if not isinstance(given, str) or ":" in given:
        return graph.as_graph_element(given)
    found = graph.get_tensor_by_name(f"{given}:0")
    if len(found.op.outputs) > 1:
        raise ValueError(
            f"Name {given} is ambiguous, as this `Operation` has multiple outputs (at least 2)."
        )
    return found


@symbol("train.LoggingTensorHook", "estimator.LoggingTensorHook")
class LoggingTensorHook(SessionRunHook):
    """Logs the values of tensors.

    Args:
        tensors: name in the log -> tensor or its name; or a list.
        every_n_iter: every so many runs.
        every_n_secs: or every so many seconds.
        at_end: and at the end.
        formatter: makes the line, from name -> value.

    Raises:
        ValueError: it is not said when.
    """

    def __init__(
        self,
        tensors: Any,
        every_n_iter: Optional[int] = None,
        every_n_secs: Optional[float] = None,
        at_end: bool = False,
        formatter: Optional[Callable[[Mapping[Any, Any]], str]] = None,
    ) -> None:
        self._only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not self._only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs must be "
                "provided."
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        named = isinstance(tensors, Mapping)
        self._tensors = dict(sorted(tensors.items())) if named else {t: t for t in tensors}
        self._at_end, self._formatter = at_end, formatter
        self._timer = None if self._only_at_end else SecondOrStepTimer(every_n_secs, every_n_iter)

    def begin(self) -> None:
        """Reset the timer and the count of runs, and look up the tensors."""
        if self._timer is not None:
            self._timer.reset()
        self._runs, self._now = 0, False
        self._found = {tag: _elements(t) for tag, t in self._tensors.items()}

    def before_run(self, run_context: SessionRunContext) -> Optional[SessionRunArgs]:
        """Fetch the tensors, if it is time to log them."""
        self._now = self._timer is not None and self._timer.should_trigger_for_step(self._runs)
        return SessionRunArgs(self._found) if self._now else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Log the tensors, if they were fetched."""
        if self._now:
            self._log(run_values.results)
        self._runs += 1

    def end(self, session: Any) -> None:
        """Log the tensors at the end, if that is wanted."""
        if self._at_end:
            self._log(session.run(self._found))

    def _log(self, values: Mapping[Any, Any]) -> None:
        timer = self._timer
        passed_s = None if timer is None else timer.update_last_triggered_step(self._runs)[0]
        if self._formatter is not None:
            info(self._formatter(values))
            return
        with np.printoptions(suppress=True):
            text = ", ".join([f"{tag} = {values[tag]!s}" for tag in self._tensors])
        info("%s", text if passed_s is None else f"{text} ({passed_s:.3f} sec)")


@symbol("train.StopAtStepHook", "estimator.StopAtStepHook")
class StopAtStepHook(SessionRunHook):
    """Stops after `num_steps` more steps, or at `last_step`.

    Raises:
        ValueError: neither is given, or both.
    """

    def __init__(self, num_steps: Optional[int] = None, last_step: Optional[int] = None) -> None:
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps, self._last_step = num_steps, last_step

    def begin(self) -> None:
        """Find the global step."""
        self._step = step_for(self)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Compute the last step from the number of steps."""
        if self._last_step is None:
            self._last_step = int(session.run(self._step)) + (self._num_steps or 0)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetch the global step."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Ask to stop when the last step is reached."""
        last = self._last_step or 0
        if run_values.results + 1 >= last and run_context.session.run(self._step) >= last:
            run_context.request_stop()


@symbol("train.NanLossDuringTrainingError", "estimator.NanLossDuringTrainingError")
class NanLossDuringTrainingError(RuntimeError):
    """The loss is no number."""

    def __str__(self) -> str:
        return "NaN loss during training."


@symbol("train.NanTensorHook", "estimator.NanTensorHook")
class NanTensorHook(SessionRunHook):
    """Fails, or stops, when a loss is no number."""

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        self._loss, self._fail = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Fetch the loss."""
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Stop the training, or raise, where the loss is no number.

        Raises:
            NanLossDuringTrainingError: the loss is no number.
        """
        if not np.isnan(run_values.results):
            return
        if self._fail:
            log_error("Model diverged with loss = NaN.")
            raise NanLossDuringTrainingError
        warning("Model diverged with loss = NaN.")
        run_context.request_stop()


@symbol("train.GlobalStepWaiterHook", "estimator.GlobalStepWaiterHook")
class GlobalStepWaiterHook(SessionRunHook):
    """Waits before each run until the step is reached, as other workers count it."""

    def __init__(self, wait_until_step: int) -> None:
        self._until = wait_until_step

    def begin(self) -> None:
        """Find the global step."""
        self._step, self._reached = step_for(self), self._until <= 0

    def before_run(self, run_context: SessionRunContext) -> None:
        """Wait until the global step is reached."""
        while not self._reached:
            self._reached = run_context.session.run(self._step) >= self._until
            if not self._reached:
                info("Waiting for global step %d before starting training.", self._until)
                time.sleep(0.5)


@symbol("train.FinalOpsHook", "estimator.FinalOpsHook")
class FinalOpsHook(SessionRunHook):
    """Runs operations at the end; `final_ops_values` are their results."""

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None) -> None:
        self._final_ops, self._feed_dict = final_ops, final_ops_feed_dict
        self._values: Any = None

    @property
    def final_ops_values(self) -> Any:
        """The results of the last fetches."""
        return self._values

    def end(self, session: Any) -> None:
        """Run the last fetches, if there are any."""
        if self._final_ops is not None:
            self._values = session.run(self._final_ops, feed_dict=self._feed_dict)


@symbol("train.FeedFnHook", "estimator.FeedFnHook")
class FeedFnHook(SessionRunHook):
    """Feeds what a function gives."""

    def __init__(self, feed_fn: Callable[[], Any]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Feed what the function returns."""
        return SessionRunArgs(None, self.feed_fn())
