"""Rules for what torch lacks in half types, or rounds more than once there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.table import Tensor, Tensors
from byparts_kernels_torch.workspace import Rule, scratch

HALVES = (torch.float16, torch.bfloat16)


def widened(rule: Rule) -> Rule:
    """The rule, which takes a workspace; half types are f32 stand-ins, rounded once at the end."""

    @wraps(rule)
    def bind(op: Any, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
        if not any(t.dtype in HALVES for t in (*inputs, *outputs)):
            return rule(op, inputs, outputs, workspace)
        xs, ys = ([_stand_in(t, workspace) for t in ts] for ts in (inputs, outputs))
        before = [(s, x) for s, x in zip(xs, inputs, strict=True) if s is not x]
        after = [(y, s) for s, y in zip(ys, outputs, strict=True) if s is not y]
        return _surrounded(rule(op, xs, ys, workspace), before, after)

    return bind


def widened_on_cpu(rule: Rule) -> Rule:
    """`widened` where x is on the CPU: a GPU adds half types in f32, torch's CPU kernels not all.

    Whether they do depends on the processor, and f32 is faster: 64 channels of 16 x 16 through 64
    filters of 3 x 3 take 2.2 ms in f16 and 0.9 in f32, their filter gradient 1945 and 1.2.
    """
    wide = widened(rule)

    @wraps(rule)
    def bind(op: Any, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
        chosen = wide if inputs[0].device.type == "cpu" else rule
        return chosen(op, inputs, outputs, workspace)

    return bind


def in_turn(runs: Sequence[Run]) -> Run:
    """A run that makes all of these runs, in order."""
    if len(runs) == 1:
        return runs[0]
    several = tuple(runs)

    def run() -> None:
        for step in several:
            step()

    return run


def _stand_in(x: Tensor, workspace: Workspace) -> Tensor:
    if x.dtype not in HALVES:
        return x
    return scratch(workspace, x.shape, x, torch.float32)


def _surrounded(
    run: Run, before: Sequence[tuple[Tensor, Tensor]], after: Sequence[tuple[Tensor, Tensor]]
) -> Callable[[], None]:
    def copied() -> None:
        for to, x in before:
            to.copy_(x)
        run()
        for to, x in after:
            to.copy_(x)

    return copied
