"""Torch's rule for operands of several dtypes; our ops take one.

Tensors with axes decide; 0-d tensors and then numbers count only where they are of a higher kind
(bool, integer, float).  A number alone is an i64 or, if it is a float, an f32.  Source:
https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
"""

from __future__ import annotations

from functools import reduce
from typing import Union

import byparts_opset as ops
from byparts_frontend_torch.symbols import Expression, Size, size_value
from byparts_graph_ir import FLOATS, ITEM_BYTES, Value

Operand = Union[Value, Size, float]


def promoted(*operands: Operand) -> tuple[Value, ...]:
    """The operands as values of the dtype that torch computes in."""
    dtype = result_dtype(*operands)
    return tuple(as_value(x, dtype) for x in operands)


def as_value(x: Operand, dtype: str) -> Value:
    """A value of this dtype, of a value, a size or a number."""
    if isinstance(x, (str, Expression)):
        x = size_value(x)
    if isinstance(x, Value):
        return ops.cast(x, dtype)
    return ops.fill(as_number(x, dtype), dtype)


def floating(x: Value) -> Value:
    """x as torch takes it where only floats make sense."""
    return x if x.type.dtype in FLOATS else ops.cast(x, "f32")


def result_dtype(*operands: Operand) -> str:
    """The dtype that torch would compute in."""
    ranked: tuple[list[str], list[str], list[str]] = ([], [], [])
    for x in operands:
        if isinstance(x, Value):
            ranked[0 if x.type.shape != () else 1].append(x.type.dtype)
        else:
            ranked[2].append(dtype_of(x))
    by_rank = [reduce(promote, dtypes) for dtypes in ranked if dtypes]
    return reduce(lambda lower, higher: _meet(higher, lower), reversed(by_rank))


def dtype_of(x: Size | float) -> str:
    """The dtype that torch gives a number."""
    if isinstance(x, bool):
        return "bool"
    return "f32" if isinstance(x, float) else "i64"


def as_number(x: float, dtype: str) -> float:
    """A number as Python has those of a dtype."""
    if dtype == "bool":
        return bool(x)
    return float(x) if dtype in FLOATS else int(x)


def promote(a: str, b: str) -> str:
    """The dtype that holds both, as `torch.promote_types`."""
    if a == b or _kind(a) > _kind(b):
        return a
    if _kind(a) < _kind(b):
        return b
    if {a, b} == {"f16", "bf16"}:
        return "f32"
    if {a, b} == {"u8", "i8"}:
        return "i16"
    return max(a, b, key=lambda dtype: ITEM_BYTES[dtype])


def _meet(higher: str, lower: str) -> str:
    """The dtype that a group of operands makes together with the groups that count less."""
    return higher if _kind(higher) >= _kind(lower) else promote(higher, lower)


def _kind(dtype: str) -> int:
    return 0 if dtype == "bool" else 2 if dtype in FLOATS else 1
