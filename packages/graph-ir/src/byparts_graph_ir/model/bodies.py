"""The graphs inside an op, its bodies: which they are, entering them, naming the way to one.

A pass that works on every graph of a program enters bodies by `map_bodies`, so that it does so for
every op with a field of type `Graph`, and an error from inside says in which body it was raised.
"""

from __future__ import annotations

from byparts_graph_ir.errors import add_note
from byparts_graph_ir.model.body import is_graph
from byparts_graph_ir.model.frozen import field_annotations, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from byparts_graph_ir.model.graph import Graph
    from byparts_graph_ir.model.op import Op
    from byparts_graph_ir.model.value import Node


def has_effect(op: Op) -> bool:
    """Whether the op, or one in a graph inside it, has an effect.

    An effect keeps its place in the order; it is never merged, repeated or dropped.  O(1) for an op
    without bodies; a graph inside an op looks once and remembers.
    """
    if op.effect:
        return True
    for name in body_fields(op.__class__):
        if any([graph.has_effect for graph in _graphs(getattr(op, name))]):
            return True
    return False


def subgraphs(op: Op) -> tuple[Graph, ...]:
    """The graphs among an op's fields, in field order, also those inside tuples."""
    graphs: list[Graph] = []
    for name in body_fields(op.__class__):
        graphs += _graphs(getattr(op, name))
    return tuple(graphs)


def body_fields(cls: type[Op]) -> tuple[str, ...]:
    """The fields of a class of ops that may hold graphs, going by their annotations."""
    names = _body_fields.get(cls)
    if names is None:
        annotations = {name: annotation for name, (annotation, _) in field_annotations(cls).items()}
        texts = {name: a if isinstance(a, str) else repr(a) for name, a in annotations.items()}
        names = _body_fields[cls] = tuple([n for n, text in texts.items() if not _is_plain(text)])
    return names


_body_fields: dict[type, tuple[str, ...]] = {}
_PLAIN = frozenset(["int", "float", "str", "bool", "bytes", "None", "tuple", "class", "builtins"])


def _is_plain(annotation: str) -> bool:
    """Whether an annotation names only types that hold no graph; an unknown name may hold one."""
    words = "".join([c if c.isalnum() or c == "_" else " " for c in annotation]).split()
    return _PLAIN.issuperset(words)


def _graphs(value: object) -> list[Graph]:
    """Return the graphs that `value` is or, if it is a tuple, contains."""
    if isinstance(value, tuple):
        return [graph for item in value for graph in _graphs(item)]
    return [value] if is_graph(value) else []


def nested(graph: Graph, *, lacking: str = "") -> list[Graph]:
    """All graphs inside `graph`, each once and after those inside it; `graph` itself is the last.

    With `lacking` only those that do not know yet what the cached property of that name tells.
    """
    order: list[Graph] = []
    seen: set[int] = set()
    todo = [(graph, False)]
    while todo:
        inner, ready = todo.pop()
        if ready:
            order.append(inner)
        elif id(inner) not in seen and lacking not in inner.__dict__:
            seen.add(id(inner))
            todo.append((inner, True))
            todo.extend((g, False) for node in inner.nodes for g in subgraphs(node.op))
    return order


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
    """The way from `graph` to `inner`, such as "body of while in then of if"; for a message."""
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
    if not is_graph(value):
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
    return [pair for name in fields for pair in _placed(name, getattr(node.op, name))]


def _placed(name: str, value: object) -> list[tuple[str, Graph]]:
    if isinstance(value, tuple):
        items = enumerate(value)
        return [pair for i, item in items for pair in _placed(f"{name}[{i}]", item)]
    return [(name, value)] if is_graph(value) else []
