"""Sizes that the export left open.

Torch has expressions of symbols, such as `s0 // 2 + 1`.  Sums, products, quotients by a number,
minima and maxima of symbols are dimensions of ours too.  Any other expression (a power, a quotient
of two symbols) is unknown, and a rule that must know it says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Union

import byparts_graph_ir
import byparts_opset as ops
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_graph_ir import Dimension, ShapeError, Value


@dataclass(frozen=True)
class Expression:
    """A size that no dimension of ours can say."""

    text: str


Size = Union[int, str, Expression]


def size_of(x: Any) -> Any:
    """A number of torch's as ours: `SymInt` by its expression; what is none stays."""
    node: Any = getattr(x, "node", None)
    if type(x).__module__.partition(".")[0] != "torch" or not hasattr(node, "expr"):
        return x
    expression = node.expr
    if expression.is_number:
        return float(expression) if type(x).__name__ == "SymFloat" else int(expression)
    text = str(expression)
    if type(x).__name__ != "SymInt":
        return Expression(text)
    try:
        return byparts_graph_ir.dimension(text.replace("Min(", "min(").replace("Max(", "max("))
    except ShapeError:  # torch's text has functions that we do not
        return Expression(text)


def unbacked(x: Any) -> bool:
    """Whether a number of torch's depends on data, and not on the shapes of inputs alone."""
    names = [str(s) for s in getattr(x.node.expr, "free_symbols", ())]
    return any(name.startswith(("u", "zuf")) for name in names)


def dimension(x: Any) -> Dimension:
    """A size as a dimension of a type."""
    size = size_of(x)
    return None if isinstance(size, Expression) else size


def number(size: Size, what: str) -> int:
    """A size that must be known now.

    Raises:
        UnsupportedOp: it is not.
    """
    if isinstance(size, int):
        return size
    text = size.text if isinstance(size, Expression) else size
    raise UnsupportedOp(f"{what} must be a number, and is {text}: export it with a fixed size")


def target(sizes: list[Size], what: str) -> tuple[Union[int, str], ...]:
    """The shape to bring something into; one expression is what is left, -1.

    Raises:
        UnsupportedOp: two are expressions.
    """
    shape = tuple(-1 if isinstance(size, Expression) else size for size in sizes)
    if shape.count(-1) > 1:
        texts = ", ".join(str(s.text if isinstance(s, Expression) else s) for s in sizes)
        raise UnsupportedOp(f"{what}: two of ({texts}) are expressions; fix all sizes but one")
    return shape


def size_value(size: Size) -> Value:
    """A size as a 0-d i64 of the program.

    Raises:
        UnsupportedOp: it is an expression.
    """
    if not isinstance(size, str):
        return ops.fill(number(size, "a number in a computation"), "i64")
    return ops.count_like(ops.broadcast_to(ops.fill(0, "i64"), (size,)))
