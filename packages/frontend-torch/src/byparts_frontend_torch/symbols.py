"""Sizes that the export left open.

Torch has expressions of symbols, such as `s0 // 2 + 1`.  Sums, products, whole powers, quotients
and rests by a number, minima and maxima are dimensions of ours too, under the names that the user
gave to `torch.export.Dim`.  Any other expression (a quotient of two symbols) is unknown, and a rule
that must know it says so.

Torch knows more of a size than a rule can derive: that a slice up to `n` has `n` elements follows
from a guard.  So a rule may ask for the shapes that torch found for the call being imported.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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
        return byparts_graph_ir.dimension(_written(expression))
    except (ShapeError, KeyError):  # it has functions that our dimensions have not
        return Expression(text)


class _Current(threading.local):
    names: Mapping[str, str] = {}
    call: Any = None


_current = _Current()
_OPERATORS = {
    **{"Add": "+", "Mul": "*", "FloorDiv": "//", "CleanDiv": "//", "Mod": "%", "PythonMod": "%"},
    **{"Min": ",", "Max": ","},
}


@contextmanager
def naming(exported: Any) -> Iterator[None]:
    """Symbols are called inside as the user called their `torch.export.Dim`.  Per thread."""
    before = _current.names
    _current.names = _names_of(exported)
    try:
        yield
    finally:
        _current.names = before


@contextmanager
def calling(meta: Any) -> Iterator[None]:
    """Rules called inside import the call that gives `meta` in torch.  Per thread."""
    _current.call = meta
    try:
        yield
    finally:
        _current.call = None


def shapes_given() -> list[tuple[Dimension, ...]]:
    """The shape that torch found for each result of the call being imported."""
    given = _current.call if isinstance(_current.call, (list, tuple)) else [_current.call]
    return [tuple(map(dimension, t.shape)) for t in given if hasattr(t, "shape")]


def shape_given(what: str) -> tuple[Union[int, str], ...]:
    """The shape that torch found for the one result of the call being imported.

    Raises:
        UnsupportedOp: a size is none of our dimensions.
    """
    shape = tuple(d for d in shapes_given()[0] if d is not None)
    if len(shape) < len(shapes_given()[0]):
        raise UnsupportedOp(f"{what} has the open shape {shapes_given()[0]}: export fixed sizes")
    return shape


def product(sizes: Sequence[Dimension]) -> Dimension:
    """The number of elements of axes of these sizes; `None` if one is unknown."""
    if None in sizes:
        return None
    return byparts_graph_ir.dimension("*".join(f"({d})" for d in sizes) or "1")


def difference(size: Dimension, *taken: Dimension) -> Dimension:
    """The rest of a size; `None` if one is unknown."""
    if None in (size, *taken):
        return None
    return byparts_graph_ir.dimension(f"{size}" + "".join(f"-({d})" for d in taken))


def _names_of(exported: Any) -> dict[str, str]:
    """Symbol of torch -> name that the user gave; a program that was loaded has lost them."""
    values = (n.meta.get("val") for n in exported.graph.nodes if n.op == "placeholder")
    sizes = (d for v in values for d in getattr(v, "shape", ()) if hasattr(d, "node"))
    env = next((d.node.shape_env for d in sizes), None)
    given = getattr(env, "source_name_to_debug_name", {})
    names = {}
    for symbol, sources in getattr(env, "var_to_sources", {}).items():
        for source in sources:
            name = source.name if isinstance(source.name, str) else source.name()
            if given.get(name, "").isidentifier() and given[name] not in ("min", "max"):
                names[str(symbol)] = given[name]
    return names


def _written(expression: Any) -> str:
    """A whole expression of torch in our spelling.

    Raises:
        KeyError: it has a function that our dimensions have not.
    """
    if expression.is_Symbol:
        return _current.names.get(str(expression), str(expression))
    if expression.is_Integer:
        return str(int(expression))
    kind, args = type(expression).__name__, expression.args
    if kind == "Pow" and args[1].is_Integer and 0 < args[1] < 9:
        return "*".join([f"({_written(args[0])})"] * int(args[1]))
    text = _OPERATORS[kind].join(f"({_written(a)})" for a in args)
    return f"{kind.lower()}({text})" if kind in ("Min", "Max") else text


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

    Where two are expressions, torch may know the shape of the result better.

    Raises:
        UnsupportedOp: two are expressions.
    """
    shape = tuple(-1 if isinstance(size, Expression) else size for size in sizes)
    for given in shapes_given()[:1] if shape.count(-1) > 1 else []:
        shape = tuple(-1 if d is None else d for d in given)
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
