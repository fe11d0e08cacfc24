"""`tf.train.Supervisor`: initialises or restores, saves and writes summaries in the background."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Optional

from byparts_frontend_tf.api.identity import group
from byparts_frontend_tf.api.logging import info, warning
from byparts_frontend_tf.api.summary.summary import merge_all
from byparts_frontend_tf.api.train.saver import Saver
from byparts_frontend_tf.api.train.write_graph import write_graph
from byparts_frontend_tf.api.variables.variable_lists import (
    global_variables,
    global_variables_initializer,
    report_uninitialized_variables,
)
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.training.scaffold import Scaffold
from byparts_tf_estimator.training.services import (
    SVStepCounterThread,
    SVSummaryThread,
    SVTimerCheckpointThread,
    log_of,
)
from byparts_tf_estimator.training.session_manager import SessionManager
from byparts_tf_files.event_file import FileWriter
from byparts_tf_files.messages.summary import SessionLog
from byparts_tf_input.queues.coordinator import Coordinator, LooperThread
from byparts_tf_input.queues.queue_runner import QueueRunner


@symbol("train.Supervisor")
class Supervisor:
    """Prepares a session for training, and serves it in the background.

    Args:
        graph: by default the default one; it is finalized.
        ready_op: gives the names of variables that have no value.
        ready_for_local_init_op: the same, before `local_init_op`.
        is_chief: others wait for another process.
        init_op: gives variables their first values, fed `init_feed_dict`.
        init_feed_dict: for `init_op`.
        local_init_op: always run.
        logdir: of checkpoints and event files; without one nothing is written.
        summary_op: all summaries; `None`: none are written.
        saver: of checkpoints; `None`: none are written.
        global_step: counts steps.
        save_summaries_secs: seconds between summaries; 0: none.
        save_model_secs: seconds between checkpoints; 0: none.
        recovery_wait_secs: how often it is looked for a checkpoint that is waited for.
        stop_grace_secs: how long threads may take to end.
        checkpoint_basename: how names of checkpoints begin.
        session_manager: makes the session.
        summary_writer: of the event file.
        init_fn: called with the session where there is no checkpoint.
        local_init_run_options: for `local_init_op`.
    """

    USE_DEFAULT = 0

    def __init__(
        self,
        graph: Any = None,
        ready_op: Any = USE_DEFAULT,
        ready_for_local_init_op: Any = USE_DEFAULT,
        is_chief: bool = True,
        init_op: Any = USE_DEFAULT,
        init_feed_dict: Any = None,
        local_init_op: Any = USE_DEFAULT,
        logdir: Any = None,
        summary_op: Any = USE_DEFAULT,
        saver: Any = USE_DEFAULT,
        global_step: Any = USE_DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: Any = None,
        summary_writer: Any = USE_DEFAULT,
        init_fn: Any = None,
        local_init_run_options: Any = None,
    ) -> None:
        self._graph = get_default_graph() if graph is None else graph
        self.is_chief, self.init_fn, self.init_feed_dict = is_chief, init_fn, init_feed_dict
        self.save_summaries_secs, self.save_model_secs = save_summaries_secs, save_model_secs
        self._grace_s = stop_grace_secs
        self.coord = Coordinator()
        with self._graph.as_default():
            self._find_initializers(ready_op, ready_for_local_init_op, init_op, local_init_op)
            self._find_what_is_kept(saver, summary_op, global_step)
        self._logdir = logdir if is_chief else None
        self.save_path = os.path.join(logdir, checkpoint_basename) if self._logdir else None
        if summary_writer is Supervisor.USE_DEFAULT:
            summary_writer = FileWriter(self._logdir) if self._logdir else None
        self.summary_writer = summary_writer
        self.session_manager = session_manager or SessionManager(
            local_init_op=self.local_init_op,
            ready_op=self.ready_op,
            ready_for_local_init_op=self.ready_for_local_init_op,
            graph=self._graph,
            recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options,
        )
        self._session: Any = None
        self._graph.finalize()

    def _find_initializers(self, ready: Any, ready_for_local: Any, first: Any, local: Any) -> None:
        self.ready_op = self._or_default(ready, GraphKeys.READY_OP, report_uninitialized_variables)
        self.ready_for_local_init_op = self._or_default(
            ready_for_local, GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None
        )
        self.init_op = self._or_default(
            first, GraphKeys.INIT_OP, lambda: group(global_variables_initializer())
        )
        self.local_init_op = self._or_default(
            local, GraphKeys.LOCAL_INIT_OP, Scaffold.default_local_init_op
        )

    def _find_what_is_kept(self, saver: Any, summary_op: Any, global_step: Any) -> None:
        self.saver = self._or_default(
            saver, GraphKeys.SAVERS, lambda: Saver() if global_variables() else None
        )
        self.summary_op = self._or_default(summary_op, GraphKeys.SUMMARY_OP, merge_all)
        self.global_step = self._or_default(global_step, GraphKeys.GLOBAL_STEP, self._step_by_name)

    def _or_default(self, given: Any, key: str, make: Any) -> Any:
        """The given object, the first of a collection, or a new one that is added to it."""
        if given is not Supervisor.USE_DEFAULT:
            return given
        found = self._graph.get_collection(key)
        if found:
            return found[0]
        made = make()
        if made is not None:
            self._graph.add_to_collection(key, made)
        return made

    def _step_by_name(self) -> Any:
        try:
            return self._graph.as_graph_element("global_step:0")
        except (KeyError, ValueError):
            return None

    # Sessions

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Any:
        """A session whose variables are restored or initialised, with its services.

        Raises:
            RuntimeError: a variable has no value.
            UnimplementedError: this is not the chief.
        """
        self.coord.clear_stop()
        if self.summary_writer is not None:
            self.summary_writer.reopen()
        if not self.is_chief:
            return self.session_manager.wait_for_session(master, config, max_wait_secs)
        self._session = self.session_manager.prepare_session(
            master,
            init_op=self.init_op,
            saver=self.saver,
            checkpoint_dir=self._logdir,
            wait_for_checkpoint=wait_for_checkpoint,
            max_wait_secs=max_wait_secs,
            config=config,
            init_feed_dict=self.init_feed_dict,
            init_fn=self.init_fn,
        )
        self._write_graph()
        if start_standard_services:
            info("Starting standard services.")
            self.start_standard_services(self._session)
        info("Starting queue runners.")
        self.start_queue_runners(self._session)
        return self._session

    def _write_graph(self) -> None:
        if self._logdir:
            write_graph(self._graph, self._logdir, "graph.pbtxt")
        if self.summary_writer is not None:
            self.summary_writer.add_graph(self._graph)

    def start_standard_services(self, sess: Any) -> Any:
        """Start the threads that save, write summaries and count steps; `None` without a folder.

        Raises:
            RuntimeError: this is not the chief.
        """
        if not self.is_chief:
            raise RuntimeError(
                "Only chief supervisor can start standard services. Because only chief supervisors "
                "can write events."
            )
        if not self._logdir:
            warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        if self.global_step is not None and self.summary_writer is not None:
            log_of(self, sess, SessionLog.START)
        threads: list[LooperThread] = []
        if self.save_summaries_secs and self.summary_writer is not None:
            if self.summary_op is not None:
                threads.append(SVSummaryThread(self, sess))
            if self.global_step is not None:
                threads.append(SVStepCounterThread(self, sess))
        if self.saver is not None and self.save_model_secs:
            threads.append(SVTimerCheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return threads

    def start_queue_runners(
        self, sess: Any, queue_runners: Optional[Sequence[QueueRunner]] = None
    ) -> list[Any]:
        """Start queue runners, by default all of the graph; their threads."""
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        return [
            t
            for qr in queue_runners
            for t in qr.create_threads(sess, coord=self.coord, daemon=True, start=True)
        ]

    @contextmanager
    def managed_session(
        self,
        master: str = "",
        config: Any = None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[Any]:
        """A session for the block; an exception in it stops the services and is raised at the end.

        The end of the input is no error.
        """
        sess = None
        try:
            sess = self.prepare_or_wait_for_session(
                master, config, start_standard_services=start_standard_services
            )
            yield sess
        except Exception as error:  # `stop` raises it
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if sess is not None:
                    with suppress(Exception):  # as TensorFlow: what went wrong before counts
                        sess.close()

    # Stopping

    def stop(
        self,
        threads: Any = None,
        close_summary_writer: bool = True,
        ignore_live_threads: bool = False,
    ) -> None:
        """Stop and join all threads, and close the event file.

        Raises:
            BaseException: what a thread raised.
        """
        self.coord.request_stop()
        try:
            self.coord.join(
                threads,
                stop_grace_period_secs=self._grace_s,
                ignore_live_threads=ignore_live_threads,
            )
        finally:
            if close_summary_writer and self.summary_writer is not None:
                log_of(self, None, SessionLog.STOP)
                self.summary_writer.close()

    def request_stop(self, ex: Any = None) -> None:
        """Ask all threads to stop, as `Coordinator.request_stop`."""
        self.coord.request_stop(ex=ex)

    def should_stop(self) -> bool:
        """Whether somebody asked to stop."""
        return self.coord.should_stop()

    def stop_on_exception(self) -> Any:
        """A context that asks to stop where an exception is raised in it."""
        return self.coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        """Wait until somebody asks to stop."""
        self.coord.wait_for_stop()

    def loop(
        self, timer_interval_secs: Any, target: Any, args: Any = None, kwargs: Any = None
    ) -> LooperThread:
        """A started thread that calls a function again and again, until the stop."""
        looper = LooperThread(self.coord, timer_interval_secs, target, args, kwargs)
        looper.start()
        return looper

    def summary_computed(self, sess: Any, summary: Any, global_step: Any = None) -> None:
        """Write a summary to the event file.

        Raises:
            RuntimeError: there is none.
        """
        if self.summary_writer is None:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self.global_step is not None:
            global_step = int(sess.run(self.global_step))
        self.summary_writer.add_summary(summary, global_step)

    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop, RequestStop, ShouldStop = stop, request_stop, should_stop
    Loop, StopOnException, WaitForStop = loop, stop_on_exception, wait_for_stop
    SummaryComputed = summary_computed
