"""Elementwise kernels: one call with `out=`, numbers as tensors, or no work at all.

A number beside a tensor is a 0-d tensor made when the step is bound: torch would otherwise make one
of a Python number at each call (2.6 us instead of 1.1 on eight elements).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import copysign
from typing import Any

import torch

from byparts_graph_ir import Op
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_torch.table import Tensor, Tensors, kernels


def one_call(calls: Mapping[type[Op], Callable[..., Any]]) -> None:
    """Register kernels that are `f(*inputs, out=output)`."""
    for op, f in calls.items():
        kernels.on(op)(_rule(f))


def number(value: float, like: Tensor) -> Tensor:
    """A 0-d tensor of the dtype and on the device of `like`."""
    return torch.tensor(value, dtype=like.dtype, device=like.device)


def filled(y: Tensor, value: float) -> Run:
    """The step that writes one number everywhere, rounded as a cast would."""
    if value == 0 and copysign(1, value) > 0:
        return partial(y.zero_)  # a partial, so that it counts as one call of C
    return partial(y.fill_, rounded(value, y))


def rounded(value: float, like: Tensor) -> float:
    """The number as the dtype of `like` has it; too great a one is infinite, and no error."""
    exact = torch.float64 if isinstance(value, float) else torch.int64
    result: float = torch.tensor(value, dtype=exact).to(like.dtype).item()
    return result


def nothing() -> None:
    """The step of outputs that have no elements."""


def _rule(f: Callable[..., Any]) -> Callable[[Any, Sequence[Tensor], Sequence[Tensor]], Run]:
    def rule(op: Op, inputs: Tensors, outputs: Tensors) -> Run:
        return partial(f, *inputs, out=outputs[0])

    return rule
