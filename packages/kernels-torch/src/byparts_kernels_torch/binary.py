"""Elementwise ops of two inputs: one call, which broadcasts and may write over one of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.elementwise import number, one_call
from byparts_kernels_torch.table import Tensor, Tensors, kernels
from byparts_kernels_torch.wide import in_turn, widened
from byparts_kernels_torch.workspace import scratch
from byparts_opset.binary import (
    Add,
    Atan2,
    Div,
    Floordiv,
    Maximum,
    Minimum,
    Mod,
    Mul,
    Pow,
    SquaredDifference,
    Sub,
)
from byparts_opset.compare import Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual
from byparts_opset.logic import (
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor,
    LogicalAnd,
    LogicalOr,
    LogicalXor,
    ShiftLeft,
    ShiftRight,
)
from byparts_opset.signs import CopySign, NextAfter

one_call(
    {
        **{Add: torch.add, Sub: torch.sub, Mul: torch.mul, Div: torch.true_divide},
        **{Pow: torch.pow, Atan2: torch.atan2, Maximum: torch.maximum, Minimum: torch.minimum},
        **{Equal: torch.eq, NotEqual: torch.ne, Less: torch.lt, LessEqual: torch.le},
        **{Greater: torch.gt, GreaterEqual: torch.ge},
        **{LogicalAnd: torch.logical_and, LogicalOr: torch.logical_or},
        **{LogicalXor: torch.logical_xor, BitwiseAnd: torch.bitwise_and},
        **{BitwiseOr: torch.bitwise_or, BitwiseXor: torch.bitwise_xor},
        **{ShiftLeft: torch.bitwise_left_shift, ShiftRight: torch.bitwise_right_shift},
        **{CopySign: torch.copysign, NextAfter: torch.nextafter},
    }
)


@kernels.on(Floordiv, workspace=True)
@widened
def floordiv(op: Floordiv, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (x, y), (z,) = inputs, outputs
    if y.dtype.is_floating_point:
        return partial(torch.floor_divide, x, y, out=z)
    rest = scratch(workspace, y.shape, y)
    safe, mask, steps = _safe(y, workspace)
    return in_turn(
        [
            *steps,
            partial(torch.where, mask, y, number(1, y), out=rest),
            partial(torch.floor_divide, x, safe, out=z),
            partial(torch.mul, z, rest, out=z),
        ]
    )


@kernels.on(Mod, workspace=True)
@widened
def mod(op: Mod, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (x, y), (z,) = inputs, outputs
    if y.dtype.is_floating_point:
        return partial(torch.remainder, x, y, out=z)
    safe, _, steps = _safe(y, workspace)
    return in_turn([*steps, partial(torch.remainder, x, safe, out=z)])


@kernels.on(SquaredDifference, workspace=True)
@widened
def squared_difference(
    op: SquaredDifference, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    (x, y), (z,) = inputs, outputs
    return in_turn([partial(torch.sub, x, y, out=z), partial(torch.mul, z, z, out=z)])


def _safe(y: Tensor, workspace: Workspace) -> tuple[Tensor, Tensor, list[Callable[[], Any]]]:
    """A divisor that is 1 where y is 0 or -1, where that is, and the steps that make both.

    torch raises for an integer by 0, and the least integer by -1 is a signal that ends the process;
    x // 1 * y is what NumPy gives for both.
    """
    near, safe, mask = (scratch(workspace, y.shape, y, t) for t in (y.dtype, y.dtype, torch.bool))
    low = -1 if y.dtype.is_signed else 0
    return (
        safe,
        mask,
        [
            partial(torch.clamp, y, low, 0, out=near),
            partial(torch.eq, near, y, out=mask),
            partial(torch.where, mask, number(1, y), y, out=safe),
        ],
    )
