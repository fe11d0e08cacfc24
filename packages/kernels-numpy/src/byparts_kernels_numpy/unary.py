"""Elementwise ops of one input that are one NumPy call, and the two that are a line more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from byparts_graph_ir import KernelRule, Op
from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.blocks import in_wide_blocks
from byparts_kernels_numpy.plain import wrapping
from byparts_kernels_numpy.table import kernels
from byparts_opset.cast import Cast, rounded_to_odd
from byparts_opset.compare import IsFinite, IsInf, IsNan
from byparts_opset.dtypes import Array
from byparts_opset.logic import LogicalNot
from byparts_opset.trigonometric import (
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atanh,
    Cos,
    Cosh,
    Sin,
    Sinh,
    Tan,
    Tanh,
)
from byparts_opset.unary import (
    Abs,
    Ceil,
    Exp,
    Expm1,
    Floor,
    Log,
    Log1p,
    Neg,
    Reciprocal,
    Round,
    Rsqrt,
    Sign,
    Sqrt,
    Square,
    Trunc,
)

CALLS: dict[type[Op], Callable[..., Any]] = {
    **{Neg: np.negative, Abs: np.absolute, Sign: np.sign, Square: np.square},
    **{Reciprocal: np.reciprocal, Sqrt: np.sqrt},
    **{Exp: np.exp, Expm1: np.expm1, Log: np.log, Log1p: np.log1p},
    **{Sin: np.sin, Cos: np.cos, Tan: np.tan, Asin: np.arcsin, Acos: np.arccos, Atan: np.arctan},
    **{Sinh: np.sinh, Cosh: np.cosh, Tanh: np.tanh},
    **{Asinh: np.arcsinh, Acosh: np.arccosh, Atanh: np.arctanh},
    **{Floor: np.floor, Ceil: np.ceil, Round: np.rint, Trunc: np.trunc},
    **{IsNan: np.isnan, IsInf: np.isinf, IsFinite: np.isfinite, LogicalNot: np.logical_not},
}


def _one_call(f: Callable[..., Any]) -> KernelRule:
    def rule(op: Op, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
        (x,), (y,) = inputs, outputs
        return partial(f, x, y, **wrapping(y))

    return rule


for _op, _f in CALLS.items():
    kernels.on(_op)(_one_call(_f))


@kernels.on(Rsqrt, workspace=True)
def rsqrt(
    op: Rsqrt, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    return in_wide_blocks(_rsqrt, inputs, outputs[0], workspace)


@kernels.on(Cast)
def cast(op: Cast, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    (x,), (y,) = inputs, outputs
    if x.dtype == np.float64 and op.dtype == "bf16":
        return partial(_round_once, x, y)
    return partial(np.copyto, y, x, casting="unsafe")


def _round_once(x: Array, y: Array) -> None:
    """Round f64 to bf16, which NumPy does by way of f32."""
    np.copyto(y, rounded_to_odd(x), casting="unsafe")


def _rsqrt(x: Array, y: Array) -> None:
    np.sqrt(x, y)
    np.reciprocal(y, y)
