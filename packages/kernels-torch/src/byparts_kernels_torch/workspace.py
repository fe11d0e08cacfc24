"""Memory that a rule asks for, as tensors laid out as the rule needs them.

A rule registered with `workspace=True` gets a `Workspace` as its last argument.  Scratch memory is
for one step while it runs: the plan gives the same bytes to other steps.  Kept memory stays until
the next run: constants of the op's shape, and borders that no step writes.  A rule fills what it
keeps when it is bound, all of it and each time: equal steps share it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional, TypeAlias

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.table import NAMES, Tensor, Tensors

Rule: TypeAlias = Callable[[Any, Tensors, Tensors, Workspace], Run]  # of an op, with a workspace


def scratch(
    workspace: Workspace,
    shape: Sequence[int],
    like: Tensor,
    dtype: Optional[torch.dtype] = None,
    order: torch.memory_format = torch.contiguous_format,
) -> Tensor:
    """Undefined contents, in the dtype of `like` unless another is given.

    Args:
        workspace: of the rule.
        shape: any; four dimensions where the order is `torch.channels_last`.
        like: a tensor of the step.
        dtype: of the result.
        order: of its elements in memory.
    """
    return _laid_out(workspace.scratch, shape, like, dtype, order)


def kept(
    workspace: Workspace,
    shape: Sequence[int],
    like: Tensor,
    dtype: Optional[torch.dtype] = None,
    order: torch.memory_format = torch.contiguous_format,
) -> Tensor:
    """Zeros, or what was written to it before; arguments as of `scratch`."""
    return _laid_out(workspace.kept, shape, like, dtype, order)


def counted(size: int, like: Tensor, dtype: torch.dtype, workspace: Workspace) -> Tensor:
    """The numbers from 0 on, kept."""
    return torch.arange(size, out=kept(workspace, (size,), like, dtype))


def _laid_out(
    take: Callable[[Sequence[int], str], Any],
    shape: Sequence[int],
    like: Tensor,
    dtype: Optional[torch.dtype],
    order: torch.memory_format,
) -> Tensor:
    dtype = dtype or like.dtype
    if 0 in shape:  # there may be no planned bytes to see it in
        return torch.empty(tuple(shape), dtype=dtype, device=like.device)
    if order is not torch.channels_last:
        tensor: Tensor = take(shape, NAMES[dtype])
        return tensor
    n, c, h, w = shape
    last: Tensor = take((n, h, w, c), NAMES[dtype])
    return last.permute(0, 3, 1, 2)
