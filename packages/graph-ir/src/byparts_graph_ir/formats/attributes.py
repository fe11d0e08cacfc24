"""Making an op from a name and attributes that came from outside: a text, a file, a stranger.

Nothing of it is evaluated.  A name that is not in the op set, an attribute that the op does not
have, one that it needs and lacks, one of another type than the field's or one that the shape rule
cannot use is a `FormatError`.
"""

from __future__ import annotations

from byparts_graph_ir.backend.copy_op import Copy
from byparts_graph_ir.backend.fused import Fused
from byparts_graph_ir.errors import FormatError
from byparts_graph_ir.model.field_types import misfit
from byparts_graph_ir.model.frozen import field_defaults, field_names
from byparts_graph_ir.model.graph import Graph
from byparts_graph_ir.model.op import Op
from byparts_graph_ir.model.value import Node, Value
from byparts_graph_ir.passes.barrier import OptimizationBarrier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, TypeAlias

Ops: TypeAlias = "Mapping[str, type[Op]]"

MOST_DIGITS = 4000  # of a number in a file; Python reads no more than 4300
BYTE_ORDER_MARK = "\ufeff"  # with which some editors begin a file

# The graph's own ops, known whatever the op set.
OWN: Ops = {op.name: op for op in (Fused, OptimizationBarrier, Copy)}


def installed_ops() -> Ops:
    """The ops of every installed part."""
    from byparts_graph_ir.parts.hub import (
        parts,  # pluggy loads only when somebody asks for the parts
    )

    return parts.ops()


def make_op(name: str, attributes: Mapping[str, Any], ops: Ops) -> Op:
    """The op called `name` with these attributes.

    Raises:
        FormatError: unknown op, unknown or missing attribute, one of another type, or a value that
            the op refuses.
    """
    kind = OWN.get(name) or ops.get(name)
    if kind is None:
        raise FormatError(f"unknown op {shown(name)}{_near(name, ops) if ops else _none()}")
    known, defaults = field_names(kind), field_defaults(kind)
    for attribute in attributes:
        if attribute not in known:
            raise FormatError(
                f"{name} has no attribute {shown(attribute)}{_near(attribute, known)}"
            )
    for field in known:
        if field not in attributes and field not in defaults:
            raise FormatError(f"{name} needs the attribute {field!r}")
    if wrong := misfit(kind, attributes):
        field, expected = wrong
        raise FormatError(f"{name}: {field} is {shown(attributes[field])}; expected {expected}")
    try:
        return kind(**attributes)
    except Exception as error:  # a stranger's values may break any op's own checks in any way
        fields = ", ".join([f"{field}={shown(value)}" for field, value in attributes.items()])
        raise FormatError(f"{name} refuses the attributes {fields}: {error}") from error


def make_node(op: Op, inputs: tuple[Value, ...], where: str) -> Node:
    """The node, with whatever its shape rule raises turned into a `FormatError`."""
    try:
        return Node(op, inputs, where)
    except Exception as error:  # as above: a rule may meet a type it was never written for
        types = ", ".join(str(v.type) for v in inputs)
        raise FormatError(f"{op.name} on ({types}): {error}") from error


def shown(value: object) -> str:
    """A value that came from outside, shortened for a message."""
    if isinstance(value, Graph):
        return f"a graph of {len(value.nodes)} nodes"
    from reprlib import Repr  # only for a message

    short = Repr()
    short.maxstring = short.maxother = short.maxlong = 60
    text = short.repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _none() -> str:
    from byparts_graph_ir.parts.install import install_command  # only for a message

    return f"; there are no ops here: {install_command('byparts-opset')}, or give ops=..."


def _near(name: object, known: Iterable[str]) -> str:
    from difflib import get_close_matches  # only for a message

    near: list[str] = get_close_matches(str(name), list(known), n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    listed = sorted(known)
    return f"; known: {', '.join(listed[:12])}{', ...' if len(listed) > 12 else ''}"
