"""`contrib.staging.StagingArea`: values that a step puts away for the next one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_input.queues.queue import QueueBase, dtypes_of
from byparts_tf_input.queues.queues import FIFOQueue


@symbol("contrib.staging.StagingArea", "python.ops.data_flow_ops.StagingArea")
class StagingArea:
    """Elements wait here in order, as in a `FIFOQueue` that is never closed.

    Args:
        dtypes: of the components.
        shapes: of the components.
        names: of the components: elements are then dicts.
        shared_name: areas of a session with one such name are one area.
        capacity: how many elements may wait; 0: any number.
        memory_limit: accepted.
    """

    def __init__(
        self,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: Optional[str] = None,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        self._shapes = shapes
        self._queue: QueueBase = FIFOQueue(
            capacity or -1, dtypes_of(dtypes), None, names, shared_name, name="StagingArea"
        )

    name = property(lambda self: self._queue.name)
    dtypes = property(lambda self: self._queue.dtypes)
    names = property(lambda self: self._queue.names)
    shapes = property(lambda self: self._queue.shapes if self._shapes is None else self._shapes)

    def put(self, values: Any, name: Optional[str] = None) -> Operation:
        """An operation that puts an element behind the others."""
        given = values
        if not isinstance(values, (Mapping, list, tuple)):
            given = [convert_to_tensor(values)]
        return self._queue.enqueue(given, name=name)

    def get(self, index: Any = None, name: Optional[str] = None) -> Any:
        """The first element, which is taken away, as a list or dict of tensors.

        Raises:
            NotImplementedError: `index`.
        """
        if index is not None:
            raise NotImplementedError("StagingArea.get(index): take elements in order")
        made = self._queue.dequeue(name=name)
        tensors = list(made.values()) if isinstance(made, dict) else made
        tensors = [tensors] if isinstance(tensors, Tensor) else tensors
        for tensor, shape in zip(tensors, self._shapes or (), strict=False):
            tensor.set_shape(shape)
        return made if isinstance(made, dict) else tensors

    def size(self, name: Optional[str] = None) -> Tensor:
        """The number of elements that wait."""
        return self._queue.size(name=name)
