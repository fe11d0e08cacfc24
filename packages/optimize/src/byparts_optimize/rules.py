"""The tables that `simplify` reads: op class -> a rule for nodes of that op.

A rule takes one node, whose inputs are simplified already, and returns a value that is equal to the
node's output, or `None`.  It may ignore broadcasting: where `x * 1` has a larger shape than x,
`simplify` broadcasts the result of the rule.  Ops of a third party get rules the same way:

    @rules.on(MyOp)
    def my_op(node: Node) -> Value | None:
        match node.inputs: ...
"""

from __future__ import annotations

from collections.abc import Callable
from math import copysign
from typing import Optional, Union

from byparts_graph_ir import Node, Table, TensorType, Value
from byparts_opset import Fill

SimplifyRule = Callable[[Node], Optional[Value]]

rules: Table[SimplifyRule] = Table("rule")
fast_rules: Table[SimplifyRule] = Table("fast_rule")  # rules that `fast_math=True` adds


def number(v: Value) -> Union[float, int, bool, None]:
    """The number that all elements of v are known to equal; `None` if there is none."""
    match v:
        case Value(node=Node(Fill(c))) if not isinstance(c, str):
            return c
    return None


def is_zero(v: Value, sign: int = 0) -> bool:
    """Whether all elements of v are 0; for floats, the zero of this sign (0: either)."""
    c = number(v)
    if c is None or c is False or c != 0:
        return False
    return sign == 0 or isinstance(c, int) or copysign(1.0, c) == sign


def is_float(v: Value) -> bool:
    """Whether v is of a floating point type."""
    return v.type.dtype in ("f16", "bf16", "f32", "f64")


def known_shape(kind: TensorType) -> Optional[tuple[Union[int, str], ...]]:
    """The shape, if it is of numbers and names alone."""
    shape = kind.shape
    if shape is None or None in shape:
        return None
    return tuple([d for d in shape if d is not None])
