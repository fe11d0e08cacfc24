"""The peer `byparts_torch` of the side-by-side benchmark: `workload_graphs.py` on torch kernels."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

IMPORT = "import torch, byparts_runtime, byparts_opset, byparts_kernels_torch"

sys.path.insert(0, str(Path(__file__).parent))


def setup(threads: int) -> str:
    """Import; the threads of the whole process, as the other peers on torch set them."""
    global build_on
    import torch

    torch.set_num_threads(threads)
    torch.set_num_interop_threads(1)
    from byparts_kernels_torch import __version__
    from workload_graphs import build as build_on  # when the harness has set the environment

    return __version__


def build(workload: str, spec: Any, threads: int) -> Any:
    """The program of a workload.  KeyError: not one of ours."""
    return build_on(workload, spec, ("torch",))  # type: ignore[name-defined]  # by `setup`
