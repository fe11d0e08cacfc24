"""Sizes of a call: the numbers that a function's size variables have for given arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from byparts_tensor_ir.expression import Expr
from byparts_tensor_ir.statement import Func


def dtype_name(dtype: Any) -> str:
    """The name here of a dtype of NumPy or of `ml_dtypes`."""
    if dtype.name in ("bool", "bfloat16"):
        return "bool" if dtype.name == "bool" else "bf16"
    return f"{dtype.kind}{8 * dtype.itemsize}"


def expression_sizes(
    func: Func, arguments: Sequence[tuple[tuple[int, ...], str]]
) -> dict[Expr, int]:
    """The sizes that shapes of arguments give.

    Args:
        func: the function that is called.
        arguments: (shape, dtype) of each argument.

    Raises:
        ValueError: another number of arguments, another rank or dtype, or an extent that does not
            fit; says which, with both numbers.
    """
    if len(arguments) != len(func.params):
        raise ValueError(f"{func.name} takes {len(func.params)} arrays, not {len(arguments)}")
    sizes: dict[Expr, int] = {}
    later = []
    for param, (shape, dtype) in zip(func.params, arguments, strict=True):
        if dtype != param.dtype or len(shape) != len(param.shape):
            raise ValueError(f"{func.name}: {param} got an array of {dtype}{list(shape)}")
        for axis, (extent, n) in enumerate(zip(param.shape, shape, strict=True)):
            if extent.op == "var" and extent not in sizes:
                sizes[extent] = n
            else:
                later.append((param, axis, extent, n, shape))
    for param, axis, extent, n, shape in later:
        expected = evaluated(extent, sizes)
        if expected != n:
            raise ValueError(
                f"{func.name}: {param} got shape {list(shape)}: {extent} is {expected} on axis "
                f"{axis}, not {n}"
            )
    return sizes


def evaluated(e: Expr, sizes: dict[Expr, int]) -> int | None:
    """An expression of sizes as a number; `None` where a size is not known."""
    if e.op == "const":
        return int(e.attr)
    if e.op == "var":
        return sizes.get(e)
    args = [evaluated(a, sizes) for a in e.args]
    known = [a for a in args if a is not None]
    if len(known) < len(args):
        return None
    if e.op == "linear":
        total: int = e.attr[1]
        coefficients: tuple[int, ...] = e.attr[0]
        return total + sum(a * c for a, c in zip(known, coefficients, strict=True))
    if e.op in ("mul", "min", "max"):
        return prod(known) if e.op == "mul" else min(known) if e.op == "min" else max(known)
    quotient, rest = divmod(known[0], known[1])
    return quotient if e.op == "floordiv" else rest
