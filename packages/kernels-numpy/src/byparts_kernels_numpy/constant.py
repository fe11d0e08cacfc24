"""Values a program carries, and ops that only pass their input on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from byparts_graph_ir.backend import Run
from byparts_kernels_numpy.table import allocates, kernels
from byparts_opset.constant import Constant, Eye, Fill, Range
from byparts_opset.dtypes import Array
from byparts_opset.identity import Identity, Print, StopGradient

allocates[Print] = "prints"


@kernels.on(Fill)
def fill(op: Fill, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    return partial(outputs[0].fill, Fill(op.value, op.dtype).evaluate()[0].item())


@kernels.on(Constant, Range, Eye)
def literal(op: Constant | Range | Eye, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    return partial(np.copyto, outputs[0], op.evaluate()[0])


@kernels.on(Identity, StopGradient)
def identity(op: Identity | StopGradient, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    return partial(np.copyto, outputs[0], inputs[0])


@kernels.on(Print)
def print_array(op: Print, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    return partial(_print, op.message, inputs[0], outputs[0])


def _print(message: str, x: Array, y: Array) -> None:
    print(f"{message} {x}" if message else x)
    np.copyto(y, x)
