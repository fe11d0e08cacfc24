"""`contrib.training.bucket_by_sequence_length`: batches of sequences of about the same length."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.cond import cond
from byparts_frontend_tf.api.identity import group, no_op
from byparts_frontend_tf.api.math.binary import equal, greater_equal
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.summary.summary import scalar
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import float32, int32
from byparts_tf_files.errors import CancelledError, OutOfRangeError
from byparts_tf_files.shape import TensorShape
from byparts_tf_input.queues.batch_queues import like, values_of
from byparts_tf_input.queues.queue_runner import QueueRunner, add_queue_runner
from byparts_tf_input.queues.queues import FIFOQueue, PaddingFIFOQueue

_ENDS = (OutOfRangeError, CancelledError)


@symbol("contrib.training.bucket")
def bucket(
    tensors: Any,
    which_bucket: TensorLike,
    batch_size: Any,
    num_buckets: int,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Any = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> Any:
    """Batches whose elements are of one bucket; (the number of the bucket, a batch).

    `which_bucket` is from 0 to num_buckets - 1.  `batch_size` may be a number for each bucket.
    `capacity`: batches that may wait, and by default elements in each bucket (bucket_capacities).
    The others are as those of `tf.train.maybe_batch`.
    """
    each = isinstance(batch_size, (list, tuple))
    sizes = list(batch_size) if each else [batch_size] * num_buckets
    room = bucket_capacities or [capacity] * num_buckets
    if len(sizes) != num_buckets or len(room) != num_buckets:
        raise ValueError(f"sizes and capacities must be of {num_buckets} buckets")
    kind: Any = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    with name_scope(name, "bucket"):
        components = [convert_to_tensor(t) for t in values_of(tensors)]
        dims = _shapes(components, shapes)
        dtypes = [t.dtype.base_dtype for t in components]
        buckets = [
            kind(room[i], dtypes, dims, shared_name=shared_name, name=f"bucket_queue_{i}")
            for i in range(num_buckets)
        ]
        _fill(buckets, components, convert_to_tensor(which_bucket), keep_input, num_threads)
        same = None if allow_smaller_final_batch else _one(sizes)
        top = _top(kind, capacity, dtypes, [[same, *(d.as_list() or [])] for d in dims], same)
        _empty(buckets, sizes, top, allow_smaller_final_batch)
        _summarize(buckets, top, capacity)
        which, *batch = top.dequeue(name="dequeue_top")
        return which, like(tensors, batch[0] if len(batch) == 1 else batch)


def _shapes(components: Sequence[Tensor], given: Any) -> list[TensorShape]:
    if given is None:
        return [t.get_shape() for t in components]
    return [TensorShape(s) for s in given]


def _one(sizes: Sequence[Any]) -> Optional[int]:
    known = {None if v is None else int(v) for v in map(_static, sizes)}
    return known.pop() if len(known) == 1 else None


def _static(size: Any) -> Any:
    return size if isinstance(size, (int, np.integer)) else static_value(convert_to_tensor(size))


def _top(kind: Any, capacity: int, dtypes: Any, dims: Any, same: Optional[int]) -> Any:
    """The queue of batches: their sizes may vary."""
    if same is None and kind is FIFOQueue:
        return FIFOQueue(capacity, [int32, *dtypes], name="top_queue")
    return kind(capacity, [int32, *dtypes], [[], *dims], name="top_queue")


def _fill(buckets: Any, components: Any, which: Tensor, keep: Any, threads: int) -> None:
    """A queue runner that puts each element into its bucket."""

    def put_anywhere() -> Any:
        puts = [
            cond(equal(which, i), lambda queue=queue: queue.enqueue(components), no_op)
            for i, queue in enumerate(buckets)
        ]
        return group(*puts, name="group_enqueue")

    known = static_value(convert_to_tensor(keep))
    if known is None:
        put = cond(keep, put_anywhere, no_op)
        put = getattr(put, "op", put)
    else:
        put = put_anywhere() if bool(known) else no_op()
    runner = QueueRunner(
        buckets[0],
        [put] * threads,
        close_op=group(*[q.close() for q in buckets]),
        cancel_op=group(*[q.close(cancel_pending_enqueues=True) for q in buckets]),
        queue_closed_exception_types=_ENDS,
    )
    add_queue_runner(runner)


def _empty(buckets: Any, sizes: Sequence[Any], top: Any, smaller: bool) -> None:
    """A queue runner that puts batches of each bucket into the queue `top`."""
    puts = []
    for i, (queue, size) in enumerate(zip(buckets, sizes, strict=True)):
        take = queue.dequeue_up_to if smaller else queue.dequeue_many
        batch = take(size, name=f"read_bucket_{i}")
        puts.append(top.enqueue([i, *values_of(batch)], name=f"enqueue_from_bucket_{i}"))
    add_queue_runner(QueueRunner(top, puts, queue_closed_exception_types=_ENDS))


def _summarize(buckets: Any, top: Any, capacity: int) -> None:
    for queue in buckets:
        scalar(f"bucket/{queue.name}/size", cast(queue.size(), float32))
    full = cast(top.size(), float32) / capacity
    scalar(f"bucket/{top.name}/fraction_of_{capacity}_full", full)


@symbol("contrib.training.bucket_by_sequence_length")
def bucket_by_sequence_length(
    input_length: TensorLike,
    tensors: Any,
    batch_size: Any,
    bucket_boundaries: Sequence[int],
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Any = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> Any:
    """Batches of sequences whose lengths are between the same boundaries; (lengths, a batch).

    `bucket_boundaries` increase; a sequence as long as one is of the bucket above.  The other
    arguments are as those of `bucket`.

    Raises:
        ValueError: the boundaries are none, or do not increase.
        TypeError: they are no integers.
    """
    if not bucket_boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    if not all(isinstance(b, (int, np.integer)) for b in bucket_boundaries):
        raise TypeError(f"bucket boundaries must be integers, but saw: {bucket_boundaries}")
    if any(a >= b for a, b in pairwise(bucket_boundaries)):
        raise ValueError(f"bucket boundaries must increase, but saw: {bucket_boundaries}")
    with name_scope(name, "bucket_by_sequence_length"):
        length = convert_to_tensor(input_length, dtype="int32")
        passed = greater_equal(length, convert_to_tensor(list(bucket_boundaries), "int32"))
        which = reduce_sum(cast(passed, int32))
        dims = None if shapes is None else [TensorShape([]), *shapes]
        _, (lengths, *batch) = bucket(
            [length, *values_of(tensors)],
            which,
            batch_size,
            len(bucket_boundaries) + 1,
            num_threads,
            capacity,
            bucket_capacities,
            dims,
            dynamic_pad,
            allow_smaller_final_batch,
            keep_input,
            shared_name,
        )
        return lengths, like(tensors, batch[0] if len(batch) == 1 else batch)
