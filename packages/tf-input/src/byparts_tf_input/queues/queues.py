"""`tf.FIFOQueue` and its kin: where threads of a program put elements, and others take them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.seeds import stream_key
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import DType, int64
from byparts_tf_files.shape import TensorShape, as_dims
from byparts_tf_input.queues import kinds
from byparts_tf_input.queues.queue import QueueBase, dtypes_of, shapes_of


def _made(
    type: str, capacity: int, dtypes: Sequence[DType], shapes: Any, shared_name: Any, **more: Any
) -> Callable[[str], Tensor]:
    dims = None if shapes is None else tuple([as_dims(s) for s in shapes])
    return lambda name: kinds.QUEUES[type](
        name=name,
        component_types=tuple(dtypes),
        shapes=dims,
        capacity=int(capacity),
        shared_name=shared_name or "",
        **more,
    )


@symbol("FIFOQueue", "queue.FIFOQueue")
class FIFOQueue(QueueBase):
    """Elements come out in the order in which they went in.

    Args:
        capacity: how many it may have; enqueueing waits for room.
        dtypes: of the components.
        shapes: of the components; needed for `dequeue_many`.
        names: of the components: elements are then dicts.
        shared_name: queues of a session with one such name are one queue.
        name: of the operation.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: Optional[str] = None,
        name: str = "fifo_queue",
    ) -> None:
        kinds_ = dtypes_of(dtypes)
        dims = shapes_of(shapes, len(kinds_))
        make = _made("FIFOQueueV2", capacity, kinds_, dims, shared_name)
        super().__init__(kinds_, dims, names, make(name))


@symbol("RandomShuffleQueue", "queue.RandomShuffleQueue")
class RandomShuffleQueue(QueueBase):
    """Elements come out in random order.

    Args:
        capacity, dtypes, shapes, names, shared_name, name: as those of `FIFOQueue`.
        min_after_dequeue: how many stay behind, until it is closed.
        seed: of the order.
    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: Optional[int] = None,
        shared_name: Optional[str] = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        kinds_ = dtypes_of(dtypes)
        dims = shapes_of(shapes, len(kinds_))
        key, fixed = stream_key(get_default_graph(), seed)
        make = _made(
            *("RandomShuffleQueueV2", capacity, kinds_, dims, shared_name),
            min_after_dequeue=int(min_after_dequeue),
            seed=key if fixed else None,
        )
        super().__init__(kinds_, dims, names, make(name))


@symbol("PaddingFIFOQueue", "queue.PaddingFIFOQueue")
class PaddingFIFOQueue(QueueBase):
    """A `FIFOQueue` of elements whose sizes vary: `dequeue_many` pads with zeros or "".

    Raises:
        ValueError: the rank of a component is not said.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any,
        names: Any = None,
        shared_name: Optional[str] = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        kinds_ = dtypes_of(dtypes)
        dims = shapes_of(shapes, len(kinds_), partial=True)
        if dims is None or any(s.ndims is None for s in dims):
            raise ValueError(f"Shapes must have known rank for PaddingFIFOQueue, got {shapes!r}")
        make = _made("PaddingFIFOQueueV2", capacity, kinds_, dims, shared_name)
        super().__init__(kinds_, dims, names, make(name))


@symbol("PriorityQueue", "queue.PriorityQueue")
class PriorityQueue(QueueBase):
    """The element with the smallest first component, an int64, comes out first.

    Args:
        capacity, shapes, names, shared_name, name: as those of `FIFOQueue`.
        types: the dtypes of the other components.
    """

    def __init__(
        self,
        capacity: int,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: Optional[str] = None,
        name: str = "priority_queue",
    ) -> None:
        others = dtypes_of(types) if types else []
        dims = [
            TensorShape([]),
            *(shapes_of(shapes, len(others)) or [TensorShape([])] * len(others)),
        ]
        kinds_ = [int64, *others]
        make = _made("PriorityQueueV2", capacity, kinds_, dims, shared_name)
        super().__init__(kinds_, dims, names, make(name))
