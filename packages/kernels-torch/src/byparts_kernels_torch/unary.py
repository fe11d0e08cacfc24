"""Elementwise ops of one input: one call into torch, and those that are a call more."""

from __future__ import annotations

from functools import partial
from math import inf

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.elementwise import number, one_call
from byparts_kernels_torch.table import Tensors, kernels
from byparts_kernels_torch.wide import in_turn, widened
from byparts_kernels_torch.workspace import scratch
from byparts_opset.cast import Cast
from byparts_opset.compare import IsFinite, IsInf, IsNan
from byparts_opset.error_function import Erf, Erfc, Erfinv
from byparts_opset.logic import LogicalNot
from byparts_opset.signs import SignBit
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

one_call(
    {
        **{Neg: torch.neg, Abs: torch.abs},
        **{Reciprocal: torch.reciprocal, Sqrt: torch.sqrt, Rsqrt: torch.rsqrt},
        **{Exp: torch.exp, Expm1: torch.expm1, Log: torch.log, Log1p: torch.log1p},
        **{Sin: torch.sin, Cos: torch.cos, Tan: torch.tan},
        **{Asin: torch.asin, Acos: torch.acos, Atan: torch.atan},
        **{Sinh: torch.sinh, Cosh: torch.cosh, Tanh: torch.tanh},
        **{Asinh: torch.asinh, Acosh: torch.acosh, Atanh: torch.atanh},
        **{Erfc: torch.erfc, Erfinv: torch.erfinv},
        **{Floor: torch.floor, Ceil: torch.ceil, Round: torch.round, Trunc: torch.trunc},
        **{LogicalNot: torch.logical_not},
    }
)


@kernels.on(Erf, workspace=True)
@widened
def erf(op: Erf, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    """torch 2.13's erf of bf16 is 0 for |x| below about 0.007."""
    (x,), (y,) = inputs, outputs
    return partial(torch.erf, x, out=y)


@kernels.on(Square)
def square(op: Square, inputs: Tensors, outputs: Tensors) -> Run:
    (x,), (y,) = inputs, outputs
    return partial(torch.mul, x, x, out=y)


@kernels.on(Sign, workspace=True)
def sign(op: Sign, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    """torch's sign of nan is 0; ours is nan."""
    (x,), (y,) = inputs, outputs
    if not x.dtype.is_floating_point:
        return partial(torch.sign, x, out=y)
    signs, unordered = (scratch(workspace, y.shape, y, t) for t in (y.dtype, torch.bool))
    return in_turn(
        [
            partial(torch.ne, x, x, out=unordered),
            partial(torch.sign, x, out=signs),
            partial(torch.where, unordered, x, signs, out=y),
        ]
    )


@kernels.on(SignBit)
def signbit(op: SignBit, inputs: Tensors, outputs: Tensors) -> Run:
    return partial(torch.signbit, inputs[0], out=outputs[0])


@kernels.on(IsNan)
def is_nan(op: IsNan, inputs: Tensors, outputs: Tensors) -> Run:
    (x,), (y,) = inputs, outputs
    return partial(torch.ne, x, x, out=y)


@kernels.on(IsInf, workspace=True)
def is_inf(op: IsInf, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (x,), (y,) = inputs, outputs
    if not x.dtype.is_floating_point:
        return partial(y.fill_, False)
    size = scratch(workspace, x.shape, x)
    return in_turn(
        [partial(torch.abs, x, out=size), partial(torch.eq, size, number(inf, x), out=y)]
    )


@kernels.on(IsFinite, workspace=True)
def is_finite(op: IsFinite, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (x,), (y,) = inputs, outputs
    if not x.dtype.is_floating_point:
        return partial(y.fill_, True)
    size = scratch(workspace, x.shape, x)
    return in_turn(
        [partial(torch.abs, x, out=size), partial(torch.lt, size, number(inf, x), out=y)]
    )


@kernels.on(Cast, workspace=True)
def cast(op: Cast, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (x,), (y,) = inputs, outputs
    if x.dtype != torch.float64 or y.dtype not in (torch.float16, torch.bfloat16):
        return partial(y.copy_, x)
    dtypes = torch.float32, torch.float64, torch.float64, torch.int32
    return partial(_round_once, x, y, *[scratch(workspace, x.shape, x, t) for t in dtypes])


def _round_once(
    x: torch.Tensor,
    y: torch.Tensor,
    near: torch.Tensor,
    back: torch.Tensor,
    size: torch.Tensor,
    flag: torch.Tensor,
) -> None:
    """Round f64 to a half once, where PyTorch rounds to f32 and then again.

    An f32 that is not exact gets an odd last bit, as in byparts_opset.cast.rounded_to_odd.
    """
    near.copy_(x)
    back.copy_(near)
    bits = near.view(torch.int32)
    torch.abs(x, out=size)
    torch.gt(torch.abs(back), size, out=flag)
    bits.sub_(flag)  # towards zero
    torch.ne(back, x, out=flag)
    flag.logical_and_(torch.eq(x, x))
    bits.bitwise_or_(flag)
    y.copy_(near)
