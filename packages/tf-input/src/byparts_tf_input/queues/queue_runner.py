"""`tf.train.QueueRunner`: threads that keep a queue filled."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.logging import error as log_error, warning
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.scopes import add_to_collection
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.running.stack import get_default_session
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files import errors
from byparts_tf_files.errors import OpError, OutOfRangeError
from byparts_tf_files.messages.meta_graph import QueueRunnerDef
from byparts_tf_input.queues.coordinator import Coordinator
from byparts_tf_input.queues.queue import QueueBase

_END: tuple[type[OpError], ...] = (OutOfRangeError,)


@symbol("train.QueueRunner", "train.queue_runner.QueueRunner")
class QueueRunner:
    """Threads for the enqueue operations of a queue, one each.

    Args:
        queue: the queue.
        enqueue_ops: an operation may stand there several times: several threads.
        close_op, cancel_op: close the queue; the second one cancels what waits to enqueue.
        queue_closed_exception_types: exceptions that say that the input has ended.
        queue_runner_def: a message that says all this, instead.
        import_scope: under which names the operations of the message are.

    Raises:
        ValueError: there is no queue or no operation.
        TypeError: the types of exceptions are none.
    """

    def __init__(
        self,
        queue: Optional[QueueBase] = None,
        enqueue_ops: Optional[Sequence[Any]] = None,
        close_op: Any = None,
        cancel_op: Any = None,
        queue_closed_exception_types: Optional[Sequence[type]] = None,
        queue_runner_def: Any = None,
        import_scope: Optional[str] = None,
    ) -> None:
        if queue_runner_def is not None:
            if queue is not None or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._from_message(queue_runner_def, import_scope)
        else:
            if queue is None or not enqueue_ops:
                raise ValueError("Must provide queue and enqueue_ops.")
            self._queue: Any = queue
            self._enqueue_ops = list(enqueue_ops)
            self._close = queue.close() if close_op is None else close_op
            self._cancel = queue.close(True) if cancel_op is None else cancel_op
            self._ends = _types(queue_closed_exception_types)
        self._lock = threading.Lock()
        self._runs: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._raised: list[BaseException] = []

    def _from_message(self, message: Any, scope: Optional[str]) -> None:
        graph = get_default_graph()

        def found(name: str) -> Any:
            return graph.as_graph_element(f"{scope}/{name}" if scope else name)

        self._queue = found(message.queue_name)
        self._enqueue_ops = [found(name) for name in message.enqueue_op_name]
        self._close, self._cancel = found(message.close_op_name), found(message.cancel_op_name)
        codes = set(message.queue_closed_exception_types)
        kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, OpError)]
        named = tuple([k for k in kinds if k is not OpError and k.error_code in codes])
        self._ends = named or _END

    @property
    def queue(self) -> Any:
        """The queue."""
        return self._queue

    @property
    def enqueue_ops(self) -> list[Any]:
        """The operations that fill it."""
        return self._enqueue_ops

    @property
    def close_op(self) -> Any:
        """Closes it."""
        return self._close

    @property
    def cancel_op(self) -> Any:
        """Closes it, and cancels what waits to enqueue."""
        return self._cancel

    @property
    def queue_closed_exception_types(self) -> tuple[type, ...]:
        """Exceptions that say that the input has ended."""
        return self._ends

    @property
    def exceptions_raised(self) -> list[BaseException]:
        """The exceptions of threads without a coordinator."""
        return self._raised

    @property
    def name(self) -> str:
        """The name of the queue."""
        name: str = self._queue.name
        return name

    def create_threads(
        self,
        sess: Any,
        coord: Optional[Coordinator] = None,
        daemon: bool = False,
        start: bool = False,
    ) -> list[threading.Thread]:
        """Threads that run the operations in `sess` until the input ends or `coord` stops.

        None where those of an earlier call still run.
        """
        with self._lock:
            if self._runs.get(sess, 0) > 0:
                return []
            self._runs[sess] = len(self._enqueue_ops)
            self._raised.clear()
        threads = [
            threading.Thread(
                target=self._run,
                args=(sess, op, coord),
                name=f"QueueRunnerThread-{self.name}-{op.name}",
            )
            for op in self._enqueue_ops
        ]
        if coord is not None:
            threads.append(
                threading.Thread(
                    target=self._close_on_stop,
                    args=(sess, coord),
                    name=f"QueueRunnerThread-{self.name}-close_on_stop",
                )
            )
        for thread in threads:
            if coord is not None:
                coord.register_thread(thread)
            thread.daemon = daemon or thread.daemon
            if start:
                thread.start()
        return threads

    def _run(self, sess: Any, op: Any, coord: Optional[Coordinator]) -> None:
        ended = False
        try:
            while coord is None or not coord.should_stop():
                try:
                    sess.run(op)
                except self._ends:
                    ended = True
                    if self._one_less(sess) == 0:
                        self._quietly(sess, self._close)
                    return
        except Exception as error:
            if coord is not None:
                coord.request_stop(error)
            else:
                log_error("Exception in QueueRunner: %s", str(error))
                with self._lock:
                    self._raised.append(error)
                raise
        finally:
            if not ended:
                self._one_less(sess)

    def _one_less(self, sess: Any) -> int:
        with self._lock:
            self._runs[sess] = self._runs.get(sess, 1) - 1
            return self._runs[sess]

    def _close_on_stop(self, sess: Any, coord: Coordinator) -> None:
        coord.wait_for_stop()
        self._quietly(sess, self._cancel)

    @staticmethod
    def _quietly(sess: Any, op: Any) -> None:
        """Close the queue, unless that has been done, or the session is closed."""
        try:
            sess.run(op)
        except (OpError, RuntimeError):
            return

    def to_proto(self, export_scope: Optional[str] = None) -> Any:
        """A message that says all this; `None` if the queue is not in the scope."""
        cut = f"{export_scope}/" if export_scope else ""
        if not self.name.startswith(cut):
            return None
        return QueueRunnerDef(
            queue_name=self.name[len(cut) :],
            enqueue_op_name=[op.name[len(cut) :] for op in self._enqueue_ops],
            close_op_name=self._close.name[len(cut) :],
            cancel_op_name=self._cancel.name[len(cut) :],
            queue_closed_exception_types=[k.error_code for k in self._ends],
        )

    @staticmethod
    def from_proto(queue_runner_def: Any, import_scope: Optional[str] = None) -> QueueRunner:
        """The runner that a message says."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


