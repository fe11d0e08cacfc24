"""Makes batches: a queue of elements, which runners fill."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.cond import cond
from byparts_frontend_tf.api.gather import gather
from byparts_frontend_tf.api.identity import no_op
from byparts_frontend_tf.api.io.serialize_sparse import (
    deserialize_many_sparse,
    serialize_many_sparse,
    serialize_sparse,
)
from byparts_frontend_tf.api.math.binary import maximum
from byparts_frontend_tf.api.summary.summary import scalar
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.static import static_value
from byparts_tf_files.dtypes import bool_, float32
from byparts_tf_files.shape import Dims, TensorShape, agreed
from byparts_tf_input.queues.queue import QueueBase
from byparts_tf_input.queues.queue_runner import QueueRunner, add_queue_runner
from byparts_tf_input.queues.queues import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue


@dataclass(frozen=True)
class Batches:
    """Options of making batches of elements.

    Attributes:
        batch_size: elements in a batch.
        capacity: of the queue.
        enqueue_many: whether the tensors are several elements each.
        shapes: of the components of an element, if not all are known.
        dynamic_pad: whether components of several sizes are padded.
        smaller: whether the last batch may be smaller.
        shared_name: of the queue.
    """

    batch_size: Any
    capacity: int
    enqueue_many: bool
    shapes: Any
    dynamic_pad: bool
    smaller: bool
    shared_name: Optional[str]

    def made(
        self, original: Any, lists: Sequence[Any], threads: int, keep: Any, name: str, shuffle: Any
    ) -> Any:
        """Batches of what the lists give.

        Args:
            original: whose structure a batch has.
            lists: each is the components of elements, for a thread of its own or several.
            threads: for each list.
            keep: whether an element is taken at all.
            name: of the scope, and of the batches.
            shuffle: (min_after_dequeue, seed), or `None`.
        """
        sparse = {i: t for i, t in enumerate(values_of(lists[0])) if isinstance(t, SparseTensor)}
        components = [[self._dense(t) for t in values_of(one)] for one in lists]
        if not components or not components[0]:
            raise ValueError("Expected at least one tensor in batch().")
        keep = _keep(keep, self.enqueue_many)
        dims = self._element(components)
        queue = self._queue(dims, [t.dtype.base_dtype for t in components[0]], shuffle)
        puts = [_enqueue(queue, one, self.enqueue_many, keep) for one in components]
        add_queue_runner(QueueRunner(queue, puts * threads))
        self._summary(queue, shuffle)
        take = queue.dequeue_up_to if self.smaller else queue.dequeue_many
        batch = take(self.batch_size, name=name)
        if sparse:
            batch = batch if isinstance(batch, list) else [batch]
            batch = [_sparse_again(t, sparse.get(i)) for i, t in enumerate(batch)]
            batch = batch if len(batch) > 1 else batch[0]
        return like(original, batch)

    def _dense(self, given: Any) -> Tensor:
        """A tensor; of a sparse one the strings that it is in a queue."""
        if not isinstance(given, SparseTensor):
            return convert_to_tensor(given)
        made = (serialize_many_sparse if self.enqueue_many else serialize_sparse)(given)
        made.set_shape([None, 3] if self.enqueue_many else [3])
        return made

    def _element(self, components: Sequence[Sequence[Tensor]]) -> list[Any]:
        """The shapes of the components of an element."""
        if self.shapes is not None:
            given = self.shapes
            if isinstance(given, TensorShape) or (
                len(components[0]) == 1 and all(d is None or isinstance(d, int) for d in given)
            ):
                given = [given]
            return [TensorShape(s) for s in given]
        known = []
        for i in range(len(components[0])):
            dims: Dims = components[0][i].dims
            for one in components[1:]:
                dims = agreed(dims, one[i].dims)
            known.append(dims if dims is None or not self.enqueue_many else dims[1:])
        return [TensorShape(d) for d in known]

    def _queue(self, dims: Any, dtypes: Any, shuffle: Any) -> QueueBase:
        if shuffle is not None:
            return RandomShuffleQueue(
                self.capacity,
                shuffle[0],
                dtypes,
                dims,
                seed=shuffle[1],
                shared_name=self.shared_name,
            )
        kind: Any = PaddingFIFOQueue if self.dynamic_pad else FIFOQueue
        made: QueueBase = kind(self.capacity, dtypes, dims, shared_name=self.shared_name)
        return made

    def _summary(self, queue: QueueBase, shuffle: Any) -> None:
        if shuffle is None:
            part = cast(queue.size(), float32) * (1.0 / self.capacity)
            scalar(f"fraction_of_{self.capacity}_full", part)
            return
        room = self.capacity - shuffle[0]
        over = maximum(0, queue.size() - shuffle[0])
        part = cast(over, float32) * (1.0 / room if room else 0.0)
        scalar(f"fraction_over_{shuffle[0]}_of_{room}_full", part)


def _sparse_again(batch: Tensor, element: Optional[SparseTensor]) -> Any:
    """The component of a batch of which `element` was one; `None` where it is not sparse."""
    if element is None:
        return batch
    rank = element.get_shape().ndims
    return deserialize_many_sparse(batch, element.dtype, rank)


def values_of(given: Any) -> list[Any]:
    """The components of an element: a list, those of a dict by their sorted names, or one."""
    if isinstance(given, Mapping):
        return [given[k] for k in sorted(given)]
    return list(given) if isinstance(given, (list, tuple)) else [given]


def like(original: Any, made: Any) -> Any:
    """The components of a batch in the structure of what was given."""
    if not isinstance(original, Mapping):
        return made
    values = made if isinstance(made, list) else [made]
    return dict(zip(sorted(original), values, strict=True))


def _keep(given: Any, enqueue_many: bool) -> Any:
    made = convert_to_tensor(given, dtype=bool_)
    if made.dims is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if len(made.dims) > 1 or (made.dims and not enqueue_many):
        raise ValueError(
            "`keep_input` must be a scalar, or with `enqueue_many` a vector, not of rank "
            f"{len(made.dims)}."
        )
    return made


def _enqueue(
    queue: QueueBase, components: Sequence[Tensor], enqueue_many: bool, keep: Tensor
) -> Operation:
    """Put what the components give, if it is to be kept."""
    put: Callable[[Any], Operation] = queue.enqueue_many if enqueue_many else queue.enqueue
    if keep.dims:
        rows = where(keep)[:, 0]
        return put([gather(t, rows) for t in components])
    known = static_value(keep)
    if known is not None:
        return put(list(components)) if bool(known) else no_op()
    made: Operation = cond(keep, lambda: put(list(components)), no_op)
    return getattr(made, "op", made)
