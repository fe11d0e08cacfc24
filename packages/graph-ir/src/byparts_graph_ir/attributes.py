"""Making an op from a name and attributes that came from outside: a text, a file, a stranger.

Nothing here evaluates anything.  A name that is not in the op set, an attribute the op does not
have, one it needs and lacks, or one its shape rule cannot use is a `FormatError`.
"""

from __future__ import annotations

from byparts_graph_ir.barrier import OptimizationBarrier
from byparts_graph_ir.errors import FormatError
from byparts_graph_ir.fused import Fused
from byparts_graph_ir.graph import Node, Op, Value
from byparts_graph_ir.lazy_dataclass import field_defaults, field_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, TypeAlias

Ops: TypeAlias = "Mapping[str, type[Op]]"

# The graph's own ops, known whatever the op set.
OWN: Ops = {Fused.name: Fused, OptimizationBarrier.name: OptimizationBarrier}


def installed_ops() -> dict[str, type[Op]]:
    """The ops of every installed part."""
    from byparts_graph_ir.hub import parts  # pluggy loads only when somebody asks for the parts

    return parts.ops()


def make_op(name: str, attributes: Mapping[str, Any], ops: Ops) -> Op:
    """The op called `name` with these attributes.

    Raises:
        FormatError: unknown op, unknown or missing attribute, or a value the op refuses.
    """
    kind = ops.get(name) or OWN.get(name)
    if kind is None:
        none = "; there are no ops here: pip install byparts-opset, or give ops=..."
        raise FormatError(f"unknown op {name!r}{_near(name, ops) if ops else none}")
    known, defaults = field_names(kind), field_defaults(kind)
    for attribute in attributes:
        if attribute not in known:
            raise FormatError(f"{name} has no attribute {attribute!r}{_near(attribute, known)}")
    for field in known:
        if field not in attributes and field not in defaults:
            raise FormatError(f"{name} needs the attribute {field!r}")
    try:
        return kind(**attributes)
    except Exception as error:  # a stranger's values may break any op's own checks in any way
        raise FormatError(f"{name} refuses the attributes {dict(attributes)}: {error}") from error


def make_node(op: Op, inputs: tuple[Value, ...], where: str) -> Node:
    """The node, with whatever its shape rule raises turned into a `FormatError`."""
    try:
        return Node(op, inputs, where)
    except Exception as error:  # as above: a rule may meet a type it was never written for
        given = ", ".join(str(v.type) for v in inputs)
        raise FormatError(f"{op.name} on ({given}): {error}") from error


def attributes_of(op: Op, *, defaults: bool) -> dict[str, Any]:
    """Field name -> value; without those at their default unless `defaults`."""
    found = {name: getattr(op, name) for name in field_names(type(op))}
    if not defaults:
        for name, default in field_defaults(type(op)).items():
            if default == found[name] and type(default) is type(found[name]):
                del found[name]
    return found


def _near(name: object, known: Iterable[str]) -> str:
    from difflib import get_close_matches  # only for a message

    near: list[str] = get_close_matches(str(name), list(known), n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    listed = sorted(known)
    return f"; known: {', '.join(listed[:12])}{', ...' if len(listed) > 12 else ''}"
