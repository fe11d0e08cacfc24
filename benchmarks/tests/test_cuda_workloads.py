"""Training programs on a GPU that is not there: the weights of NumPy after three steps."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

from byparts_graph_ir.parts.hub import parts
from gpu.programs import NAMES, steps

LONG = {"w3", "w4", "w4i", "w5s", "w6", "w6i", "w8m", "w5"}
NAMED = [pytest.param(n, marks=[pytest.mark.long] if n in LONG else []) for n in NAMES]


@pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)
@pytest.mark.parametrize("name", NAMED)
def test_three_steps_give_the_weights_of_numpy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one CUDA graph for the step and one for the updates, replayed."""
    from byparts_kernels_cuda import make
    from byparts_kernels_cuda.driver import api

    monkeypatch.setenv("BYPARTS_CUDA", "emulated")
    monkeypatch.setattr(api, "_known", {})

    ours, numpys = (steps(name, backend, 3) for backend in (make(), parts.backend("numpy")))

    assert ours.keys() == numpys.keys()
    for key, want in numpys.items():
        assert _difference(ours[key], want) < 2e-4, key


def _difference(x: Any, y: Any) -> float:
    """The largest, relative to the largest number there is."""
    return float(np.abs(x - y).max() / max(1e-3, np.abs(y).max()))
