"""Signs of floats and the floats next to others: one NumPy call each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from byparts_graph_ir import KernelRule, Op
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_numpy.table import kernels
from byparts_opset.dtypes import Array
from byparts_opset.signs import CopySign, NextAfter, SignBit


def _one_call(f: Callable[..., Any]) -> KernelRule:
    def rule(op: Op, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
        return partial(f, *inputs, *outputs)

    return rule


kernels.on(SignBit)(_one_call(np.signbit))
kernels.on(CopySign)(_one_call(np.copysign))
kernels.on(NextAfter)(_one_call(np.nextafter))
