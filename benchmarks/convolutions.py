"""Single convolutions of ResNet and LeNet: ours beside torch's (oneDNN), one thread.

    python benchmarks/convolutions.py [--batch 1 32] [--rounds 7] [NAME ...]

Both read and write NCHW and OIHW, and whatever they pack is inside the time.  CPU time of the
process, rounds interleaved; GF/s of the best round, and how many times faster than torch ours is
(best, and median in parentheses).  y, dx and dw are the convolution and its two gradients.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import torch

import byparts_kernels_native as native
from byparts_graph_ir import Input, Op, TensorType
from byparts_opset import Conv2d, Conv2dFilterGradient, Conv2dTranspose, conv2d
from byparts_opset.conv2d import _transposed_padding
from byparts_opset.window import remade

# name: channels of x, its height and width, channels of y, kernel, stride, padding
SHAPES = {
    **{"64x56": (64, 56, 64, 3, 1, 1), "128x28": (128, 28, 128, 3, 1, 1)},
    **{"256x14": (256, 14, 256, 3, 1, 1), "512x7": (512, 7, 512, 3, 1, 1)},
    **{"64x32": (64, 32, 64, 3, 1, 1), "128x16": (128, 16, 128, 3, 1, 1)},
    **{"256x8": (256, 8, 256, 3, 1, 1), "512x4": (512, 4, 512, 3, 1, 1)},
    **{"64x56s2": (64, 56, 128, 3, 2, 1), "256x14s2": (256, 14, 512, 3, 2, 1)},
    **{"1x1": (64, 56, 256, 1, 1, 0), "1x1s2": (256, 56, 512, 1, 2, 0)},
    **{"stem": (3, 224, 64, 7, 2, 3), "lenet1": (1, 28, 20, 5, 1, 0)},
    "lenet2": (20, 12, 50, 5, 1, 0),
}


def main() -> None:
    """Measure, and print a line for each shape and batch."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=list(SHAPES))
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--ops", nargs="+", default=["y", "dx", "dw"])
    args = parser.parse_args()
    torch.set_num_threads(1)
    backend = native.make()
    cases = [(name, batch) for batch in args.batch for name in args.names]
    for name, batch in cases:  # sources wait, and are compiled together
        for op, types in ours(name, batch).values():
            backend.compile(op, types)
    for name, batch in cases:
        columns = [f"{name:>9} batch {batch:<3}"]
        for what, (op, types) in ours(name, batch).items():
            if what in args.ops:
                columns.append(f"{what} {beside(backend, op, types, what, name, args.rounds)}")
        print("  ".join(columns), flush=True)


def ours(name: str, batch: int) -> dict[str, tuple[Op, tuple[TensorType, ...]]]:
    """The three ops, and the types of their inputs."""
    c, size, o, kernel, stride, padding = SHAPES[name]
    x, w = TensorType("f32", (batch, c, size, size)), TensorType("f32", (o, c, kernel, kernel))
    y = conv2d(Input(x), Input(w), stride, padding)
    op = y.node.op if y.node else None
    assert isinstance(op, Conv2d)
    transposed = remade(Conv2dTranspose, op, padding=_transposed_padding(op, x, w))
    return {
        "y": (op, (x, w)),
        "dx": (transposed, (y.type, w)),
        "dw": (remade(Conv2dFilterGradient, op), (x, y.type, w)),
    }


def beside(backend: Any, op: Op, types: Any, what: str, name: str, rounds: int) -> str:
    """GF/s and the ratio of one op."""
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(t.dims, dtype=np.float32) for t in types]
    (y,) = op.infer(*types)
    result = np.empty(y.dims, np.float32)
    kernel = backend.compile(op, types)
    memory = np.zeros(kernel.workspace_bytes + 64, np.uint8)
    place = -(-memory.ctypes.data // 64) * 64
    run = kernel.bind([a.ctypes.data for a in arrays], [result.ctypes.data], place, None)
    other = theirs(what, name, [torch.from_numpy(a) for a in arrays])
    run()
    expected = other()
    error = np.abs(result - expected.numpy()).max() / np.abs(result).max()
    assert error < 1e-4, f"{name} {what}: {error}"
    times = measured([run, other], rounds)
    best, middle = ([f(t) for t in times] for f in (min, statistics.median))
    speed = op.flops(*types) / best[0] / 1e9
    return f"{speed:6.1f} GF/s {best[1] / best[0]:5.2f} ({middle[1] / middle[0]:.2f})"


def theirs(what: str, name: str, arrays: list[torch.Tensor]) -> Callable[[], torch.Tensor]:
    """The same by torch."""
    stride, padding = SHAPES[name][4:]
    a, b = arrays[:2]
    if what == "y":
        forward: Callable[[], torch.Tensor] = partial(torch.conv2d, a, b, None, stride, padding)
        return torch.no_grad()(forward)  # type: ignore[no-any-return]  # of torch
    x, dy, w = (a, b, arrays[-1]) if what == "dw" else (None, a, b)
    if x is None:
        c, size = SHAPES[name][:2]
        x = torch.empty(a.shape[0], c, size, size)
    mask = [what == "dx", what == "dw", False]

    def backward() -> torch.Tensor:
        given = (dy, x, w, None, [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], 1, mask)
        return torch.ops.aten.convolution_backward(*given)[0 if what == "dx" else 1]

    return backward


def measured(runs: list[Callable[[], object]], rounds: int) -> list[list[float]]:
    """Seconds of CPU for each, in interleaved rounds of at least 10 ms."""
    counts = []
    for run in runs:
        begin = time.process_time()
        run()
        counts.append(max(1, int(0.02 / max(time.process_time() - begin, 1e-6))))
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for run, count, out in zip(runs, counts, times, strict=True):
            begin = time.process_time()
            for _ in range(count):
                run()
            out.append((time.process_time() - begin) / count)
    return times


if __name__ == "__main__":
    main()
