"""Forms in which lowering knows a tensor: a value, an array in a slot, an array for all runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Union

from byparts_frontend_tf.running.arrays import LoopRows, Rows
from byparts_graph_ir import TensorType, Value, producers
from byparts_opset.dtypes import dtype_name


class Slot:
    """A value that is an array in a slot of the run: a feed, or a result from the host."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


class Literal:
    """A value that is known whatever is fed, and lives on the host."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array


Known = Union[Value, Slot, Literal, Rows, LoopRows]


def leaves(value: Value) -> Iterable[Value]:
    """The inputs that a value depends on."""
    if value.node is None:
        return (value,)
    found = {v: None for n in producers((value,)) for v in n.inputs if v.node is None}
    return found


def type_of(array: Any) -> TensorType:
    """The type of an array."""
    return TensorType(dtype_name(array.dtype), array.shape)
