"""Rules for sums, products and powers: exact ones, and ones that hold for real numbers only.

In IEEE 754 some laws of real numbers fail: x + 0.0 turns -0.0 into 0.0 (x + -0.0 and x - 0.0 do
not), x * 0 is not 0 for inf and nan, 0 - x is not -x for 0.  Such rules are in the second half.
Signs commute with products and quotients exactly.  Integers wrap and obey the laws of a ring, so
for them the rules of both halves are exact (`_exact_for_integers`).
"""

# ruff: noqa: E701  (one rule a line)
from __future__ import annotations

import builtins
from math import frexp
from typing import Optional

from byparts_graph_ir import Node, Value
from byparts_opset import (
    Abs,
    Add,
    Div,
    Mul,
    Neg,
    Pow,
    Square,
    Sub,
    abs,
    fill,
    reciprocal,
    sqrt,
    square,
    zeros_like,
)
from byparts_optimize.rules import fast_rules, is_float, is_zero, number, rules

# fmt: off


@rules.on(Add)
def add(node: Node) -> Optional[Value]:
    """Sums."""
    match node.inputs:
        case c, x if number(c) is not None and number(x) is None: return x + c  # numbers right
        case x, zero if is_zero(zero, -1): return x                           # x + -0 = x
        case x, Value(node=Node(Neg(), (y,))): return x - y                   # x + -y = x - y
        case Value(node=Node(Neg(), (x,))), y: return y - x                   # -x + y = y - x
    return _exact_for_integers(node)


@rules.on(Sub)
def sub(node: Node) -> Optional[Value]:
    """Differences."""
    match node.inputs:
        case x, zero if is_zero(zero, 1): return x                            # x - 0 = x
        case zero, x if is_zero(zero, -1): return -x                          # -0 - x = -x
        case x, Value(node=Node(Neg(), (y,))): return x + y                   # x - -y = x + y
    return _exact_for_integers(node)


@rules.on(Mul)
def mul(node: Node) -> Optional[Value]:
    """Products."""
    match node.inputs:
        case c, x if number(c) is not None and number(x) is None: return x * c  # numbers right
        case x, c if number(c) == 1: return x                                 # x * 1 = x
        case x, c if number(c) == -1: return -x                               # x * -1 = -x
        case Value(node=Node(Neg(), (x,))), Value(node=Node(Neg(), (y,))):
            return x * y                                                      # -x * -y = x y
        case Value(node=Node(Neg(), (x,))), c if number(c) is not None and number(x) is None:
            return x * -c                                                     # -x * c = x * -c
        case Value(node=Node(Mul(), (x, c))), d if _doubles(c, d):
            return x * (c * d)                             # x * 2 * d = x * (2 d)
    return _exact_for_integers(node)


@rules.on(Div)
def div(node: Node) -> Optional[Value]:
    """Quotients."""
    match node.inputs:
        case x, c if number(c) == 1: return x                                 # x / 1 = x
        case x, c if number(c) == -1: return -x                               # x / -1 = -x
        case Value(node=Node(Neg(), (x,))), Value(node=Node(Neg(), (y,))):
            return x / y                                                      # -x / -y = x / y
        case x, c if (inverse := _exact_inverse(c)) is not None:
            return x * inverse                                                # x / 4 = x * 0.25
    return None


@rules.on(Neg)
def neg(node: Node) -> Optional[Value]:
    """Signs."""
    match node.inputs:
        case (Value(node=Node(Neg(), (x,))),): return x                       # -(-x) = x
        case (Value(node=Node(Mul(), (x, c))),) if number(c) is not None:
            return x * -c                                                     # -(x c) = x * -c
    return _exact_for_integers(node)


@rules.on(Pow)
def pow(node: Node) -> Optional[Value]:
    """Powers; the product rounds once where the power may not, so it is at least as near."""
    match node.inputs:
        case x, c if number(c) == 0: return fill(1, x.type.dtype)             # x ** 0 = 1
        case x, c if number(c) == 1: return x                                 # x ** 1 = x
        case x, c if number(c) == 2: return square(x)                         # x ** 2 = x x
        case x, c if number(c) == -1 and is_float(x): return reciprocal(x)    # x ** -1 = 1 / x
    return None


