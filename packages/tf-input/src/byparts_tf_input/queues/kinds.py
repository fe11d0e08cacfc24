"""Kinds of operations on queues: on the host, at what a session keeps for the queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation
from byparts_frontend_tf.running.signals import OnHost
from byparts_tf_files.dtypes import DType, bool_, int32, resource
from byparts_tf_files.errors import InvalidArgumentError
from byparts_tf_input.queues.storage import (
    Element,
    OrderedStorage,
    PaddedStorage,
    ShuffledStorage,
    Storage,
)


def kept_kind(type: str, make: Callable[[str, Operation], Any]) -> Kind:
    """A kind whose output is an object that the session keeps: made by `make(name, operation)`.

    Operations with one `shared_name` have one object.
    """

    def lower(lowering: Any, op: Operation) -> None:
        if lowering.outer is not None:
            raise OnHost(op, "a session keeps it")
        session, shared = lowering.run.session, op.attributes.get("shared_name")
        key = (type, shared) if shared else op
        name = shared or f"_{len(session.kept)}_{op.name}"
        lowering.call(op, lambda: session.keep(key, lambda: make(name, op)), (), [None])

    return Kind(
        type,
        special=lower,
        shape=lambda inputs, **_: (),
        dtype=resource,
        gradient=False,
        effect=True,
    )


def _of(storage: Any) -> Callable[[str, Operation], Storage]:
    def make(name: str, op: Operation) -> Storage:
        given = op.attributes
        made: Storage = storage(name, given["capacity"], given["shapes"])
        return made

    return make


def _shuffled(name: str, op: Operation) -> Storage:
    given = op.attributes
    return ShuffledStorage(
        name, given["capacity"], given["shapes"], given["min_after_dequeue"], given["seed"]
    )


QUEUES = {
    "FIFOQueueV2": kept_kind("FIFOQueueV2", _of(Storage)),
    "PaddingFIFOQueueV2": kept_kind("PaddingFIFOQueueV2", _of(PaddedStorage)),
    "PriorityQueueV2": kept_kind("PriorityQueueV2", _of(OrderedStorage)),
    "RandomShuffleQueueV2": kept_kind("RandomShuffleQueueV2", _shuffled),
}


def _copied(array: Any) -> Any:
    return np.array(array, object if isinstance(array, bytes) else None)


def _enqueue(queue: Storage, *components: Any) -> None:
    queue.put([tuple([_copied(c) for c in components])])


def _enqueue_many(queue: Storage, *components: Any) -> None:
    copies = [_copied(c) for c in components]
    counts = {len(c) for c in copies}
    if len(counts) > 1:
        raise InvalidArgumentError(
            None,
            None,
            "All components in an enqueue_many must have the same size in the 0th dimension: "
            f"{[len(c) for c in copies]}",
        )
    (count,) = counts
    queue.put([tuple([_row(c, i) for c in copies]) for i in range(count)])


def _row(array: Any, at: int) -> Any:
    return np.asarray(array[at], array.dtype)


def _effect(type: str, host: Callable[..., Any], **more: Any) -> Kind:
    return Kind(
        type, host=host, shape=lambda inputs, **_: [], dtype=(), gradient=False, effect=True, **more
    )


ENQUEUE = _effect("QueueEnqueueV2", _enqueue)
ENQUEUE_MANY = _effect("QueueEnqueueManyV2", _enqueue_many)
CLOSE = _effect(
    "QueueCloseV2", lambda queue, cancel_pending_enqueues: queue.close(cancel_pending_enqueues)
)


def _results(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else tuple(values)


def _dequeue(queue: Storage, component_types: Sequence[DType]) -> Any:
    (element,) = queue.take(1)
    return _results(element)


def _dequeue_many(queue: Storage, n: Any, component_types: Sequence[DType]) -> Any:
    return _stacked(queue, queue.take, n, component_types)


def _dequeue_up_to(queue: Storage, n: Any, component_types: Sequence[DType]) -> Any:
    return _stacked(queue, lambda count: queue.take(count, True), n, component_types)


def _stacked(
    queue: Storage,
    take: Callable[[int], list[Element]],
    n: Any,
    component_types: Sequence[DType],
) -> Any:
    if queue.shapes is None:
        raise InvalidArgumentError(
            None,
            None,
            f"{queue.kind}'s DequeueMany and DequeueUpTo require the components to have specified "
            "shapes.",
        )
    if int(n) < 0:
        raise InvalidArgumentError(None, None, f"DequeueManyOp requested {int(n)} < 0 elements")
    if int(n) == 0:
        return _results(
            [
                np.empty((0, *[d or 0 for d in dims or ()]), kind.as_numpy_dtype)
                for dims, kind in zip(queue.shapes, component_types, strict=True)
            ]
        )
    elements = take(int(n))
    return _results([queue.stacked(v, i) for i, v in enumerate(zip(*elements, strict=True))])


def _components(type: str, host: Callable[..., Any]) -> Kind:
    return Kind(
        type,
        host=host,
        shape=lambda inputs, component_types: [None] * len(component_types),
        dtype=lambda inputs, component_types: list(component_types),
        gradient=False,
        effect=True,
    )


DEQUEUE = _components("QueueDequeueV2", _dequeue)
DEQUEUE_MANY = _components("QueueDequeueManyV2", _dequeue_many)
DEQUEUE_UP_TO = _components("QueueDequeueUpToV2", _dequeue_up_to)


def _asked(type: str, host: Callable[..., Any], dtype: DType) -> Kind:
    return Kind(type, host=host, shape=lambda inputs: (), dtype=dtype, gradient=False)


SIZE = _asked("QueueSizeV2", lambda queue: np.int32(queue.size()), int32)
IS_CLOSED = _asked("QueueIsClosedV2", lambda queue: np.bool_(queue.closed), bool_)
CHOOSE = _asked("RefSelect", lambda index, *queues: queues[int(index)], resource)
