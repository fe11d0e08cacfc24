"""Python's operators and numbers on values: fills the table that graph-ir leaves open.

A number takes the dtype of the first value beside it that is not a bool (so `select(c, x, 0)` means
a 0 of the type of x), and must fit: 0.5 beside an i32 is an error.  `True` and `False` are bools.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import byparts_opset
from byparts_graph_ir import Operand, ShapeError, Value, arithmetic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_opset.constant import Fill


def lift(inputs: Sequence[Operand]) -> tuple[Value, ...]:
    """Values, with 0-d constants for the numbers among `inputs`."""
    dtypes = [v.type.dtype for v in inputs if isinstance(v, Value)]
    dtype = next((d for d in dtypes if d != "bool"), dtypes[0] if dtypes else None)
    return tuple(v if isinstance(v, Value) else _number(v, dtype, inputs) for v in inputs)


def _number(x: Any, dtype: str | None, inputs: Sequence[Operand]) -> Value:
    if hasattr(x, "dtype") and getattr(x, "shape", None) == ():
        x = x.item()  # NumPy's scalars
    if isinstance(x, bool):
        return byparts_opset.fill(x, "bool")
    if not isinstance(x, (int, float)):
        raise ShapeError(
            f"an operand is a {type(x).__name__}, no value and no number; "
            "wrap arrays, as in constant(x)"
        )
    if dtype is None:
        dtype = "f32" if isinstance(x, float) else "i32"
    try:
        return _fill(repr(x), x, dtype)()
    except ShapeError as error:
        beside = ", ".join(str(v.type) if isinstance(v, Value) else repr(v) for v in inputs)
        raise ShapeError(f"{error} (operands: {beside})") from None


@lru_cache(maxsize=1024)
def _fill(text: str, x: float, dtype: str) -> Fill:
    """The same op for the same number: a program has few.  `text` tells 0.0 from -0.0."""
    return byparts_opset.Fill(x, dtype)


def _later(name: str) -> Callable[..., Value]:
    """The function of this name; its module is imported when it is first called."""

    def first(*operands: Any) -> Value:
        function: Callable[..., Value] = getattr(byparts_opset, name)
        arithmetic[name] = function
        return function(*operands)

    return first


_NAMES = (
    *("add", "sub", "mul", "div", "floordiv", "mod", "pow", "neg", "abs", "matmul", "getitem"),
    *("less", "less_equal", "greater", "greater_equal"),
)
arithmetic.update({name: _later(name) for name in _NAMES}, lift=lift)
