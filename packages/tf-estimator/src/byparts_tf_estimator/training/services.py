"""Work of a supervisor in the background: checkpoints, summaries, steps a second."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Optional

from byparts_frontend_tf.api.logging import info
from byparts_frontend_tf.api.train.global_step import global_step as step_of
from byparts_tf_files.messages.summary import SessionLog, Summary
from byparts_tf_input.queues.coordinator import LooperThread

if TYPE_CHECKING:
    from byparts_tf_estimator.training.supervisor import Supervisor


class SVSummaryThread(LooperThread):
    """Writes the summaries of a supervisor."""

    def __init__(self, sv: Supervisor, sess: Any) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self) -> None:
        """Write the summaries once."""
        sv = self._sv
        if sv.global_step is None:
            text, step = self._sess.run(sv.summary_op), None
        else:
            text, step = self._sess.run([sv.summary_op, sv.global_step])
        if sv.summary_writer is not None:
            info("Recording summary at step %s.", step)
            sv.summary_writer.add_summary(text, step)


class SVStepCounterThread(LooperThread):
    """Writes how many steps are done in a second."""

    def __init__(self, sv: Supervisor, sess: Any, step_counter: Any = None) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess
        self._counter = sv.global_step if step_counter is None else step_counter
        self._tag = f"{self._counter.op.name}/sec"
        self._last_s, self._last_step = 0.0, 0

    def start_loop(self) -> None:
        """Note time and step, before the first round."""
        self._last_s, self._last_step = time.time(), step_of(self._sess, self._counter)

    def run_loop(self) -> None:
        """Log and write the steps a second since the last time."""
        step, now_s = step_of(self._sess, self._counter), time.time()
        rate = (step - self._last_step) / max(now_s - self._last_s, 1e-9)
        self._last_s, self._last_step = now_s, step
        info("%s: %g", self._tag, rate)
        if self._sv.summary_writer is not None:
            value = Summary.Value(tag=self._tag, simple_value=rate)
            self._sv.summary_writer.add_summary(Summary(value=[value]), step)


class SVTimerCheckpointThread(LooperThread):
    """Writes checkpoints of a supervisor."""

    def __init__(self, sv: Supervisor, sess: Any) -> None:
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self) -> None:
        """Write a checkpoint."""
        sv = self._sv
        info("Saving checkpoint to path %s", sv.save_path)
        sv.saver.save(self._sess, sv.save_path, global_step=sv.global_step)
        if sv.summary_writer is not None and sv.global_step is not None:
            log = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=sv.save_path)
            sv.summary_writer.add_session_log(log, step_of(self._sess, sv.global_step))


def log_of(sv: Supervisor, sess: Any, status: int) -> None:
    """Write that the session starts or stops."""
    step: Optional[int] = None
    if sv.global_step is not None and sess is not None:
        step = step_of(sess, sv.global_step)
    if sv.summary_writer is not None:
        sv.summary_writer.add_session_log(SessionLog(status=status), step)
