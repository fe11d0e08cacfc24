"""The functions of mathematics as arithmetic on f32."""

from __future__ import annotations

from byparts_tensor_ir.expression import Expr


def expanded(e: Expr) -> Expr:
    """The expression itself, or what it is made of."""
    return e
