"""`slim.learning.train`: steps in a loop, with a supervisor."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, Optional

from byparts_frontend_tf.api.constant import constant
from byparts_frontend_tf.api.logging import info
from byparts_frontend_tf.api.math.binary import equal_tensors, floormod, greater_equal
from byparts_frontend_tf.api.train.global_step import get_or_create_global_step
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.training.supervisor import Supervisor
from byparts_tf_files.errors import CancelledError, OutOfRangeError

_USUAL = 0  # as of the supervisor


@symbol("contrib.slim.learning.train_step")
def train_step(
    sess: Any, train_op: Any, global_step: Any, train_step_kwargs: dict[str, Any]
) -> tuple[Any, bool]:
    """Take a step: the loss, and whether it was the last.

    Args:
        sess: the session.
        train_op: takes a step and gives the loss.
        global_step: counts steps.
        train_step_kwargs: "should_stop" and "should_log", tensors.
    """
    start = time.time()
    loss = sess.run(train_op)
    took = time.time() - start
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        step = sess.run(global_step)  # after the step, as TensorFlow logs it
        info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, took)
    stop = "should_stop" in train_step_kwargs and sess.run(train_step_kwargs["should_stop"])
    return loss, bool(stop)


def _questions(step: Any, number_of_steps: Any, log_every_n_steps: int) -> dict[str, Any]:
    """Whether to stop, and whether to say something, after a step."""
    with name_scope("train_step"):
        read = convert_to_tensor(step)
        stop = constant(False) if not number_of_steps else greater_equal(read, number_of_steps)
        asked = {"should_stop": stop}
        if log_every_n_steps > 0:
            asked["should_log"] = equal_tensors(floormod(read, log_every_n_steps), 0)
        return asked


@symbol("contrib.slim.learning.train")
def train(
    train_op: Any,
    logdir: Optional[str],
    train_step_fn: Callable[..., Any] = train_step,
    train_step_kwargs: Any = _USUAL,
    log_every_n_steps: int = 1,
    graph: Any = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Any = None,
    number_of_steps: Optional[int] = None,
    init_op: Any = _USUAL,
    init_feed_dict: Any = None,
    local_init_op: Any = _USUAL,
    init_fn: Any = None,
    ready_op: Any = _USUAL,
    summary_op: Any = _USUAL,
    save_summaries_secs: float = 600,
    summary_writer: Any = _USUAL,
    startup_delay_steps: int = 0,
    saver: Any = None,
    save_interval_secs: float = 600,
    sync_optimizer: Any = None,
    session_config: Any = None,
    session_wrapper: Any = None,
    trace_every_n_steps: Optional[int] = None,
    ignore_live_threads: bool = False,
) -> Any:
    """The loss of the last step.

    Args:
        train_op: takes a step and gives the loss (`create_train_op`).
        logdir: of checkpoints and event files, or `None`.
        train_step_fn: called for each step, as `train_step`.
        train_step_kwargs: its last argument.
        log_every_n_steps: how often the loss is logged.
        graph: by default the default one; it is finalized.
        master: "".
        is_chief: whether this process writes checkpoints.
        global_step: by default that of the graph.
        number_of_steps: then it ends; by default never, or with the input.
        init_op: as of the supervisor, as are those without a word here.
        init_feed_dict: for `init_op`.
        local_init_op: always run.
        init_fn: called with the session where there is no checkpoint.
        ready_op: gives the names of variables that have no value.
        summary_op: all summaries.
        save_summaries_secs: between summaries.
        summary_writer: of the event file.
        startup_delay_steps: accepted.
        saver: of checkpoints.
        save_interval_secs: between checkpoints.
        sync_optimizer: accepted; there is one worker.
        session_config: of the session.
        session_wrapper: called with the session, gives the one to use.
        trace_every_n_steps: accepted.
        ignore_live_threads: whether threads may go on in the end.

    Raises:
        ValueError: there is nothing to train.
    """
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    graph = graph or get_default_graph()
    with graph.as_default():
        step = get_or_create_global_step() if global_step is None else global_step
        if train_step_kwargs is _USUAL:
            train_step_kwargs = _questions(step, number_of_steps, log_every_n_steps)
    supervisor = Supervisor(
        graph=graph,
        is_chief=is_chief,
        logdir=logdir,
        init_op=init_op,
        init_feed_dict=init_feed_dict,
        local_init_op=local_init_op,
        ready_op=ready_op,
        summary_op=summary_op,
        summary_writer=summary_writer if logdir else None,
        global_step=step,
        saver=saver or _USUAL,
        save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs,
        init_fn=init_fn,
    )
    loss = None
    with supervisor.managed_session(
        master, start_standard_services=False, config=session_config
    ) as session:
        session = session if session_wrapper is None else session_wrapper(session)
        take = partial(train_step_fn, session, train_op, step, train_step_kwargs)
        loss = _trained(supervisor, session, take, bool(is_chief and logdir), ignore_live_threads)
    return loss


def _trained(
    supervisor: Supervisor, session: Any, take: Any, saves: bool, ignore_live_threads: bool
) -> Any:
    """The last loss; services and queues run, and in the end there is a checkpoint."""
    info("Starting Session.")
    if saves:
        supervisor.start_standard_services(session)
    threads = supervisor.start_queue_runners(session)
    info("Starting Queues.")
    loss = _steps(supervisor, take)
    if saves:
        info("Finished training! Saving model to disk.")
        step = supervisor.global_step
        supervisor.saver.save(session, supervisor.save_path, global_step=step)
        supervisor.stop(threads, ignore_live_threads=ignore_live_threads)
    return loss


def _steps(supervisor: Supervisor, take: Callable[[], Any]) -> Any:
    """The last loss, when the steps are done or the input has ended."""
    loss = None
    try:
        while not supervisor.should_stop():
            loss, stop = take()
            if stop:
                info("Stopping Training.")
                supervisor.request_stop()
    except (OutOfRangeError, CancelledError) as error:
        info("Caught OutOfRangeError. Stopping Training. %s", error)
    return loss


SYMBOLS = {
    "contrib.slim.learning.tf_saver.Saver": "byparts_frontend_tf.api.train.saver:Saver",
    "contrib.slim.learning.supervisor.Supervisor": (
        "byparts_tf_estimator.training.supervisor:Supervisor"
    ),
}