@rules.on(Abs)
def absolute(node: Node) -> Optional[Value]:
    """Sizes."""
    match node.inputs:
        case (Value(node=Node(Abs(), _)) as y,): return y                     # ||x|| = |x|
        case (Value(node=Node(Neg(), (x,))),) if not x.type.dtype.startswith("u"):
            return abs(x)                                     # |-x| = |x|, but -1 of u8 is 255
    return None


@rules.on(Square)
def squares(node: Node) -> Optional[Value]:
    """Squares."""
    match node.inputs:
        case (Value(node=Node(Neg() | Abs(), (x,))),): return square(x)       # (-x)^2 = x^2
    return None


# The rules that hold of real numbers and of integers, but not of every float.


@fast_rules.on(Add)
def add_fast(node: Node) -> Optional[Value]:
    """Loses the sign of a zero, and adds in another order."""
    match node.inputs:
        case x, zero if is_zero(zero): return x                               # x + 0 = x
        case Value(node=Node(Add(), (x, c))), d if _both(c, d): return x + (c + d)  # associative
        case Value(node=Node(Mul(), (x, c))), y if x is y and number(c) is not None:
            return x * (c + 1)                                                # x c + x = x (c + 1)
    return None


@fast_rules.on(Sub)
def sub_fast(node: Node) -> Optional[Value]:
    """Loses the sign of a zero, and forgets inf and nan."""
    match node.inputs:
        case x, zero if is_zero(zero): return x                               # x - -0 = x
        case zero, x if is_zero(zero): return -x                              # 0 - x = -x
        case x, y if x is y: return zeros_like(x)                             # x - x = 0
        case Value(node=Node(Add(), (x, c))), d if _both(c, d): return x + (c - d)  # associative
    return None


@fast_rules.on(Mul)
def mul_fast(node: Node) -> Optional[Value]:
    """Forgets inf and nan, and rounds in another order."""
    match node.inputs:
        case _, zero if is_zero(zero): return zeros_like(zero)                # x * 0 = 0
        case Value(node=Node(Mul(), (x, c))), d if _both(c, d): return x * (c * d)  # associative
        case Value(node=Node(Div(), (x, c))), d if _both(c, d): return x * (d / c)  # x / c * d
        case Value(node=Node(Div(), (x, y))), z if y is z: return x           # x / y * y = x
        case z, Value(node=Node(Div(), (x, y))) if y is z: return x           # y * (x / y) = x
        case z, Value(node=Node(Sub(), (Value(node=Node(Div(), (x, y))), w))) if y is z:
            return x - z * w                                                  # y * (x / y - w)
    return None


@fast_rules.on(Div)
def div_fast(node: Node) -> Optional[Value]:
    """Rounds twice where division rounds once."""
    match node.inputs:
        case x, c if number(c) and number(x) is None and is_float(c):
            return x * (1 / c)                                                # x / c = x * (1/c)
    return None


@fast_rules.on(Neg)
def neg_fast(node: Node) -> Optional[Value]:
    """Loses the sign of a zero."""
    match node.inputs:
        case (Value(node=Node(Sub(), (x, y))),): return y - x                 # -(x - y) = y - x
    return None


@fast_rules.on(Pow)
def pow_fast(node: Node) -> Optional[Value]:
    """Gives nan for -inf, and the sign of a zero."""
    match node.inputs:
        case x, c if number(c) == 0.5 and is_float(x): return sqrt(x)         # x ** 0.5
    return None


def _exact_for_integers(node: Node) -> Optional[Value]:
    rule = fast_rules.get(node.op)
    return None if is_float(node.inputs[0]) or rule is None else rule(node)


def _both(c: Value, d: Value) -> bool:
    return number(c) is not None and number(d) is not None


def _doubles(c: Value, d: Value) -> bool:
    """Whether |c| is 1, 2, 4, ..., |d| at least 1, and c * d far from overflow.

    Where |d| is less, x * c may be infinite, and x * (c * d) a number.
    """
    x, y = number(c), number(d)
    if not (isinstance(x, float) and isinstance(y, float) and y * y >= 1):
        return False
    return x * x >= 1 and _power_of_two(x) and builtins.abs(x * y) < 2**15


def _exact_inverse(c: Value) -> Optional[float]:
    """1 / c, where that is a power of two far from the ends of every float type's range."""
    x = number(c)
    if not isinstance(x, float) or not 2**-20 <= x * x <= 2**20 or not _power_of_two(x):
        return None
    return 1 / x


def _power_of_two(x: float) -> bool:
    return frexp(x)[0] in (0.5, -0.5)
