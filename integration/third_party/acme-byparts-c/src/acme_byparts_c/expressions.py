"""What each op is in C, on operands {0}, {1}, {2}."""

from __future__ import annotations

import byparts_opset as ops
from byparts_graph_ir import Op

EXPRESSIONS: dict[type[Op], str] = {
    ops.Identity: "{0}",
    ops.BroadcastTo: "{0}",
    ops.Neg: "-{0}",
    ops.Abs: "fabsf({0})",
    ops.Square: "{0} * {0}",
    ops.Reciprocal: "1.f / {0}",
    ops.Sqrt: "sqrtf({0})",
    ops.Rsqrt: "1.f / sqrtf({0})",
    ops.Exp: "exponential({0})",
    ops.Log: "logf({0})",
    ops.Log1p: "log1pf({0})",
    ops.Expm1: "expm1f({0})",
    ops.Tanh: "hyperbolic_tangent({0})",
    ops.Erf: "erff({0})",
    ops.Relu: "{0} < 0 ? 0.f : {0}",
    ops.Sigmoid: "logistic({0})",
    ops.Add: "{0} + {1}",
    ops.Sub: "{0} - {1}",
    ops.Mul: "{0} * {1}",
    ops.Div: "{0} / {1}",
    ops.Maximum: "larger({0}, {1})",
    ops.Minimum: "smaller({0}, {1})",
    ops.SquaredDifference: "({0} - {1}) * ({0} - {1})",
    ops.ReluGradient: "{1} <= 0 ? 0.f : {0}",
    ops.TanhGradient: "{0} * (1.f - {1} * {1})",
    ops.SigmoidGradient: "{0} * ({1} * (1.f - {1}))",
    ops.Equal: "{0} == {1}",
    ops.NotEqual: "{0} != {1}",
    ops.Less: "{0} < {1}",
    ops.LessEqual: "{0} <= {1}",
    ops.Greater: "{0} > {1}",
    ops.GreaterEqual: "{0} >= {1}",
    ops.LogicalAnd: "{0} & {1}",
    ops.LogicalOr: "{0} | {1}",
    ops.LogicalNot: "!{0}",
    ops.Select: "{0} ? {1} : {2}",
}
# Of reductions: the number to begin with, the next one, the clause of a loop that makes one.
REDUCTIONS: dict[type[Op], tuple[str, str, str]] = {
    ops.Sum: ("0", "{0} + {1}", "+"),
    ops.Mean: ("0", "{0} + {1}", "+"),
    ops.Max: ("-INFINITY", "larger({1}, {0})", "larger"),
    ops.Min: ("INFINITY", "smaller({1}, {0})", "smaller"),
}
