"""The kit run on what we ship: every op, and every op on every backend that has kernels."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from byparts_graph_ir.formats.attributes import OWN
from byparts_graph_ir.parts.hub import parts
from byparts_opset import OPS

compiled = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)


def check(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "byparts_graph_ir", "check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


@pytest.mark.long
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_every_op_conforms(backend: str) -> None:
    """All right, and absent only what another backend has for itself; all installed is counted."""
    if backend == "torch":
        pytest.importorskip("torch", reason="needs torch")
    # What ops mean does not depend on a backend: that is tried once, with NumPy's.
    some = [] if backend == "numpy" else ["-k", "test_kernel or test_also"]
    done = check(backend, "--everything", *some)
    (right, of, wrong, absent) = re.findall(
        r"(\d+) of (\d+) ops right, .* (\d+) wrong.*, (\d+) absent", done.stdout
    )[0]

    assert done.returncode == 0 and "warnings summary" not in done.stdout, done.stdout[-3000:]
    listed = "".join(re.findall(r"^absent: ((?:.*,\n)*.*)", done.stdout, re.MULTILINE))
    missing = re.findall(r"\w+", listed)
    assert wrong == "0" and int(right) + int(absent) == int(of) and OPS.keys().isdisjoint(missing)
    assert len(missing) == int(absent)
    assert int(of) == len(parts.ops()) + len(OWN)  # and `fused`, `optimization_barrier`


@pytest.mark.long
@compiled
@pytest.mark.parametrize("mode", ["emulated", "checked", "reversed"])
def test_kernels_of_a_gpu_are_tried_without_one(mode: str) -> None:
    """Of each kind one: pointwise, rows, products, indices, running sums, updates of weights.

    Long products and gathers, in each of the ways to be bound, take as long as all others together:
    in the plain order alone.  `kernels-cuda/tests/test_products.py` checks tiles of products.
    """
    some = ["tanh", "layer_norm", "matmul", "gather", "cumsum", "momentum"]
    chosen = [word for op in some for word in ("--byparts-op", op)]
    short = ["-k", "not (long and (matmul or gather))"] if mode != "emulated" else []
    done = check("cuda", f"--emulated={mode}", *chosen, *short)

    assert done.returncode == 0 and "6 of 6 ops right" in done.stdout, done.stdout[-3000:]


def test_some_ops_only() -> None:
    """--byparts-op narrows the table; a misspelt one is refused."""
    done, refused = check("numpy", "--byparts-op", "tanh"), check("numpy", "--byparts-op", "tahn")

    assert "1 of 1 ops right" in done.stdout
    assert refused.returncode == 2 and "no op 'tahn'" in refused.stderr


@pytest.mark.parametrize("name", ["nopu"])
def test_an_unknown_backend_is_refused(name: str) -> None:
    """With the names of those there are."""
    done = check(name)

    assert done.returncode == 2 and "no backend 'nopu'; installed: " in done.stderr
