"""`contrib.training` and `slim.evaluation`: metrics of checkpoints, as they come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.logging import info
from byparts_frontend_tf.api.summary.summary import merge_all
from byparts_frontend_tf.api.train.global_step import get_or_create_global_step
from byparts_frontend_tf.api.train.saver import Saver
from byparts_frontend_tf.api.variables.variables import assign_add
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.slim.variables import get_variables_to_restore
from byparts_tf_estimator.estimators.evaluating import StopAfterEvals, eval_step
from byparts_tf_estimator.training.hooks import FinalOpsHook
from byparts_tf_estimator.training.monitored_session import ChiefSessionCreator, MonitoredSession
from byparts_tf_estimator.training.scaffold import Scaffold
from byparts_tf_estimator.training.session_run_hook import SessionRunHook
from byparts_tf_files.checkpoint_state import latest_checkpoint
from byparts_tf_files.event_file import FileWriter

_USUAL = 0
_LOOK_EVERY_S = 1.0


@symbol("contrib.training.SummaryAtEndHook")
class SummaryAtEndHook(SessionRunHook):
    """Writes summaries at the end of a session.

    Args:
        log_dir: of the event file; or
        summary_writer: of it.
        summary_op: gives the summaries; by default all.
        feed_dict: for it.
    """

    def __init__(
        self,
        log_dir: Optional[str] = None,
        summary_writer: Any = None,
        summary_op: Any = None,
        feed_dict: Any = None,
    ) -> None:
        self._summary_op, self._feed_dict = summary_op, feed_dict
        self._writer, self._log_dir = summary_writer, log_dir
        self._step: Any = None

    def begin(self) -> None:
        """The step and the summaries are those of the graph."""
        self._summary_op = merge_all() if self._summary_op is None else self._summary_op
        self._step = get_or_create_global_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """The event file is opened."""
        if self._writer is None and self._log_dir:
            self._writer = FileWriter(self._log_dir, session.graph)

    def end(self, session: Any) -> None:
        """Write them."""
        if self._writer is not None and self._summary_op is not None:
            step, summary = session.run([self._step, self._summary_op], self._feed_dict)
            self._writer.add_summary(summary, step)
            self._writer.flush()


@symbol(
    *("contrib.training.wait_for_new_checkpoint", "contrib.slim.evaluation.wait_for_new_checkpoint")
)
def wait_for_new_checkpoint(
    checkpoint_dir: str,
    last_checkpoint: Optional[str] = None,
    seconds_to_sleep: float = _LOOK_EVERY_S,
    timeout: Optional[float] = None,
) -> Optional[str]:
    """The next checkpoint of a folder after `last_checkpoint`; `None`: none within `timeout` s."""
    info("Waiting for new checkpoint at %s", checkpoint_dir)
    end = None if timeout is None else time.time() + timeout
    while True:
        found = latest_checkpoint(checkpoint_dir)
        if found is not None and found != last_checkpoint:
            info("Found new checkpoint at %s", found)
            return found
        if end is not None and time.time() + seconds_to_sleep > end:
            return None
        time.sleep(seconds_to_sleep)


@symbol(
    *("contrib.training.checkpoints_iterator", "contrib.slim.evaluation.checkpoints_iterator"),
    "train.checkpoints_iterator",
)
def checkpoints_iterator(
    checkpoint_dir: str,
    min_interval_secs: float = 0,
    timeout: Optional[float] = None,
    timeout_fn: Optional[Callable[[], bool]] = None,
) -> Iterator[str]:
    """The checkpoints of a folder as they come; ends when none comes in `timeout` seconds.

    Args:
        checkpoint_dir: the folder.
        min_interval_secs: between two of them.
        timeout: for the next; by default for ever.
        timeout_fn: then asked whether it ends.
    """
    path: Optional[str] = None
    while True:
        found = wait_for_new_checkpoint(checkpoint_dir, path, timeout=timeout)
        if found is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        start, path = time.time(), found
        yield path
        left = start + min_interval_secs - time.time()
        if left > 0:
            time.sleep(left)


@symbol("contrib.training.evaluate_once")
def evaluate_once(
    checkpoint_path: str,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    hooks: Optional[Sequence[Any]] = None,
    config: Any = None,
) -> Any:
    """The results of `final_ops` when `eval_ops` have run until a hook or the input ends it."""
    hooks = list(hooks or ())
    run = eval_ops
    if eval_ops is not None:
        counted = assign_add(eval_step(), 1)
        run = [eval_ops, counted]
        if isinstance(eval_ops, Mapping):
            run = {**eval_ops, "update_eval_step": counted}
        for hook in hooks:
            if hasattr(hook, "_set_evals_completed_tensor"):
                hook._set_evals_completed_tensor(counted)
    info("Starting evaluation at " + time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    creator = ChiefSessionCreator(
        scaffold=scaffold,
        checkpoint_filename_with_path=checkpoint_path,
        master=master,
        config=config,
    )
    with MonitoredSession(session_creator=creator, hooks=[*hooks, final]) as session:
        while run is not None and not session.should_stop():
            session.run(run, feed_dict)
    info("Finished evaluation at " + time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))
    return final.final_ops_values


@symbol("contrib.training.evaluate_repeatedly")
def evaluate_repeatedly(
    checkpoint_dir: str,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    eval_interval_secs: float = 60,
    hooks: Optional[Sequence[Any]] = None,
    config: Any = None,
    max_number_of_evaluations: Optional[int] = None,
    timeout: Optional[float] = None,
    timeout_fn: Optional[Callable[[], bool]] = None,
) -> Any:
    """Run `evaluate_once` for each checkpoint that comes; returns the last values."""
    values = None
    found = checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn)
    for count, path in enumerate(found, 1):
        values = evaluate_once(
            path, master, scaffold, eval_ops, feed_dict, final_ops, final_ops_feed_dict, hooks,
            config,
        )  # fmt: skip
        if max_number_of_evaluations is not None and count >= max_number_of_evaluations:
            break
    return values


def _of_slim(
    logdir: str,
    num_evals: int,
    initial: tuple[Any, Any],
    summary: tuple[Any, Any],
    variables: Any,
    hooks: Optional[Sequence[Any]],
) -> tuple[Any, list[Any]]:
    """The scaffold and the hooks of slim's evaluations."""
    op = merge_all() if isinstance(summary[0], int) else summary[0]
    made: list[Any] = [StopAfterEvals(num_evals)]
    if op is not None:
        made.append(SummaryAtEndHook(logdir, summary_op=op, feed_dict=summary[1]))
    saver = Saver(variables or get_variables_to_restore())
    scaffold = Scaffold(init_op=initial[0], init_feed_dict=initial[1], saver=saver)
    return scaffold, [*made, *(hooks or ())]


