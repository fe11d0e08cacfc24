"""Reductions: how elements combine, and what becomes of the combination."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import byparts_opset as ops
from byparts_graph_ir import Op, Table
from byparts_op_loops.extents import Extent
from byparts_tensor_ir.expression import Expr, as_expr
from byparts_tensor_ir.functions import cast
from byparts_tensor_ir.statement import Reducer
from byparts_tensor_ir.tensor import MAX, MIN, PROD, SUM

ALL = Reducer("all", lambda dtype: (1,), lambda a, b: (a[0] & b[0],))
ANY = Reducer("any", lambda dtype: (0,), lambda a, b: (a[0] | b[0],))


@dataclass(frozen=True)
class Reduced:
    """A reduction of one input.

    Attributes:
        reducer: how two elements combine.
        after: `after(combination, number of elements)`.
    """

    reducer: Reducer
    after: Callable[[Expr, Extent], Expr] = lambda x, n: x


reduction: Table[Callable[[Op], Reduced]] = Table("reduction")
_REDUCERS: dict[type[Op], Reducer] = {
    **{ops.Sum: SUM, ops.Max: MAX, ops.Min: MIN, ops.Prod: PROD},
    **{ops.All: ALL, ops.Any: ANY},
}


def _plain(reducer: Reducer) -> Callable[[Op], Reduced]:
    return lambda op: Reduced(reducer)


for _kind, _reducer in _REDUCERS.items():
    reduction.on(_kind)(_plain(_reducer))


@reduction.on(ops.Mean)
def _mean(op: Op) -> Reduced:
    return Reduced(SUM, lambda x, n: x / cast(as_expr(n), x.dtype))
