"""Arithmetic on two arrays: one NumPy call each, which broadcasts and may write over an operand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from byparts_graph_ir import KernelRule, Op
from byparts_graph_ir.backend import Run
from byparts_opset.binary import Add, Div, Mul, Sub
from byparts_opset.dtypes import Array

from byparts_kernels_numpy.table import kernels


def _call(f: Callable[..., Any]) -> KernelRule:
    def rule(op: Op, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
        (x, y), (z,) = inputs, outputs
        return partial(f, x, y, z)

    return rule


for _op, _f in ((Add, np.add), (Sub, np.subtract), (Mul, np.multiply), (Div, np.true_divide)):
    kernels.on(_op)(_call(_f))
