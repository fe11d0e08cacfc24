"""What the part says where there is no driver; that nothing is touched before it is asked."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from byparts_graph_ir.parts.hub import PartError, Parts
from byparts_kernels_cuda import make
from byparts_kernels_cuda.driver import api


@pytest.fixture
def without_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BYPARTS_CUDA", raising=False)
    monkeypatch.setattr(api, "LIBRARY", "libnosuchdriver.so.1")
    monkeypatch.setattr(api, "_known", {})


@pytest.mark.usefixtures("without_driver")
def test_without_a_driver_it_says_so_and_what_else_to_do() -> None:
    said = r"\(libnosuchdriver.so.1 is not found\); BYPARTS_CUDA=emulated runs the kernels on the"

    with pytest.raises(RuntimeError, match=said):
        make()


@pytest.mark.usefixtures("without_driver")
def test_the_hub_passes_the_reason_on() -> None:
    reason = "backend 'cuda' of byparts-kernels-cuda does not start: RuntimeError: no NVIDIA driver"

    with pytest.raises(PartError, match=re.escape(reason)):
        Parts().backend("cuda")  # `parts` may have started it for another test


def test_importing_it_touches_no_driver_and_loads_nothing_heavy() -> None:
    program = (
        "import sys, byparts_kernels_cuda, byparts_kernels_cuda.plugin\n"
        "print([m for m in ('ctypes', 'numpy', 'byparts_tensor_ir', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert done.stdout == "[]\n", done.stderr
