"""Forms of our attributes in TensorFlow's `NodeDef`: by another name, or as an input."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from byparts_frontend_tf.graph.operation import Operation
from byparts_frontend_tf.node_defs.node import Node
from byparts_frontend_tf.node_defs.values import attr_value, shape_value
from byparts_tf_files.dtypes import float32
from byparts_tf_files.messages.graph import NodeDef


class Unwritable(Exception):  # no error: the node is then written in our words
    """TensorFlow has no words for an attribute."""


class Draft:
    """A `NodeDef` that is written, and the constants that it needs.

    Attributes:
        op: what is written.
        made: the message.
        constants: (position among the inputs, what is behind its name, array).
    """

    def __init__(self, op: Operation, made: NodeDef) -> None:
        self.op, self.made = op, made
        self.constants: list[tuple[int, str, Any]] = []

    def put(self, name: str, value: Any) -> None:
        """Give the message an attribute.

        Raises:
            Unwritable: messages have none such.
        """
        message = attr_value(value)
        if message is None:
            raise Unwritable(name)
        self.made.attr[name].CopyFrom(message)


class Word(Protocol):
    """Form of an attribute in a `NodeDef`."""

    def read(self, node: Node) -> Any:
        """Read the argument of our kind from a node."""

    def write(self, value: Any, draft: Draft) -> None:
        """Say it in TensorFlow's words, or raise Unwritable."""


class Attribute:
    """An attribute of another name."""

    def __init__(self, name: str, default: Any) -> None:
        self._name, self._default = name, default

    def read(self, node: Node) -> Any:
        """Read the attribute, by default the default of this form."""
        return node.attribute(self._name, self._default)

    def write(self, value: Any, draft: Draft) -> None:
        """The attribute."""
        draft.put(self._name, value)


class Shape(Attribute):
    """The attribute of a placeholder or variable that is a shape."""

    def __init__(self, name: str = "shape") -> None:
        super().__init__(name, None)

    def write(self, value: Any, draft: Draft) -> None:
        """The attribute."""
        draft.made.attr[self._name].CopyFrom(shape_value(value))


class OwnDType(Attribute):
    """The dtype of the result, where TensorFlow has no attribute for it but `T`."""

    def __init__(self) -> None:
        super().__init__("T", float32)


class Numbers:
    """Axes, which TensorFlow has as an input that is a constant; `None` is all of them."""

    def __init__(self, position: int, name: str) -> None:
        self.position, self._name = position, name

    def read(self, node: Node) -> Any:
        """Read the numbers of the input at `position`."""
        return node.numbers(self.position)

    def write(self, value: Any, draft: Draft) -> None:
        """The constant."""
        if value is None:
            dims = draft.op.inputs[0].dims
            if dims is None:
                raise Unwritable(self._name)
            value = range(len(dims))
        draft.constants.append((self.position, self._name, np.array(list(value), np.int32)))


class Number(Numbers):
    """A number that TensorFlow has as an input that is a constant."""

    def read(self, node: Node) -> Any:
        """Read the number of the input at `position`."""
        (number,) = node.numbers(self.position)
        return number

    def write(self, value: Any, draft: Draft) -> None:
        """The constant."""
        draft.constants.append((self.position, self._name, np.array(value, np.int32)))


class Ranks:
    """An attribute that is a list of numbers; the empty one is `None`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def read(self, node: Node) -> Any:
        """Read the attribute as a tuple; `None` where it is empty."""
        return tuple(node.attribute(self._name, ())) or None

    def write(self, value: Any, draft: Draft) -> None:
        """The attribute."""
        draft.put(self._name, list(value or ()))


class Only:
    """An attribute that TensorFlow lacks: it is always this."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def read(self, node: Node) -> Any:
        """Give the one value that there is here."""
        return self._value

    def write(self, value: Any, draft: Draft) -> None:
        """Nothing."""
        if value != self._value:
            raise Unwritable(str(value))


class ZeroOrOne:
    """The dtype of `zeros_like`: that of the tensor."""

    def read(self, node: Node) -> Any:
        """Give the dtype of the first input."""
        return node.inputs[0].dtype.base_dtype

    def write(self, value: Any, draft: Draft) -> None:
        """Nothing."""
        if value is not draft.op.inputs[0].dtype.base_dtype:
            raise Unwritable("dtype")


class Layout:
    """NHWC or NCHW."""

    def read(self, node: Node) -> Any:
        """Read the order of the axes, by default "NHWC"."""
        return node.attribute("data_format", "NHWC")

    def write(self, value: Any, draft: Draft) -> None:
        """The attribute."""
        draft.put("data_format", value)


class ChannelsFirst(Layout):
    """Whether the channels of `bias_add` stand before the images."""

    def read(self, node: Node) -> Any:
        """Read the order of the axes: whether it is "NCHW"."""
        return super().read(node) == "NCHW"

    def write(self, value: Any, draft: Draft) -> None:
        """The attribute."""
        super().write("NCHW" if value else "NHWC", draft)


class Window:
    """Numbers for height and width; TensorFlow has also those for batch and channels."""

    def __init__(self, name: str) -> None:
        self._name = name

    def read(self, node: Node) -> Any:
        """Read height and width out of four numbers in the order of the node's axes."""
        given = node.attribute(self._name, (1, 1, 1, 1))
        first = node.attribute("data_format", "NHWC") == "NCHW"
        return tuple(given[2:4] if first else given[1:3])

    def write(self, value: Any, draft: Draft) -> None:
        """The attribute."""
        first = draft.op.attributes["layout"] == "NCHW"
        draft.put(self._name, [1, 1, *value] if first else [1, *value, 1])


class Padding:
    """SAME, VALID, or numbers before and after."""

    def read(self, node: Node) -> Any:
        """Read the padding: "SAME", "VALID", or pairs (before, after) of height and width."""
        given = node.attribute("padding")
        if given != "EXPLICIT":
            return given
        flat = node.attribute("explicit_paddings")
        pairs = list(zip(flat[::2], flat[1::2], strict=True))
        return tuple(pairs[2:4] if node.attribute("data_format") == "NCHW" else pairs[1:3])

    def write(self, value: Any, draft: Draft) -> None:
        """The attribute."""
        if isinstance(value, str):
            draft.put("padding", value)
            return
        (a, b), (c, d) = value
        first = draft.op.attributes["layout"] == "NCHW"
        draft.put("padding", "EXPLICIT")
        draft.put(
            "explicit_paddings", [0] * 4 + [a, b, c, d] if first else [0, 0, a, b, c, d, 0, 0]
        )
