"""Arrays, traced values and numbers in the dtype that an op on all of them computes in."""

from __future__ import annotations

from typing import Any

import byparts_opset as ops
from byparts_eager.apply import number
from byparts_eager.array import Array, asarray
from byparts_eager.promotion import result_type
from byparts_graph_ir import Value

_NUMBERS = (int, float, bool)  # of Python alone: NumPy's have a dtype


def of_one_dtype(*operands: Any) -> list[Any]:
    """The operands cast to one dtype, numbers as arrays of no axes beside them.

    Raises:
        TypeError: there is no common dtype, or a number is of a higher kind than the arrays.
    """
    first = operands[0]
    if first.__class__ is Array and all(
        [x.__class__ is Array and x.dtype is first.dtype for x in operands]
    ):
        return list(operands)
    values = [x if x.__class__ in _NUMBERS else asarray(x) for x in operands]
    dtype = result_type(*values).ours
    beside = next(x for x in values if isinstance(x, Value))
    return [
        asarray(x, dtype=dtype) if isinstance(x, Value) else _number(x, dtype, beside)
        for x in values
    ]


def _number(x: float, dtype: str, beside: Value) -> Value:
    if isinstance(beside, Array):
        return number(x, repr(x), dtype, beside.kind.backend)
    return ops.fill(x, dtype)
