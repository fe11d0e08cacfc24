"""The peer `byparts_numpy` of the side-by-side benchmark: `workload_graphs.py` on NumPy kernels."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

IMPORT = "import byparts_runtime, byparts_opset"

sys.path.insert(0, str(Path(__file__).parent))


def setup(threads: int) -> str:
    """Import; NumPy's BLAS takes its threads from the environment that the harness sets."""
    global build_on
    from byparts_opset import __version__
    from workload_graphs import build as build_on  # when the harness has set the environment

    return __version__


def build(workload: str, spec: Any, threads: int) -> Any:
    """The program of a workload.  KeyError: not one of ours."""
    return build_on(workload, spec, ("numpy",))  # type: ignore[name-defined]  # by `setup`
