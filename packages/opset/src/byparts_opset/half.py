"""Decompositions for half types: computed in f32 and rounded once, as kernels do.

Sums of squares leave f16 from 256 on, and sums of many ones from 65504 on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Optional

import byparts_opset as ops
from byparts_graph_ir import Node, Value

Decomposition = Optional[tuple[Value, ...]]
HALVES = ("f16", "bf16")


def sum_dtype(dtype: str) -> str:
    """The dtype of sums and statistics: f32 for half types, which sums of many elements exceed."""
    return "f32" if dtype in HALVES else dtype


def widened(x: Value) -> Value:
    """Cast half types to f32, as `dtypes.wide` does for arrays."""
    return ops.cast(x, sum_dtype(x.type.dtype))


def in_f32(decompose: Callable[..., Decomposition]) -> Callable[..., Decomposition]:
    """Decorate `decompose`: half types are cast to f32 before, and the results back after."""

    @wraps(decompose)
    def widening(self: Any, *inputs: Value) -> Decomposition:
        wide = tuple(map(widened, inputs))
        made = decompose(self, *wide)
        if wide == inputs or made is None:
            return made
        results = Node(self, inputs).outputs
        return tuple(ops.cast(y, v.type.dtype) for y, v in zip(made, results, strict=True))

    return widening
