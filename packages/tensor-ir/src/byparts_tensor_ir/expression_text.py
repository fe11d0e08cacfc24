"""Texts of expressions: as Python would write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from byparts_tensor_ir.expression import Expr

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "lt": "<"}
_SIGNS |= {"le": "<=", "eq": "==", "ne": "!=", "and": "&", "or": "|", "xor": "^", "shl": "<<"}
_SIGNS["shr"] = ">>"


_MOST_LEVELS, _MOST_LETTERS = 100, 4000  # of a text; longer chains are cut


def expression_text(e: Expr) -> str:
    """The expression as Python would write it; "..." stands for what is very deep or long."""
    return _text(e, {}, 0)


def _text(e: Expr, known: dict[Expr, str], level: int) -> str:
    text = known.get(e)
    if text is None:
        text = known[e] = _written(e, known, level + 1) if level < _MOST_LEVELS else "..."
    return text if len(text) <= _MOST_LETTERS else "..."


def _written(e: Expr, known: dict[Expr, str], level: int) -> str:
    if e.op == "const":
        return f"{e.attr!r}"
    if e.op == "var":
        return str(e.attr.name)
    if e.op == "register":
        return repr(e.attr)
    inner = [_text(a, known, level) for a in e.args]
    if e.op == "half":
        return f"{('low', 'high')[e.attr]}({inner[0]})"
    if e.op == "load":
        return f"{e.attr.name}[{', '.join(inner)}]"
    if e.op == "linear":
        return _sum_text(e, inner)
    if e.op in _SIGNS:
        parts = [
            f"({t})" if (" " in t and t[-1] not in ")]") or " + " in t or " - " in t else t
            for t in inner
        ]
        return f" {_SIGNS[e.op]} ".join(parts)
    if e.op == "not":
        return f"~({inner[0]})"
    if e.op in ("cast", "bitcast"):
        return f"{e.op}({inner[0]}, {e.dtype})"
    return f"{e.op}({', '.join(inner)})"


def _sum_text(e: Expr, inner: Sequence[str]) -> str:
    coefficients, constant = e.attr
    out = ""
    for atom, t, c in zip(e.args, inner, coefficients, strict=True):
        t = f"({t})" if atom.op in ("mod", "floordiv") and abs(c) != 1 else t
        t = t if abs(c) == 1 else f"{t} * {abs(c)}"
        out += (" - " if c < 0 else " + ") + t if out else ("-" if c < 0 else "") + t
    if constant:
        out += f" {'-' if constant < 0 else '+'} {abs(constant)}"
    return out
