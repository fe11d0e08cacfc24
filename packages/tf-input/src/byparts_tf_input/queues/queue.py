"""`tf.QueueBase`: operations that put elements into a queue and take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import DType, as_dtype
from byparts_tf_files.shape import TensorShape
from byparts_tf_input.queues import kinds


@symbol("QueueBase", "queue.QueueBase")
class QueueBase:
    """A queue of the graph; each session has its own elements.

    Args:
        dtypes: of the components of an element.
        shapes: of the components; some queues leave them out.
        names: of the components: elements are then dicts.
        queue_ref: the tensor that stands for the queue.

    Raises:
        ValueError: there are not as many shapes or names as dtypes.
    """

    def __init__(self, dtypes: Any, shapes: Any, names: Any, queue_ref: Tensor) -> None:
        self._dtypes = dtypes_of(dtypes)
        self._shapes = (
            [TensorShape(s) for s in shapes] if shapes else [TensorShape(None)] * len(self._dtypes)
        )
        if len(self._shapes) != len(self._dtypes):
            raise ValueError(
                "Queue shapes must have the same length as dtypes, received "
                f"len(shapes)={len(self._shapes)}, len(dtypes)={len(self._dtypes)}"
            )
        self._names = names_of(names, self._dtypes)
        self._queue_ref = queue_ref
        self._name = queue_ref.op.name.rpartition("/")[2]

    @staticmethod
    def from_list(index: TensorLike, queues: Sequence[QueueBase]) -> QueueBase:
        """The queue of a list that has this index when the graph runs.

        Raises:
            TypeError: they have not the same dtypes and names.
        """
        if not queues or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if any(q.dtypes != first.dtypes for q in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if any(q.names != first.names for q in queues):
            raise TypeError("Queues do not have matching component names.")
        shapes = [_common([q.shapes[i] for q in queues]) for i in range(len(first.shapes))]
        at = convert_to_tensor(index, name="index")
        chosen = kinds.CHOOSE(at, *[q.queue_ref for q in queues])
        return QueueBase(first.dtypes, shapes, first.names, chosen)

    @property
    def queue_ref(self) -> Tensor:
        """The tensor that stands for the queue."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The name of its operation."""
        return self._queue_ref.op.name

    @property
    def dtypes(self) -> list[DType]:
        """The dtypes of the components."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shapes of the components."""
        return self._shapes

    @property
    def names(self) -> Optional[list[str]]:
        """The names of the components, if elements are dicts."""
        return self._names

    def enqueue(self, vals: Any, name: Optional[str] = None) -> Operation:
        """An operation that puts one element, waiting for room.

        Raises at run time:
            CancelledError: the queue is closed.
        """
        with name_scope(name, f"{self._name}_enqueue") as scope:
            inputs = self._inputs(vals)
            for given, shape in zip(inputs, self._shapes, strict=True):
                given.get_shape().assert_is_compatible_with(shape)
            return kinds.ENQUEUE.operation([self._queue_ref, *inputs], scope)

    def enqueue_many(self, vals: Any, name: Optional[str] = None) -> Operation:
        """An operation that puts as many elements as the first dimension has, waiting for room.

        Raises at run time:
            CancelledError: the queue is closed.
        """
        with name_scope(name, f"{self._name}_EnqueueMany") as scope:
            inputs = self._inputs(vals)
            count = TensorShape([inputs[0].get_shape().with_rank_at_least(1)[0]])
            for given, shape in zip(inputs, self._shapes, strict=True):
                rows = given.get_shape().with_rank_at_least(1)
                count = count.merge_with(rows[:1])
                rows[1:].assert_is_compatible_with(shape)
            return kinds.ENQUEUE_MANY.operation([self._queue_ref, *inputs], scope)

    def dequeue(self, name: Optional[str] = None) -> Any:
        """The next element: a tensor, a list of them or a dict.

        Raises at run time:
            OutOfRangeError: the queue is closed and empty.
        """
        name = f"{self._name}_Dequeue" if name is None else name
        made = kinds.DEQUEUE.outputs(
            self._queue_ref, name=name, component_types=tuple(self._dtypes)
        )
        return self._element(
            made, [s.as_list() if s.ndims is not None else None for s in self._shapes]
        )

    def dequeue_many(self, n: TensorLike, name: Optional[str] = None) -> Any:
        """The next n elements, stacked.

        Raises at run time:
            OutOfRangeError: the queue is closed and has fewer.
        """
        return self._several(kinds.DEQUEUE_MANY, n, name or f"{self._name}_DequeueMany", True)

    def dequeue_up_to(self, n: TensorLike, name: Optional[str] = None) -> Any:
        """The next n elements, stacked, or when the queue is closed the rest.

        Raises at run time:
            OutOfRangeError: the queue is closed and empty.
        """
        return self._several(kinds.DEQUEUE_UP_TO, n, name or f"{self._name}_DequeueUpTo", False)

    def close(self, cancel_pending_enqueues: bool = False, name: Optional[str] = None) -> Operation:
        """An operation after which nothing is put any more; what is there may still be taken."""
        return kinds.CLOSE.operation(
            [self._queue_ref],
            f"{self._name}_Close" if name is None else name,
            cancel_pending_enqueues=bool(cancel_pending_enqueues),
        )

    def is_closed(self, name: Optional[str] = None) -> Tensor:
        """A bool that says whether the queue is closed."""
        return kinds.IS_CLOSED(self._queue_ref, name=name or f"{self._name}_Is_Closed")

    def size(self, name: Optional[str] = None) -> Tensor:
        """The number of elements in the queue."""
        return kinds.SIZE(self._queue_ref, name=name or f"{self._name}_Size")

    def _inputs(self, vals: Any) -> list[Tensor]:
        """The components of an element, as tensors of their dtypes."""
        if self._names:
            if not isinstance(vals, Mapping):
                raise ValueError("Must enqueue a dictionary for a queue with names")
            if sorted(vals) != sorted(self._names):
                raise ValueError(
                    "Keys in dictionary to enqueue do not match names of Queue.  Dictionary: "
                    f"({sorted(vals)}), Queue: ({sorted(self._names)})"
                )
            values = [vals[n] for n in self._names]
        elif isinstance(vals, Mapping):
            raise ValueError("Cannot enqueue a dictionary to a queue without names")
        else:
            values = list(vals) if isinstance(vals, (list, tuple)) else [vals]
        if len(values) != len(self._dtypes):
            raise ValueError(f"the queue has {len(self._dtypes)} components, got {vals!r}")
        return [
            convert_to_tensor(v, dtype=d, name=f"component_{i}")
            for i, (v, d) in enumerate(zip(values, self._dtypes, strict=True))
        ]

    def _several(self, kind: Any, n: TensorLike, name: str, static: bool) -> Any:
        with name_scope(name if name.endswith("/") else None, name) as scope:
            count = convert_to_tensor(n, dtype="int32", name="n")
            made = kind.outputs(
                self._queue_ref, count, name=scope, component_types=tuple(self._dtypes)
            )
        known = static_value(count) if static else None
        rows = None if known is None else int(known)
        return self._element(
            made,
            [[rows, *s.as_list()] if s.ndims is not None else None for s in self._shapes],
        )

    def _element(self, tensors: Sequence[Tensor], shapes: Sequence[Any]) -> Any:
        for tensor, shape in zip(tensors, shapes, strict=True):
            tensor.set_shape(shape)
        if self._names:
            return dict(zip(self._names, tensors, strict=True))
        return tensors[0] if len(tensors) == 1 else list(tensors)


