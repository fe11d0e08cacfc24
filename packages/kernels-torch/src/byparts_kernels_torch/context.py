"""The context of a run on torch: no autograd, denormals as zero, a number of threads.

Kernels are compiled and bound in it too.

Inference mode takes autograd's bookkeeping off every call, a fifth of the time of a small op.

Denormals (below 1.2e-38 in f32) take a CPU a hundred times as long as other numbers, and training
makes them: Adam's means of a weight that gets no gradient any more decay into them.  A step of a
784-256-256-10 MLP takes 1.6 ms, and 4.5 after 650 steps.  TensorFlow and XLA run with denormals as
zero, torch leaves that to the user; here they are zero while a program runs unless asked otherwise.

All is as before when the run is over.

A forked child computes with one thread.  Torch's other threads are not copied by a fork, and the
OpenMP of most builds waits for them for ever.  The workers of torch's DataLoader do the same.
"""

from __future__ import annotations

import os
from typing import Any, Optional

import torch

_DENORMAL = 5e-324
WithoutAutograd: Any = getattr(torch._C, "_InferenceMode", torch.inference_mode)
"""What `torch.inference_mode` enters, in a third of its time.  Good for one time: entered again, it
does nothing."""

_forked = False


def _use_one_thread() -> None:
    global _forked
    _forked = True
    torch.set_num_threads(1)


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_use_one_thread)


class Context:
    """For one run.

    Args:
        threads: how many torch may use, `None`: as it is set; one in a forked child.
        keep_denormals: compute with denormals as the CPU does, slowly.
    """

    __slots__ = ("_before", "_flushes", "_guard", "_keep", "_threads")

    def __init__(self, threads: Optional[int], keep_denormals: bool) -> None:
        self._threads, self._keep = threads, keep_denormals

    def __enter__(self) -> None:
        if self._threads is not None:
            self._before = torch.get_num_threads()
            torch.set_num_threads(1 if _forked else self._threads)
        # Python computes with the same registers: whether they are zero already
        self._flushes = not self._keep and _DENORMAL * 1.0 != 0.0
        if self._flushes:
            torch.set_flush_denormal(True)
        self._guard = WithoutAutograd(True)
        self._guard.__enter__()

    def __exit__(self, *raised: object) -> None:
        self._guard.__exit__(*raised)
        if self._flushes:
            torch.set_flush_denormal(False)
        if self._threads is not None:
            torch.set_num_threads(self._before)
