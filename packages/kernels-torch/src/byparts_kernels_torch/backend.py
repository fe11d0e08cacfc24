"""The backend: the kernels, how torch sees memory, and the context of a run.

On the CPU a `torch.Tensor` is a view of the arena, never memory of its own, so what another backend
of the host wrote is read without a copy.  Importing this module imports torch.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Optional

import torch

from byparts_graph_ir import Backend, Pass
from byparts_kernels_torch import MODULES, table
from byparts_kernels_torch.context import Context
from byparts_kernels_torch.join import join

PASSES = (Pass("join", join, needs=("static",)),)


def make_backend(device: str, threads: Optional[int], keep_denormals: bool) -> Backend:
    """See `byparts_kernels_torch.make`."""
    for module in MODULES:
        import_module(f"byparts_kernels_torch.{module}")
    if device != "cpu":
        raise RuntimeError(f"device {device!r}: this version computes on the CPU only")
    around = partial(Context, threads, keep_denormals)
    return Backend("torch", table.view, table.kernels, around=around, passes=PASSES, copy=owned)


def owned(x: torch.Tensor) -> torch.Tensor:
    """An ordinary tensor with this value: autograd may use it."""
    with torch.inference_mode(False):
        return x.clone()
