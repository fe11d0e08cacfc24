"""`tf.train.MonitoredTrainingSession`: a monitored session with the usual hooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.training.monitored_session import (
    ChiefSessionCreator,
    MonitoredSession,
    WorkerSessionCreator,
)
from byparts_tf_estimator.training.saving_hooks import (
    CheckpointSaverHook,
    StepCounterHook,
    SummarySaverHook,
)
from byparts_tf_estimator.training.scaffold import Scaffold

USE_DEFAULT: Any = object()


@symbol("train.MonitoredTrainingSession")
def MonitoredTrainingSession(  # noqa: N802  # TensorFlow's name
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: Any = None,
    scaffold: Optional[Scaffold] = None,
    hooks: Optional[Sequence[Any]] = None,
    chief_only_hooks: Optional[Sequence[Any]] = None,
    save_checkpoint_secs: Any = USE_DEFAULT,
    save_summaries_steps: Any = USE_DEFAULT,
    save_summaries_secs: Any = USE_DEFAULT,
    config: Any = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: Optional[int] = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: Any = USE_DEFAULT,
    summary_dir: Any = None,
) -> MonitoredSession:
    """A session that restores, saves, writes summaries and counts steps.

    Args:
        master: accepted.
        is_chief: whether it initialises and saves.
        checkpoint_dir: where checkpoints are.
        scaffold: what is needed of the graph.
        hooks: are called around each run.
        chief_only_hooks: likewise, of the chief.
        save_checkpoint_secs: seconds between checkpoints, by default 600.
        save_summaries_steps: steps between summaries, by default 100.
        save_summaries_secs: or seconds.
        config: of the session.
        stop_grace_period_secs: how long threads may take to end.
        log_step_count_steps: steps between two lines of the log.
        max_wait_secs: accepted.
        save_checkpoint_steps: or steps between checkpoints.
        summary_dir: where summaries are, by default `checkpoint_dir`.
    """
    summaries = _either(save_summaries_steps, save_summaries_secs, (100, None))
    checkpoints = _either(save_checkpoint_steps, save_checkpoint_secs, (None, 600))
    scaffold = scaffold or Scaffold()
    if not is_chief:
        worker = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(worker, hooks or [], stop_grace_period_secs)
    all_hooks = list(chief_only_hooks or ())
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    folder = summary_dir or checkpoint_dir
    if folder:
        if log_step_count_steps and log_step_count_steps > 0:
            all_hooks.append(StepCounterHook(log_step_count_steps, output_dir=folder))
        if any(v and v > 0 for v in summaries):
            all_hooks.append(SummarySaverHook(*summaries, output_dir=folder, scaffold=scaffold))
    if checkpoint_dir and any(v and v > 0 for v in checkpoints):
        steps, seconds = checkpoints
        all_hooks.append(CheckpointSaverHook(checkpoint_dir, seconds, steps, scaffold=scaffold))
    return MonitoredSession(creator, [*all_hooks, *(hooks or ())], stop_grace_period_secs)


def _either(steps: Any, seconds: Any, default: tuple[Any, Any]) -> tuple[Any, Any]:
    """Steps and seconds between two of something, at most one of which is not `None`."""
    if steps is USE_DEFAULT and seconds is USE_DEFAULT:
        return default
    return None if steps is USE_DEFAULT else steps, None if seconds is USE_DEFAULT else seconds
