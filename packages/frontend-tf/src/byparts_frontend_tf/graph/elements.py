"""Operations and tensors of a graph, by name."""

from __future__ import annotations

from typing import Any, Union

from byparts_frontend_tf.graph.operation import Operation, Tensor

Element = Union[Operation, Tensor]


class Elements:
    """Look-up of a graph's elements by name: `get_tensor_by_name("x:0")` and the like."""

    _operations: list[Operation]
    _by_name: dict[str, Operation]

    @property
    def _nodes_by_name(self) -> dict[str, Operation]:
        """The operations by their names, as programs look into TensorFlow's graphs."""
        return dict(self._by_name)

    def get_operations(self) -> list[Operation]:
        """All operations, in the order in which they were made."""
        return list(self._operations)

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation of this name.

        Raises:
            TypeError: the name is no string.
            KeyError: there is none.
            ValueError: the name is that of a tensor.
        """
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name)}.")
        found = self.as_graph_element(name, allow_tensor=False, allow_operation=True)
        assert isinstance(found, Operation), "tensors are not allowed"
        return found

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor of this name, "x:0".

        Raises:
            TypeError: the name is no string.
            KeyError: there is none.
            ValueError: the name is that of an operation.
        """
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name)}.")
        found = self.as_graph_element(name, allow_tensor=True, allow_operation=False)
        assert isinstance(found, Tensor), "operations are not allowed"
        return found

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Element:
        """The operation or tensor that `obj` is, or is the name of.

        Raises:
            TypeError: it is neither.
            ValueError: it is of another graph, or the name is of a kind that is not allowed.
            KeyError: there is none of this name.
        """
        wanted = " or ".join(["Tensor"] * allow_tensor + ["Operation"] * allow_operation)
        obj = getattr(obj, "_as_graph_element", lambda: obj)()
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            return self._named(obj, allow_tensor, allow_operation, wanted)
        allowed = (Tensor,) * allow_tensor + (Operation,) * allow_operation
        if not isinstance(obj, allowed):
            raise TypeError(f"Can not convert a {type(obj).__name__} into a {wanted}.")
        if obj.graph is not self:
            raise ValueError(f"{type(obj).__name__} {obj} is not an element of this graph.")
        return obj

    def _named(self, name: str, allow_tensor: bool, allow_operation: bool, wanted: str) -> Element:
        if ":" in name and allow_tensor:
            return self._tensor_named(name)
        if ":" in name:
            raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a {wanted}.")
        if not allow_operation:
            what = "refers to an Operation, not a" if name in self._by_name else "is not a valid"
            raise ValueError(
                f"The name {name!r} {what} {wanted}. Tensor names must be of the form "
                '"<op_name>:<output_index>".'
            )
        if name not in self._by_name:
            raise KeyError(
                f"The name {name!r} refers to an Operation not in the graph.{self._near(name)}"
            )
        return self._by_name[name]

    def _tensor_named(self, name: str) -> Tensor:
        op_name, _, index = name.partition(":")
        if not op_name or not index.isdigit():
            raise ValueError(
                f"The name {name!r} looks a like a Tensor name, but is not a valid one. Tensor "
                'names must be of the form "<op_name>:<output_index>".'
            )
        op = self._by_name.get(op_name)
        if op is None:
            raise KeyError(
                f"The name {name!r} refers to a Tensor which does not exist. The operation, "
                f"{op_name!r}, does not exist in the graph.{self._near(op_name)}"
            )
        if int(index) >= len(op.outputs):
            raise KeyError(
                f"The name {name!r} refers to a Tensor which does not exist. The operation, "
                f"{op_name!r}, exists but only has {len(op.outputs)} outputs."
            )
        return op.outputs[int(index)]

    def _near(self, name: str) -> str:
        from difflib import get_close_matches  # only for a message

        near = get_close_matches(name, self._by_name, 1)
        return f" Did you mean {near[0]!r}?" if near else ""

    def is_feedable(self, tensor: Any) -> bool:
        """Whether a tensor may be fed: all may."""
        return True

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """Whether a tensor or operation may be fetched: all may, but those inside a loop."""
        op = getattr(tensor_or_op, "op", tensor_or_op)
        return getattr(op, "body", None) is None

    def prevent_feeding(self, tensor: Any) -> None:
        """Accepted."""

    def prevent_fetching(self, op: Any) -> None:
        """Accepted."""