def _types(given: Any) -> tuple[Any, ...]:
    if given is None:
        return _END
    kinds = tuple(given) if isinstance(given, (list, tuple)) else ()
    if not kinds or not all(isinstance(k, type) and issubclass(k, OpError) for k in kinds):
        raise TypeError(
            "queue_closed_exception_types, when provided, must be a tuple of tf.error types, "
            f"but saw: {given}"
        )
    return kinds


@symbol("train.add_queue_runner", "train.queue_runner.add_queue_runner")
def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Have `start_queue_runners` start this one, too."""
    add_to_collection(collection, qr)


@symbol("train.start_queue_runners", "train.queue_runner.start_queue_runners")
def start_queue_runners(
    sess: Any = None,
    coord: Optional[Coordinator] = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """Start all queue runners of the graph; their threads.

    Raises:
        ValueError: there is no session.
        TypeError: `sess` is none.
    """
    sess = get_default_session() if sess is None else sess
    if sess is None:
        raise ValueError(
            "Cannot start queue runners: No default session is registered. Use `with "
            "sess.as_default()` or pass an explicit session to tf.start_queue_runners(sess=sess)"
        )
    if not hasattr(sess, "run") or not hasattr(sess, "graph"):
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {sess.__class__}")
    runners = sess.graph.get_collection(collection)
    if not runners:
        warning(
            "`tf.train.start_queue_runners()` was called when no queue runners were defined. You "
            "can safely remove the call to this deprecated function."
        )
    return [t for qr in runners for t in qr.create_threads(sess, coord, daemon, start)]
