"""Rules that read rows: strided inputs have contiguous stand-ins, copied when the step runs.

What a plan places is contiguous, so this costs a program nothing; where torch meets strides that a
kernel of its own cannot read, it would allocate the same copy at each call.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, wraps
from typing import Any

from byparts_graph_ir import KernelRule
from byparts_graph_ir.backend import Run
from byparts_kernels_torch.scratch import empty
from byparts_kernels_torch.table import Tensor
from byparts_kernels_torch.wide import in_turn


def dense(rule: KernelRule) -> KernelRule:
    """The rule, which sees contiguous inputs only."""

    @wraps(rule)
    def bind(op: Any, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Run:
        xs = [x if x.is_contiguous() else empty(x.shape, x) for x in inputs]
        copies = [partial(s.copy_, x) for s, x in zip(xs, inputs, strict=True) if s is not x]
        return in_turn([*copies, rule(op, xs, outputs)])

    return bind
