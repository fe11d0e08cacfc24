"""Refusals of types that torch computes on the CPU alone: on a GPU the first run would fail."""

from __future__ import annotations

from functools import wraps
from typing import Any

from byparts_graph_ir import Refused
from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.cuda_space import CudaSpace
from byparts_kernels_torch.table import NAMES, Tensors
from byparts_kernels_torch.workspace import Rule


def floats_only_on_gpu(rule: Rule) -> Rule:
    """The rule, which takes a workspace, and refuses integers where the arrays are on a GPU."""

    @wraps(rule)
    def bind(op: Any, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
        others = [x.dtype for x in inputs if not x.dtype.is_floating_point]
        if others and isinstance(workspace.backend.space, CudaSpace):
            raise Refused(
                f"torch has no {op.name} of {NAMES[others[0]]} on a GPU; "
                "cast what it takes to f32 or f64, or compute it on the CPU"
            )
        return rule(op, inputs, outputs, workspace)

    return bind