def dtypes_of(given: Any) -> list[DType]:
    """A list of dtypes, of one dtype or of several."""
    return [
        as_dtype(d).base_dtype for d in (given if isinstance(given, (list, tuple)) else [given])
    ]


def shapes_of(given: Any, count: int, partial: bool = False) -> Optional[list[TensorShape]]:
    """The shapes of so many components, as a list; `None` if they are not said.

    Raises:
        ValueError: one is not fully known, and must be.
    """
    if given is None:
        return None
    if isinstance(given, TensorShape) or (
        isinstance(given, (list, tuple)) and count == 1 and _is_shape(given)
    ):
        given = [given]
    shapes = [TensorShape(s) for s in given]
    if len(shapes) != count:
        raise ValueError(
            "Queue shapes must have the same length as dtypes, received "
            f"len(shapes)={len(shapes)}, len(dtypes)={count}"
        )
    if not partial and not all(s.is_fully_defined() for s in shapes):
        raise ValueError(f"All shapes must be fully defined: {shapes}")
    return shapes


def _is_shape(given: Any) -> bool:
    return not any(isinstance(d, (list, tuple, TensorShape)) for d in given) and len(given) > 0


def names_of(names: Any, dtypes: Sequence[DType]) -> Optional[list[str]]:
    """Names of components.

    Raises:
        ValueError: there are not as many as dtypes.
    """
    if not names:
        return None
    found: list[str] = [names] if isinstance(names, str) else list(names)
    if len(found) != len(dtypes):
        raise ValueError(
            f"List of names must be same length as dtypes: {len(found)} and {len(dtypes)}"
        )
    return found


def _common(shapes: Sequence[TensorShape]) -> TensorShape:
    first = shapes[0]
    for other in shapes[1:]:
        if first.ndims is None or first.ndims != other.ndims:
            return TensorShape(None)
        pairs = zip(first.as_list(), other.as_list(), strict=True)
        first = TensorShape([a if a == b else None for a, b in pairs])
    return first
