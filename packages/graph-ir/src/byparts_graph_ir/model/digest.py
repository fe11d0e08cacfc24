"""The meaning of a graph as 16 bytes: equal programs have equal ones, whatever their names.

A hash of types, ops with their fields, wiring and order, in which values are numbers and a graph
inside an op is its own digest.  Fields count as they print, so 0.0 is not -0.0 and 1 is not True.
An op is its class and not its name: one that is defined again is another op.
"""

from __future__ import annotations

from itertools import count

from byparts_graph_ir.model.body import is_graph
from byparts_graph_ir.model.frozen import field_names

try:  # what hashlib.blake2b is, without loading OpenSSL: 4 MB
    from _blake2 import blake2b
except ImportError:  # an interpreter built without it
    from hashlib import blake2b


TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_graph_ir.model.graph import Rows
    from byparts_graph_ir.model.op import Op


def digest_of(rows: Rows) -> bytes:
    """16 bytes for the rows of a graph.  The graphs inside its ops have theirs.  O(nodes)."""
    inputs, nodes, outputs = rows
    known: dict[int, str] = {}
    lines = [",".join([str(kind) for kind, _, _ in inputs])]
    for op, numbers, _ in nodes:
        text = known.get(id(op))
        if text is None:
            text = known[id(op)] = op_text(op)
        lines.append(f"{text}{numbers}")
    lines.append(str(outputs))
    return blake2b("\n".join(lines).encode(), digest_size=16).digest()


def op_text(op: Op) -> str:
    """The op with its fields, as text: equal for ops that compute the same."""
    values = [_field_text(getattr(op, name)) for name in field_names(type(op))]
    return f"{_class_text(type(op))}({', '.join(values)})"


_first: dict[str, type] = {}  # the class that had a name first
_others = count(2)


def _class_text(kind: type) -> str:
    """The name of a class; a later one of the same name, of a cell run again, gets a number."""
    text: str | None = kind.__dict__.get("_digest_text")
    if text is None:
        text = f"{kind.__module__}.{kind.__qualname__}"
        if _first.setdefault(text, kind) is not kind:
            text = f"{text}#{next(_others)}"
        kind._digest_text = text  # type: ignore[attr-defined]
    return text


def _field_text(value: object) -> str:
    if is_graph(value):
        return value.digest.hex()
    if isinstance(value, tuple):
        return f"({', '.join(map(_field_text, value))},)"
    return repr(value)
