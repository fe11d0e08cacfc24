"""Python's operators and numbers on values: fills the table that graph-ir leaves open.

A number takes the dtype of the first value beside it that is not a bool (so `select(c, x, 0)` means
a 0 of the type of x), and must fit: 0.5 beside an i32 is an error.  `True` and `False` are refused,
and so is `x == y`, which is whether both are one value: `equal(x, y)` compares elements, and
`fill(True, "bool")` is a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from types import ModuleType
from typing import Any

from byparts_graph_ir import ArgumentError, Operand, ShapeError, Value, arithmetic
from byparts_graph_ir.lazy_names import homes
from byparts_graph_ir.model.arithmetic import advise
from byparts_graph_ir.model.sameness import Sameness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_opset.constant import Fill


def lift(inputs: Sequence[Operand], name: str = "lift") -> tuple[Value, ...]:
    """Replace the numbers among `inputs` by 0-d constants; `name` is the op that takes them.

    Raises:
        ArgumentError: one of them is neither a value nor a number, or is Python's True or False.
    """
    dtypes = [v.type.dtype for v in inputs if isinstance(v, Value)]
    dtype = next((d for d in dtypes if d != "bool"), dtypes[0] if dtypes else None)
    return tuple(v if isinstance(v, Value) else _number(v, dtype, inputs, name) for v in inputs)


def _number(x: Any, dtype: str | None, inputs: Sequence[Operand], name: str) -> Value:
    if hasattr(x, "dtype") and getattr(x, "shape", None) == ():
        x = x.item()  # NumPy's scalars
    if isinstance(x, Sameness):
        x.refuse()
    if isinstance(x, bool):
        raise ArgumentError(
            f"{name}: an operand is Python's {x}; use ops.equal(x, 0.0) where that came of "
            f'x == 0.0, and ops.fill({x}, "bool") for a constant'
        )
    if not isinstance(x, (int, float)):
        raise ArgumentError(
            f"{name}: an operand is a {type(x).__name__}, no value and no number: {x!r:.60}; "
            "wrap arrays, as in ops.constant(x)"
        )
    if dtype == "bool":
        beside = ", ".join(str(v.type) for v in inputs if isinstance(v, Value))
        raise ArgumentError(
            f"{name}: the number {x} is beside no value but {beside}, and numbers are no bools; "
            f'use ops.equal(x, {x}) for a condition, and ops.fill({x}, "f32") for a constant'
        )
    if dtype is None:
        dtype = "f32" if isinstance(x, float) else "i32"
    try:
        return _fill(repr(x), x, dtype)()
    except ShapeError as error:
        beside = ", ".join(str(v.type) if isinstance(v, Value) else repr(v) for v in inputs)
        raise ShapeError(f"{name}: {error} (operands: {beside})") from None


_registered: dict[str, ModuleType] = {}  # "ops": the package that `register` was given


@lru_cache(maxsize=1024)
def _fill(text: str, x: float, dtype: str) -> Fill:
    """Make a `Fill` once for each number: a program has few.  `text` tells 0.0 from -0.0."""
    op: Fill = _registered["ops"].Fill(x, dtype)
    return op


def register(ops: ModuleType) -> None:
    """Let Python's operators on values call the functions of `ops`, the package of the op set."""
    _registered["ops"] = ops
    for key, name in {**{name: name for name in _NAMES}, **_BITS}.items():
        arithmetic[key] = _later(ops, key, name)
    arithmetic["lift"] = lift
    advise((*_THEIRS, *filter(str.islower, homes(ops.__name__))), partial(_advice, ops))


def _later(ops: ModuleType, key: str, name: str) -> Callable[..., Value]:
    """Stand in for the function `name` until its first call, which imports its module."""

    def first(*operands: Any) -> Value:
        function: Callable[..., Value] = getattr(ops, name)
        arithmetic[key] = function
        return function(*operands)

    return first


def _advice(ops: ModuleType, name: str) -> str:
    """Say which function to call in the place of `x.name`, as text."""
    from inspect import signature  # only for a message

    ours = _THEIRS.get(name, name)
    names = list(signature(getattr(ops, ours)).parameters)
    return f"ops.{ours}({', '.join(['x', *names[1:]])})"


# NumPy's names for what is called otherwise here.
_THEIRS = {
    **{"astype": "cast", "dot": "matmul", "swapaxes": "transpose", "ravel": "reshape"},
    **{"take": "gather", "view": "reshape", "permute": "transpose"},
    **{"unsqueeze": "expand_dims", "detach": "stop_gradient"},
}
_NAMES = (
    *("add", "sub", "mul", "div", "floordiv", "mod", "pow", "neg", "abs", "matmul", "getitem"),
    *("less", "less_equal", "greater", "greater_equal", "transpose"),
)
_BITS = {
    **{"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "invert": "bitwise_not"},
    **{"lshift": "shift_left", "rshift": "shift_right"},
}
