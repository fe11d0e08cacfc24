"""The graphs inside an op, its bodies: entering them, and naming the way there.

A pass that works on every graph of a program enters bodies by `map_bodies`, so that it does so for
every op with a field of type `Graph`, and an error from inside says in which body it was raised.
"""

from __future__ import annotations

from byparts_graph_ir.errors import add_note
from byparts_graph_ir.graph import Graph, Node, Op, body_fields
from byparts_graph_ir.lazy_dataclass import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def map_bodies(op: Op, run: Callable[[Graph], Graph]) -> Op:
    """The op with `run` applied to each of its bodies; the op itself where none changes.

    An error in `run` carries a note such as "in body of while".  `run` enters the bodies of bodies
    in turn: depth costs stack, because a program nested a thousand loops deep is one that nobody
    writes.
    """
    changed: dict[str, Any] = {}
    for name in body_fields(op.__class__):
        old = getattr(op, name)
        new = _mapped(old, run, op, name)
        if new is not old:
            changed[name] = new
    return replace(op, **changed) if changed else op


def way_to(graph: Graph, inner: Graph) -> str:
    """Where `inner` stands in `graph`, such as "body of while in then of if"; for a message."""
    todo = [(graph, "")]
    seen = {id(graph)}
    while todo:
        outer, way = todo.pop()
        if outer is inner:
            return way
        for node in outer.nodes:
            for name, body in _named(node):
                if id(body) not in seen:
                    seen.add(id(body))
                    todo.append((body, f"{name} of {node.op.name}{f' in {way}' if way else ''}"))
    raise AssertionError("the graph stands inside")


def _mapped(value: Any, run: Callable[[Graph], Graph], op: Op, name: str) -> Any:
    """`value` with `run` applied to what is a graph in it; itself where nothing changes."""
    if isinstance(value, tuple):
        items = [_mapped(item, run, op, f"{name}[{i}]") for i, item in enumerate(value)]
        same = all(new is old for new, old in zip(items, value, strict=True))
        return value if same else tuple(items)
    if not isinstance(value, Graph):
        return value
    try:
        new = run(value)
    except Exception as error:
        add_note(error, f"in {name} of {op.name}")
        raise
    return value if new is value or new == value else new


def _named(node: Node) -> list[tuple[str, Graph]]:
    """The bodies of a node, each with where it stands: `body`, or `branches[1]`."""
    fields = body_fields(type(node.op))
    return [found for name in fields for found in _placed(name, getattr(node.op, name))]


def _placed(name: str, value: object) -> list[tuple[str, Graph]]:
    if isinstance(value, tuple):
        items = enumerate(value)
        return [found for i, item in items for found in _placed(f"{name}[{i}]", item)]
    return [(name, value)] if isinstance(value, Graph) else []
