"""Elementwise ops of two inputs: one NumPy call each, which broadcasts and may write over one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from byparts_graph_ir import KernelRule, Op
from byparts_graph_ir.backend import Run
from byparts_kernels_numpy.blocks import in_wide_blocks
from byparts_kernels_numpy.table import kernels
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
from byparts_opset.logic import LogicalAnd, LogicalOr, LogicalXor

CALLS: dict[type[Op], Callable[..., Any]] = {
    **{Add: np.add, Sub: np.subtract, Mul: np.multiply, Div: np.true_divide},
    **{Floordiv: np.floor_divide, Mod: np.remainder, Pow: np.power, Atan2: np.arctan2},
    **{Equal: np.equal, NotEqual: np.not_equal, Less: np.less, LessEqual: np.less_equal},
    **{Greater: np.greater, GreaterEqual: np.greater_equal},
    **{LogicalAnd: np.logical_and, LogicalOr: np.logical_or, LogicalXor: np.logical_xor},
}


def _one_call(f: Callable[..., Any]) -> KernelRule:
    def rule(op: Op, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
        (x, y), (z,) = inputs, outputs
        return partial(f, x, y, z)

    return rule


for _op, _f in CALLS.items():
    kernels.on(_op)(_one_call(_f))


# NumPy deprecates a third positional argument of these two.


@kernels.on(Maximum)
def maximum(op: Maximum, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    (x, y), (z,) = inputs, outputs
    return partial(np.maximum, x, y, out=z)


@kernels.on(Minimum)
def minimum(op: Minimum, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    (x, y), (z,) = inputs, outputs
    return partial(np.minimum, x, y, out=z)


@kernels.on(SquaredDifference)
def squared_difference(
    op: SquaredDifference, inputs: Sequence[Array], outputs: Sequence[Array]
) -> Run:
    return in_wide_blocks(_squared_difference, inputs, outputs[0])


def _squared_difference(x: Array, y: Array, z: Array) -> None:
    np.subtract(x, y, z)
    np.multiply(z, z, z)
