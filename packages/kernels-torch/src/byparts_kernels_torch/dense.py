"""Rules that read rows: strided inputs have contiguous stand-ins, copied when the step runs.

What a plan places is contiguous, so this costs a program nothing; where torch meets strides that a
kernel of its own cannot read, it would allocate the same copy at each call.
"""

from __future__ import annotations

from functools import partial, wraps
from typing import Any

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.table import Tensors
from byparts_kernels_torch.wide import in_turn
from byparts_kernels_torch.workspace import Rule, scratch


def dense(rule: Rule) -> Rule:
    """The rule, which takes a workspace, and sees contiguous inputs only."""

    @wraps(rule)
    def bind(op: Any, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
        xs = [x if x.is_contiguous() else scratch(workspace, x.shape, x) for x in inputs]
        copies = [partial(s.copy_, x) for s, x in zip(xs, inputs, strict=True) if s is not x]
        return in_turn([*copies, rule(op, xs, outputs, workspace)])

    return bind
