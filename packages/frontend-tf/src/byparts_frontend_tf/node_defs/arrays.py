"""TensorFlow's operations on a TensorArray: its handle is in ours the array itself, its flow."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.api.tensor_array import TensorArray
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.node_defs.node import Node
from byparts_tf_files.dtypes import float32

TYPES = frozenset(
    f"TensorArray{name}V3"
    for name in ("", "Read", "Write", "Gather", "Scatter", "Size", "Concat", "Split", "Close")
)
_CHANGES = ("write", "scatter", "split")  # which give an array


class Arrays:
    """The arrays of a graph that is imported: by their flows."""

    def __init__(self) -> None:
        self._by_flow: dict[Tensor, TensorArray] = {}

    def of(self, flow: Tensor) -> Any:
        """The array whose flow a tensor is, or the tensor."""
        return self._by_flow.get(flow, flow)

    def keep(self, given: Any) -> Any:
        """The flow of an array, or the tensor."""
        if not isinstance(given, TensorArray):
            return given
        self._by_flow[given.flow] = given
        return given.flow

    def holds(self, flow: Tensor) -> bool:
        """Whether a tensor is the flow of an array."""
        return flow in self._by_flow

    def make(self, node: Node) -> Any:
        """Make the operation of a node: a tensor, an operation, or a list of them.

        Raises:
            ValueError: what should be the flow of an array is none.
        """
        if node.type == "TensorArrayV3":
            made = TensorArray(
                node.attribute("dtype", float32),
                node.inputs[0],
                node.attribute("dynamic_size", False),
                element_shape=node.attribute("element_shape"),
                name=node.name,
            )
            return [self.keep(made)] * 2
        array = self.of(node.inputs[0 if node.type == "TensorArrayCloseV3" else -1])
        if not isinstance(array, TensorArray):
            raise ValueError(f"{node.type} {node.definition.name!r}: its flow is of no TensorArray")
        return self._called(node, array)

    def _called(self, node: Node, array: TensorArray) -> Any:
        given, name = node.inputs[1:-1], node.name
        what = node.type.removeprefix("TensorArray").removesuffix("V3").lower()
        made = getattr(array, what)(*given, name=name)
        if what in _CHANGES:
            return self.keep(made)
        return [made, None] if what == "concat" else made
