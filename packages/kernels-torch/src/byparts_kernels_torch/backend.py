"""The backend: the kernels, how torch sees memory, and the context of a run.

On the CPU a `torch.Tensor` is a view of the arena, never memory of its own, so what another backend
of the host wrote is read without a copy.  Importing this module imports torch.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial
from importlib import import_module
from typing import Optional

import torch

from byparts_graph_ir import Backend
from byparts_kernels_torch import MODULES, table


def make_backend(device: str, threads: Optional[int]) -> Backend:
    """See `byparts_kernels_torch.make`."""
    for module in MODULES:
        import_module(f"byparts_kernels_torch.{module}")
    if device != "cpu":
        raise RuntimeError(f"device {device!r}: this version computes on the CPU only")
    around = partial(inference, threads)
    return Backend("torch", table.view, table.kernels, around=around, copy=owned)


def inference(threads: Optional[int]) -> AbstractContextManager[object]:
    """No autograd: its bookkeeping is a third of the time of a small op."""
    return torch.inference_mode() if threads is None else _Threads(threads)


class _Threads(torch.inference_mode):
    """Inference mode with a number of threads, which was another before and is so again after."""

    def __init__(self, threads: int) -> None:
        super().__init__()
        self.threads, self.before = threads, 0

    def __enter__(self) -> None:
        self.before = torch.get_num_threads()
        torch.set_num_threads(self.threads)
        super().__enter__()

    def __exit__(self, *raised: object) -> None:
        super().__exit__(*raised)  # type: ignore[arg-type]  # as given
        torch.set_num_threads(self.before)


def owned(x: torch.Tensor) -> torch.Tensor:
    """An ordinary tensor with this value: autograd may use it."""
    with torch.inference_mode(False):
        return x.clone()
