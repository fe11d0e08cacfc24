"""The peer `byparts_layers` of the side-by-side benchmark: W1 to W6 with layers, compiled."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

IMPORT = "import byparts_nn, byparts_kernels_native"

sys.path.insert(0, str(Path(__file__).parent))


def setup(threads: int) -> str:
    """Import; OpenBLAS takes its threads from the environment that the harness sets."""
    global Training
    from byparts_nn import __version__
    from module_models import Training  # when the harness has set the environment

    return __version__


def build(workload: str, spec: Any, threads: int) -> Any:
    """The step of a workload.  KeyError: not one of ours."""
    return Training(workload, spec, {"backends": ("native", "numpy")})  # type: ignore[name-defined]  # by `setup`
