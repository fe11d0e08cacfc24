"""Elementwise ops of two inputs: one NumPy call each, which broadcasts and may write over one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from byparts_graph_ir import KernelRule, Op
from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.blocks import in_wide_blocks
from byparts_kernels_numpy.plain import in_turn, plain, wrapping
from byparts_kernels_numpy.table import kernels
from byparts_kernels_numpy.workspace import empty
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
from byparts_opset.dtypes import Array
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

CALLS: dict[type[Op], Callable[..., Any]] = {
    **{Add: np.add, Sub: np.subtract, Mul: np.multiply, Div: np.true_divide},
    **{Floordiv: np.floor_divide, Mod: np.remainder, Atan2: np.arctan2},
    **{Equal: np.equal, NotEqual: np.not_equal, Less: np.less, LessEqual: np.less_equal},
    **{Greater: np.greater, GreaterEqual: np.greater_equal},
    **{LogicalAnd: np.logical_and, LogicalOr: np.logical_or, LogicalXor: np.logical_xor},
    **{BitwiseAnd: np.bitwise_and, BitwiseOr: np.bitwise_or, BitwiseXor: np.bitwise_xor},
    **{ShiftLeft: np.left_shift, ShiftRight: np.right_shift},
}


def _one_call(f: Callable[..., Any]) -> KernelRule:
    def rule(op: Op, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
        (x, y), (z,) = inputs, outputs
        return partial(f, x, y, z, **wrapping(z))

    return rule


for _op, _f in CALLS.items():
    kernels.on(_op)(_one_call(_f))


@kernels.on(Pow, workspace=True)
def pow(op: Pow, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    """NumPy refuses negative powers of integers: they become 0 or 1, and all but 1 and -1 are 0."""
    (x, y), (z,) = inputs, outputs
    if z.dtype.name == "int4":
        return plain(pow)(op, inputs, outputs, workspace)
    if z.dtype.kind != "i":
        return partial(np.power, x, y, z)
    powers, size = empty(workspace, y.shape, y.dtype), empty(workspace, x.shape, x.dtype)
    negative, other, zero = (
        empty(workspace, shape, np.bool_) for shape in (y.shape, x.shape, z.shape)
    )
    return in_turn(
        [
            partial(np.less, y, 0, negative),
            partial(np.copyto, powers, y),
            partial(np.bitwise_and, y, 1, out=powers, where=negative),
            partial(np.absolute, x, size),
            partial(np.not_equal, size, 1, other),
            partial(np.logical_and, negative, other, zero),
            partial(np.power, x, powers, z),
            partial(np.copyto, z, 0, where=zero),
        ]
    )


# NumPy deprecates a third positional argument of these two.


@kernels.on(Maximum)
def maximum(op: Maximum, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    (x, y), (z,) = inputs, outputs
    return partial(np.maximum, x, y, out=z, **wrapping(z))


@kernels.on(Minimum)
def minimum(op: Minimum, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    (x, y), (z,) = inputs, outputs
    return partial(np.minimum, x, y, out=z, **wrapping(z))


@kernels.on(SquaredDifference, workspace=True)
def squared_difference(
    op: SquaredDifference, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    return in_wide_blocks(_squared_difference, inputs, outputs[0], workspace)


def _squared_difference(x: Array, y: Array, z: Array) -> None:
    np.subtract(x, y, z)
    np.multiply(z, z, z)
