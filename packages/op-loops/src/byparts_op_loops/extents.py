"""Extents of dimensions: numbers, and expressions of tensor-ir where a dimension has names.

A named dimension `n` is a size, of which one knows that it is not negative and no more: it may be
0, or 1.  So loops over it are right for all sizes.  What asks which of two sizes is greater gets an
error from the expression; nothing is specialized on a number by mistake.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache, reduce
from math import prod
from typing import TypeVar, Union

from byparts_graph_ir import Refused, ShapeError, TensorType
from byparts_graph_ir.model.dimension import dimension_names, solve
from byparts_tensor_ir.expression import Expr, as_expr, variable

Extent = Union[int, Expr]
_LIKELY = 256  # a size, where a decision of speed needs a number
Number = TypeVar("Number", int, Expr)


def is_known(t: TensorType) -> bool:
    """Whether all dimensions are numbers or have names."""
    return t.shape is not None and None not in t.shape


def has_elements(t: TensorType) -> bool:
    """Whether no dimension is the number 0; of named ones nothing is known."""
    return t.shape is not None and 0 not in t.shape


def extents(t: TensorType) -> tuple[Extent, ...]:
    """The dimensions of a type.

    Raises:
        Refused: one of them is not known.
    """
    if t.static:
        return t.dims
    if t.shape is None:
        raise Refused(f"{t} has no known rank")
    return tuple([_extent(d, t) for d in t.shape])


def likely_size(dims: Iterable[Extent]) -> int:
    """The number of elements, where each dimension that is no number is taken for a usual size."""
    return prod([n if isinstance(n, int) else _LIKELY for n in dims])


def size_variable(name: str) -> Expr:
    """The variable of a named dimension: one for each name in this process."""
    return _variable(name)


def names_of(t: TensorType) -> set[str]:
    """The names in the dimensions of a type."""
    return {name for d in t.shape or () for name in dimension_names(d)}


def sizes_between(pairs: Iterable[tuple[TensorType, TensorType]]) -> dict[str, int]:
    """The sizes for which types with names are these static types: name -> number.

    Names come first, then expressions that determine one name.
    """
    dims = [p for a, b in pairs if not a.static for p in zip(a.shape or (), b.dims, strict=True)]
    sizes = {d: n for d, n in dims if isinstance(d, str) and d.isidentifier()}
    for d, n in dims:
        if isinstance(d, str) and (dimension_names(d) - sizes.keys()):
            solution = solve(d, n) if len(dimension_names(d)) == 1 else None
            if solution is not None:
                sizes.setdefault(*solution)
    return sizes


def are_determined(names: Iterable[str], types: Iterable[TensorType]) -> bool:
    """Whether `sizes_between` finds all these names, whatever the sizes are."""
    dims = {d for t in types for d in t.shape or () if isinstance(d, str)}
    return all(any(_determines(d, name) for d in dims) for name in names)


def _determines(text: str, name: str) -> bool:
    if dimension_names(text) != {name}:
        return False
    try:
        return text == name or solve(text, 0) is not None
    except ShapeError:  # it is `a * name + b`, and never 0
        return True


def number_of(text: str, sizes: Mapping[str, int]) -> int:
    """The number of an expression of sizes, whose variables have the names of `size_variable`."""
    return _value(ast.parse(text, mode="eval").body, sizes, lambda n: n, _INTEGERS)


def _extent(d: Union[int, str, None], t: TensorType) -> Extent:
    if isinstance(d, int):
        return d
    if d is None:
        raise Refused(f"{t}: a dimension is not known")
    return _expression(d)


@lru_cache(maxsize=4096)
def _expression(text: str) -> Expr:
    """The expression of the text of a dimension, which is one of Python."""
    from byparts_tensor_ir.functions import maximum, minimum  # where there are names

    names = {name: _variable(name) for name in dimension_names(text)}
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:  # a name that Python keeps for itself
        raise Refused(f"dimension {text!r} has a name that is a word of Python") from error
    return _value(tree, names, as_expr, {"min": minimum, "max": maximum})


@cache
def _variable(name: str) -> Expr:
    return variable(variable_name(name))


def variable_name(name: str) -> str:
    """The name of the variable of a named dimension, an identifier of C."""
    return f"size_{name}" if name.isascii() else f"size8_{name.encode().hex()}"


_INTEGERS: dict[str, Callable[[int, int], int]] = {"min": min, "max": max}


def _value(
    tree: ast.expr,
    names: Mapping[str, Number],
    number: Callable[[int], Number],
    extremes: Mapping[str, Callable[[Number, Number], Number]],
) -> Number:
    """The value of an expression of names, numbers, + - * // % min max."""
    match tree:
        case ast.Constant(value=int(constant)):
            return number(constant)
        case ast.Name(id=name):
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=x):
            return number(0) - _value(x, names, number, extremes)
        case ast.Call(func=ast.Name(id=name), args=args):
            values = [_value(x, names, number, extremes) for x in args]
            return reduce(extremes[name], values)
        case ast.BinOp(left=left, op=op, right=right):
            a = _value(left, names, number, extremes)
            b = _value(right, names, number, extremes)
            return _OPERATIONS[type(op)](a, b)
    raise Refused(f"dimension {ast.unparse(tree)!r} is no expression of names")


_OPERATIONS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}
