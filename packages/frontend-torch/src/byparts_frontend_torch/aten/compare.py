"""Comparisons."""

from __future__ import annotations

from typing import Any

import byparts_opset as ops
from byparts_frontend_torch.promotion import Operand, floating, promoted
from byparts_frontend_torch.rules import rules
from byparts_graph_ir import Value

_COMPARISONS = {
    **{"eq": ops.equal, "ne": ops.not_equal, "lt": ops.less, "le": ops.less_equal},
    **{"gt": ops.greater, "ge": ops.greater_equal},
}
_QUESTIONS = {"isnan": ops.is_nan, "isinf": ops.is_inf, "isfinite": ops.is_finite}


def _compared(function: Any) -> Any:
    def rule(x: Operand, y: Operand) -> Value:
        a, b = promoted(x, y)
        if a.type.dtype == "bool" and function not in (ops.equal, ops.not_equal):
            a, b = ops.cast(a, "u8"), ops.cast(b, "u8")
        compared: Value = function(a, b)
        return compared

    return rule


def _asked(function: Any) -> Any:
    return lambda x: function(floating(x))


for _name, _function in _COMPARISONS.items():
    rules.on(f"aten.{_name}.Tensor", f"aten.{_name}.Scalar")(_compared(_function))
for _name, _question in _QUESTIONS.items():
    rules.on(f"aten.{_name}.default")(_asked(_question))
