"""Whether the value of an op's field is a graph, for modules that `graph.py` imports."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeGuard

    from byparts_graph_ir.model.graph import Graph


class Body:
    """Base class of `Graph` alone."""

    __slots__ = ()


def is_graph(value: object) -> TypeGuard[Graph]:
    """Whether `value` is a graph, such as the body of a loop."""
    return isinstance(value, Body)