@symbol("contrib.slim.evaluation.evaluate_once")
def evaluate_once_of_slim(
    master: str,
    checkpoint_path: str,
    logdir: str,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Any = None,
    eval_op: Any = None,
    eval_op_feed_dict: Any = None,
    final_op: Any = None,
    final_op_feed_dict: Any = None,
    summary_op: Any = _USUAL,
    summary_op_feed_dict: Any = None,
    variables_to_restore: Any = None,
    session_config: Any = None,
    hooks: Optional[Sequence[Any]] = None,
) -> Any:
    """The results of `final_op` when `eval_op` has run `num_evals` times on a checkpoint."""
    initial, summary = (initial_op, initial_op_feed_dict), (summary_op, summary_op_feed_dict)
    scaffold, given = _of_slim(logdir, num_evals, initial, summary, variables_to_restore, hooks)
    return evaluate_once(
        checkpoint_path, master, scaffold, eval_op, eval_op_feed_dict, final_op,
        final_op_feed_dict, given, session_config,
    )  # fmt: skip


@symbol("contrib.slim.evaluation.evaluation_loop")
def evaluation_loop(
    master: str,
    checkpoint_dir: str,
    logdir: str,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Any = None,
    init_fn: Any = None,
    eval_op: Any = None,
    eval_op_feed_dict: Any = None,
    final_op: Any = None,
    final_op_feed_dict: Any = None,
    summary_op: Any = _USUAL,
    summary_op_feed_dict: Any = None,
    variables_to_restore: Any = None,
    eval_interval_secs: float = 60,
    max_number_of_evaluations: Optional[int] = None,
    session_config: Any = None,
    timeout: Optional[float] = None,
    timeout_fn: Optional[Callable[[], bool]] = None,
    hooks: Optional[Sequence[Any]] = None,
) -> Any:
    """Run `evaluate_once` for each checkpoint of a folder as it comes; returns the last values."""
    initial, summary = (initial_op, initial_op_feed_dict), (summary_op, summary_op_feed_dict)
    scaffold, given = _of_slim(logdir, num_evals, initial, summary, variables_to_restore, hooks)
    return evaluate_repeatedly(
        checkpoint_dir, master, scaffold, eval_op, eval_op_feed_dict, final_op,
        final_op_feed_dict, eval_interval_secs, given, session_config,
        max_number_of_evaluations, timeout, timeout_fn,
    )  # fmt: skip


_EVALUATING = "byparts_tf_estimator.estimators.evaluating"
SYMBOLS = {
    "contrib.training.StopAfterNEvalsHook": f"{_EVALUATING}:StopAfterEvals",
    "contrib.training.get_or_create_eval_step": f"{_EVALUATING}:eval_step",
    "python.training.evaluation._evaluate_once": "evaluate_once",
    "python.training.evaluation._StopAfterNEvalsHook": f"{_EVALUATING}:StopAfterEvals",
    "python.training.evaluation._get_or_create_eval_step": f"{_EVALUATING}:eval_step",
}
