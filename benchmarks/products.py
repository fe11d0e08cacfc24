"""The speed of products of matrices: our own, OpenBLAS's, and torch's, of the same operands.

Calls alternate, on one thread; the table has the best of each, in microseconds of the processor,
and the rate of our own over each of the others (more than 1: ours is faster).

    python benchmarks/products.py                   a list of shapes
    python benchmarks/products.py 512x512x512 100x784x10 784x100x10t
                                         m x k x n; t: a is stored transposed, T: b is
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is loaded

import numpy as np  # noqa: E402

import byparts_opset as ops  # noqa: E402
from byparts_graph_ir import TensorType  # noqa: E402
from byparts_kernels_native import blas, products  # noqa: E402

SHAPES = (
    *("512x512x512", "1024x1024x1024", "128x768x768", "128x784x256", "128x256x256T"),
    *("784x128x256t", "100x784x10", "784x100x10t", "128x256x10", "256x128x10t", "100x100x100"),
    *("1x8x8", "1x768x768", "8x768x768", "32x256x1024", "16x64x64", "70x70x70tT"),
)
ROUNDS, SLICE_S = 15, 0.01


def main(shapes: list[str]) -> None:
    """Print the table."""
    libraries = blas.libraries()
    names = [*[x.name for x in libraries], *(["torch"] if _torch() else [])]
    print(f"| m x k x n | ours, us | GFLOP/s | {' | '.join(f'over {n}' for n in names)} |")
    print("|---|---|---|" + "---|" * len(names))
    for shape in shapes:
        found = re.fullmatch(r"(\d+)x(\d+)x(\d+)(t?)(T?)", shape)
        if found is None:
            sys.exit(f"{shape}: no m x k x n, such as 100x784x10")
        m, k, n = (int(found[i]) for i in (1, 2, 3))
        best = measured(m, k, n, bool(found[4]), bool(found[5]), libraries)
        ratios = " | ".join(f"{best[x] / best['own']:.2f}" for x in names)
        rate = 2 * m * n * k / best["own"] / 1e9
        print(f"| {shape} | {best['own'] * 1e6:,.2f} | {rate:.1f} | {ratios} |", flush=True)


def measured(
    m: int, k: int, n: int, ta: bool, tb: bool, libraries: tuple[blas.Library, ...]
) -> dict[str, float]:
    """Seconds of the best call of each way."""
    draw = np.random.default_rng(0)
    shapes = ((k, m) if ta else (m, k)), ((n, k) if tb else (k, n))
    a, b = (draw.standard_normal(s).astype(np.float32) for s in shapes)
    p = products._product(ops.MatMul(ta, tb), *[TensorType("f32", x.shape) for x in (a, b)])
    ways = [products._own(p, False), *[products._library(p, x) for x in libraries]]
    y, want = np.empty((m, n), np.float32), (a.T if ta else a) @ (b.T if tb else b)
    scratch = np.empty(max(w.workspace_bytes for w in ways) + 64, np.uint8)
    at = -(-scratch.ctypes.data // 64) * 64
    given = (a.ctypes.data, b.ctypes.data, 0, y.ctypes.data)
    runs: dict[str, Callable[[], object]] = {}
    for w in ways:
        runs[w.name] = products._run(p, w, given, at, 0)
        runs[w.name]()
        np.testing.assert_allclose(y, want, rtol=1e-3, atol=1e-3 * k**0.5)
    if torch := _torch():
        left, right, out = map(torch.from_numpy, (a, b, np.empty_like(y)))
        left, right = (left.T if ta else left), (right.T if tb else right)
        runs["torch"] = lambda: torch.mm(left, right, out=out)
    return _best(runs)


def _best(runs: dict[str, Callable[[], object]]) -> dict[str, float]:
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(ROUNDS):
        for name, run in runs.items():
            end = process_time() + SLICE_S
            while True:
                begin = process_time()
                run()
                now = process_time()
                best[name] = min(best[name], now - begin)
                if now > end:
                    break
    return best


def _torch() -> Any:
    """The module, where there is one."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    return torch


if __name__ == "__main__":
    main(sys.argv[1:] or list(SHAPES))
