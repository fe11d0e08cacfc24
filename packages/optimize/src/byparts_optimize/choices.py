"""Rules for selections, extremes and logic.  These ops do not round, so every rule is exact."""

# ruff: noqa: E701  (one rule a line)
from __future__ import annotations

from typing import Optional

from byparts_graph_ir import Node, Value
from byparts_opset import (
    Equal,
    LogicalAnd,
    LogicalNot,
    LogicalOr,
    Maximum,
    Minimum,
    NotEqual,
    Relu,
    Select,
    equal,
    logical_and,
    logical_or,
    not_equal,
    select,
)
from byparts_optimize.rules import number, rules

# fmt: off


@rules.on(Select)
def choice(node: Node) -> Optional[Value]:
    """Simplify a choice of two values by a condition."""
    match node.inputs:
        case _, x, y if x is y: return x                                      # c ? x : x = x
        case c, x, _ if number(c) is True: return x                           # true ? x : y = x
        case c, _, y if number(c) is False: return y                          # false ? x : y = y
        case Value(node=Node(LogicalNot(), (c,))), x, y: return select(c, y, x)  # !c ? x : y
        case c, Value(node=Node(Select(), (d, x, _))), y if c is d: return select(c, x, y)
        case c, x, Value(node=Node(Select(), (d, _, y))) if c is d: return select(c, x, y)
    return None


@rules.on(Maximum, Minimum)
def extreme(node: Node) -> Optional[Value]:
    """The greater, or smaller, of two."""
    match node.inputs:
        case x, y if x is y: return x                                         # max(x, x) = x
    return None


@rules.on(Relu)
def relu(node: Node) -> Optional[Value]:
    """Relu."""
    match node.inputs:
        case (Value(node=Node(Relu(), _)) as y,): return y                    # relu(relu(x))
    return None


@rules.on(LogicalAnd)
def both(node: Node) -> Optional[Value]:
    """And."""
    match node.inputs:
        case c, x if number(c) is not None and number(x) is None:
            return logical_and(x, c)                                          # constants right
        case x, y if x is y: return x                                         # x & x = x
        case x, c if number(c) is True: return x                              # x & true = x
        case _, c if number(c) is False: return c                             # x & false
    return None


@rules.on(LogicalOr)
def either(node: Node) -> Optional[Value]:
    """Or."""
    match node.inputs:
        case c, x if number(c) is not None and number(x) is None:
            return logical_or(x, c)                                           # constants right
        case x, y if x is y: return x                                         # x | x = x
        case x, c if number(c) is False: return x                             # x | false = x
        case _, c if number(c) is True: return c                              # x | true = true
    return None


@rules.on(LogicalNot)
def negation(node: Node) -> Optional[Value]:
    """Not.  There is no rule for `!(x < y)`: with a nan it is not `x >= y`."""
    match node.inputs:
        case (Value(node=Node(LogicalNot(), (x,))),): return x                # !!x = x
        case (Value(node=Node(Equal(), (x, y))),): return not_equal(x, y)     # !(x == y)
        case (Value(node=Node(NotEqual(), (x, y))),): return equal(x, y)      # !(x != y)
    return None
