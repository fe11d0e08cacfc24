"""What a graph says, as 16 bytes: equal programs have equal ones, whatever their names.

A hash of types, ops with their fields, wiring and order, in which values are numbers and a graph
inside an op is its own digest.  Fields count as they print, so 0.0 is not -0.0 and 1 is not True.
"""

from __future__ import annotations

from byparts_graph_ir.graph import Graph, Op
from byparts_graph_ir.lazy_dataclass import field_names

try:  # what hashlib.blake2b is, without loading OpenSSL: 4 MB
    from _blake2 import blake2b
except ImportError:  # an interpreter built without it
    from hashlib import blake2b


def digest_of(graph: Graph) -> bytes:
    """16 bytes.  The graphs inside must have theirs already.  O(nodes)."""
    ids = graph.ids
    known: dict[int, str] = {}
    lines = [",".join([str(v.type) for v in graph.inputs])]
    for node in graph.nodes:
        text = known.get(id(node.op))
        if text is None:
            text = known[id(node.op)] = op_text(node.op)
        lines.append(f"{text}{[ids[v] for v in node.inputs]}")
    lines.append(str([ids[v] for v in graph.outputs]))
    return blake2b("\n".join(lines).encode(), digest_size=16).digest()


def op_text(op: Op) -> str:
    """The op with its fields, as text: equal for ops that compute the same."""
    values = [_field_text(getattr(op, name)) for name in field_names(type(op))]
    return f"{type(op).__module__}.{type(op).__qualname__}({', '.join(values)})"


def _field_text(value: object) -> str:
    if isinstance(value, Graph):
        return value.digest.hex()
    if isinstance(value, tuple):
        return f"({', '.join(map(_field_text, value))},)"
    return repr(value)
