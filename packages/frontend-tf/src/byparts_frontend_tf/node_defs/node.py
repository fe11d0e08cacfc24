"""A `NodeDef` that is read: what functions that make its operation ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.node_defs.values import value_of
from byparts_tf_files.messages.graph import NodeDef


class Node:
    """A `NodeDef`, with the tensors that are its inputs.

    Attributes:
        definition: the message.
        inputs: its data inputs.
        name: what its operation is to be called, with a "/" behind it: exactly so.
        outputs: how many of its outputs something reads, at least.
    """

    def __init__(
        self, definition: NodeDef, inputs: Sequence[Tensor], name: str, outputs: int = 0
    ) -> None:
        self.definition, self.inputs, self.name = definition, list(inputs), name
        self.outputs = outputs

    @property
    def type(self) -> str:
        """TensorFlow's name of the kind."""
        return str(self.definition.op)

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute of the node, or `default`; texts are `str`."""
        if name not in self.definition.attr:
            return default
        value = value_of(self.definition.attr[name])
        return value.decode() if isinstance(value, bytes) else value

    def constant(self, position: int) -> Optional[Any]:
        """The array that an input is, where that is known, else `None`."""
        return static_value(self.inputs[position])

    def numbers(self, position: int) -> tuple[int, ...]:
        """The numbers of an input that has to be constant.

        Raises:
            ValueError: it is not.
        """
        known = self.constant(position)
        if known is None:
            raise ValueError(
                f"{self.type} {self.definition.name!r}: input {position} "
                f"({self.inputs[position].name}) has to be a constant here"
            )
        return tuple([int(n) for n in known.reshape(-1)])
