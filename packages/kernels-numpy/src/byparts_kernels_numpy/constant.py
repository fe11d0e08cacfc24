"""Values a program carries, and ops that only pass their input on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.lib.stride_tricks import as_strided

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.plain import in_turn
from byparts_kernels_numpy.table import allocates, kernels
from byparts_kernels_numpy.workspace import kept
from byparts_opset.constant import Constant, Eye, Fill, Range
from byparts_opset.dtypes import Array
from byparts_opset.identity import Identity, Print, StopGradient

allocates[Print] = "prints"


@kernels.on(Fill)
def fill(op: Fill, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    return partial(outputs[0].fill, Fill(op.value, op.dtype).evaluate()[0].item())


@kernels.on(Constant)
def literal(op: Constant, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    (y,) = outputs
    return partial(np.copyto, y, np.frombuffer(op.data, y.dtype).reshape(y.shape))


@kernels.on(Range, workspace=True)
def range_(
    op: Range, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    return partial(np.copyto, outputs[0], kept(workspace, op.evaluate()[0]))


@kernels.on(Eye)
def eye(op: Eye, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    (y,) = outputs
    diagonal = as_strided(y, (min(y.shape),), (sum(y.strides),))
    return in_turn([partial(y.fill, 0), partial(diagonal.fill, 1)])


@kernels.on(Identity, StopGradient)
def identity(op: Identity | StopGradient, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    return partial(np.copyto, outputs[0], inputs[0])


@kernels.on(Print)
def print_array(op: Print, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    return partial(_print, op, inputs[0], outputs[0])


def _print(op: Print, x: Array, y: Array) -> None:
    print(op.line(x))
    np.copyto(y, x)
