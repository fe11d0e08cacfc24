"""Messages of TensorFlow's files that describe graphs: what `as_graph_def` gives."""

from __future__ import annotations

from typing import Any, Optional


class TensorShapeProto:
    """A shape in a file.

    Attributes:
        dim: the dimensions, with `size` -1 where it is not known.
        unknown_rank: whether not even the rank is known.
    """

    class Dim:
        """One dimension."""

        def __init__(self, size: int = -1, name: str = "") -> None:
            self.size, self.name = size, name

    def __init__(self, dim: Any = (), unknown_rank: bool = False) -> None:
        self.dim, self.unknown_rank = list(dim), unknown_rank

    @classmethod
    def of(cls, dims: Optional[tuple[Optional[int], ...]]) -> TensorShapeProto:
        """The message for a shape."""
        if dims is None:
            return cls(unknown_rank=True)
        return cls([cls.Dim(-1 if d is None else d) for d in dims])


class NodeDef:
    """An operation in a file."""

    def __init__(self, name: str, op: str, input: Any, device: str, attr: Any) -> None:
        self.name, self.op, self.input = name, op, list(input)
        self.device, self.attr = device, dict(attr)


class GraphDef:
    """A graph in a file."""

    def __init__(self, node: Any = ()) -> None:
        self.node = list(node)


def node_def(op: Any) -> NodeDef:
    """The message for an operation."""
    inputs = [t._as_node_def_input() for t in op.inputs] + [f"^{c.name}" for c in op.control_inputs]
    return NodeDef(op.name, op.type, inputs, op.device, op.attributes)


def graph_def(graph: Any) -> GraphDef:
    """The message for a graph."""
    return GraphDef([node_def(op) for op in graph.get_operations()])
