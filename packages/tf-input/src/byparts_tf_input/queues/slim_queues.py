"""`contrib.slim.prefetch_queue` and `contrib.slim.queues`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.summary.summary import scalar
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import float32
from byparts_tf_input.queues.batch_queues import values_of
from byparts_tf_input.queues.coordinator import Coordinator
from byparts_tf_input.queues.queue import QueueBase
from byparts_tf_input.queues.queue_runner import (
    QueueRunner,
    add_queue_runner,
    start_queue_runners,
)
from byparts_tf_input.queues.queues import FIFOQueue, PaddingFIFOQueue


@symbol("contrib.slim.prefetch_queue.prefetch_queue")
def prefetch_queue(
    tensors: Any,
    capacity: int = 8,
    num_threads: int = 1,
    dynamic_pad: bool = False,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> QueueBase:
    """A queue of what `tensors`, a list or dict, give run by run, filled by a queue runner.

    Args:
        tensors: a list or dict.
        capacity: of the queue.
        num_threads: that run `tensors`.
        dynamic_pad: whether shapes may vary.
        shared_name: of the queue.
        name: of the scope.
    """
    names = sorted(tensors) if isinstance(tensors, Mapping) else None
    with name_scope(name, "prefetch_queue"):
        given = [convert_to_tensor(t) for t in values_of(tensors)]
        kind: Any = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        queue: QueueBase = kind(
            capacity=capacity,
            dtypes=[t.dtype.base_dtype for t in given],
            shapes=[t.get_shape() for t in given],
            names=names,
            shared_name=shared_name,
        )
        put = queue.enqueue(dict(zip(names, given, strict=True)) if names else given)
        add_queue_runner(QueueRunner(queue, [put] * num_threads))
        part = cast(queue.size(), float32) * (1.0 / capacity)
        scalar(f"fraction_of_{capacity}_full", part)
        return queue


@symbol("contrib.slim.queues.QueueRunners")
@contextmanager
def QueueRunners(session: Any) -> Iterator[None]:  # noqa: N802  # TensorFlow's name
    """Queue runners run while the block does; then the threads are stopped and joined."""
    coord = Coordinator()
    threads = start_queue_runners(sess=session, coord=coord)
    try:
        yield
    finally:
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=120)
