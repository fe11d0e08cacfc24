"""Five batch sizes of one network, trained and evaluated: one arena, or one for each program.

    python integration/examples/buckets.py shared
    python integration/examples/buckets.py own

Prints, as JSON, the bytes of the arenas and how much the process has grown in the end.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, TensorType
from byparts_runtime import Executor, Store

BUCKETS = (512, 1024, 2048, 3072, 4096)
WIDTH = 512


def main(arena: Any) -> dict[str, Any]:
    """A step and an evaluation of each size."""
    x, y = (Input(TensorType("f32", ("n", WIDTH)), None, name) for name in "xy")
    weights = [Input(TensorType("f32", (WIDTH, WIDTH)), None, f"w{i}") for i in range(4)]
    value: Any = x
    for w in weights:
        value = ops.tanh(ops.matmul(value, w))
    loss = ops.mean((value - y) * (value - y))
    new = [w - dw * 0.01 for w, dw in zip(weights, gradients(loss, weights), strict=True)]
    step, evaluate = (Graph.of([x, y, *weights], [loss, *more]) for more in (new, []))

    random, store = np.random.default_rng(0), Store()
    values = [random.standard_normal((WIDTH, WIDTH)).astype(np.float32) / 23 for _ in weights]
    variables = tuple(store.create(w.name, v) for w, v in zip(weights, values, strict=True))
    executor = Executor(arena=arena)
    before, losses, arenas = resident_bytes(), [], []
    for n in BUCKETS:
        batch = random.standard_normal((2, n, WIDTH), np.float32)
        for graph, updates in ((step, variables), (evaluate, ())):
            ways: dict[str, Any] = {"variables": variables, "updates": updates}
            losses.append(float(executor(graph, *batch, **ways)[0]))
            types = tuple(TensorType("f32", b.shape) for b in batch)
            arenas.append(executor.program(graph, types, **ways).plan.arena_bytes)
    shared = executor.arena.size_bytes if executor.arena is not None else sum(arenas)
    found = {"arenas": arenas, "held_bytes": shared, "losses": losses}
    return {**found, "grown_bytes": resident_bytes() - before}


def resident_bytes() -> int:
    """What the process holds in memory."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * resource.getpagesize()


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
