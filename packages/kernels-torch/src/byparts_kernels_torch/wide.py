"""Rules for what torch lacks in half types, or rounds more than once there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import torch

from byparts_graph_ir import KernelRule
from byparts_graph_ir.backend import Run
from byparts_kernels_torch.scratch import empty
from byparts_kernels_torch.table import Tensor

HALVES = (torch.float16, torch.bfloat16)


def widened(rule: KernelRule) -> KernelRule:
    """The rule, in which half types are f32 stand-ins, rounded once at the end."""

    @wraps(rule)
    def bind(op: Any, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Run:
        if not any(t.dtype in HALVES for t in (*inputs, *outputs)):
            return rule(op, inputs, outputs)
        xs, ys = [_stand_in(x) for x in inputs], [_stand_in(y) for y in outputs]
        before = [(s, x) for s, x in zip(xs, inputs, strict=True) if s is not x]
        after = [(y, s) for s, y in zip(ys, outputs, strict=True) if s is not y]
        return _surrounded(rule(op, xs, ys), before, after)

    return bind


def widened_on_cpu(rule: KernelRule) -> KernelRule:
    """`widened` where x is on the CPU: a GPU adds half types in f32, torch's CPU kernels not all.

    Whether they do depends on the processor, and f32 is faster: 64 channels of 16 x 16 through 64
    filters of 3 x 3 take 2.2 ms in f16 and 0.9 in f32, their filter gradient 1945 and 1.2.
    """
    wide = widened(rule)

    @wraps(rule)
    def bind(op: Any, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Run:
        return (wide if inputs[0].device.type == "cpu" else rule)(op, inputs, outputs)

    return bind


def in_turn(runs: Sequence[Run]) -> Run:
    """One run of several."""
    if len(runs) == 1:
        return runs[0]
    several = tuple(runs)

    def run() -> None:
        for step in several:
            step()

    return run


def _stand_in(x: Tensor) -> Tensor:
    if x.dtype not in HALVES:
        return x
    return empty(x.shape, x, torch.float32)


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
