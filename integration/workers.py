"""Work for other processes, which import it by name: what pools and data loaders call.

    python integration/workers.py numpy

runs `storm`: children that are forked while threads compute, with as many threads of BLAS and of
torch as there are cores.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from multiprocessing import get_context
from threading import Event, Thread
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType
from byparts_runtime import Program, Store, build

SIZE = 200  # a product of two such matrices takes several threads of BLAS
CHILDREN, LIMIT_S = 30, 60

programs: dict[str, Program] = {}  # by backend; of this process


def network(size: int = SIZE) -> Graph:
    """(x, w) -> the sum of tanh(tanh(x w) w), and a step downhill."""
    x = Input(TensorType("f32", (size, size)), None, "x")
    w = Input(TensorType("f32", (size, size)), None, "w")
    y = ops.tanh(ops.matmul(ops.tanh(ops.matmul(x, w)), w))
    return Graph.of([x, w], [ops.sum(y), ops.sub(w, ops.mul(x, y))])


def weights(size: int = SIZE) -> dict[str, Any]:
    """The weights of `network`."""
    return {"w": np.linspace(-1, 1, size * size, dtype="float32").reshape(size, size)}


def feed(k: int, size: int = SIZE) -> Any:
    """The k-th of many."""
    return np.full((size, size), k / 1000, "float32")


def start(backend: str, graph: Graph | None = None, values: dict[str, Any] | None = None) -> None:
    """Build the network in this process; what a pool calls in each of its workers."""
    store = Store()
    for name, value in (weights() if values is None else values).items():
        store.create(name, value)
    made = network() if graph is None else graph
    programs[backend] = build(made, backends=(backend,), variables=store)


def run(task: tuple[str, int]) -> float:
    """The network's answer to one feed, in this process."""
    backend, k = task
    return float(programs[backend](feed(k))[0])


def storm(backend: str) -> list[str]:
    """What `CHILDREN` say that are forked while two threads run the program."""
    start(backend)
    expected, done = run((backend, 7)), Event()

    def repeat() -> None:
        while not done.is_set():
            run((backend, 1))

    def check() -> None:
        with_parents = run((backend, 7))
        start(backend)
        right = np.allclose([with_parents, run((backend, 7))], expected, rtol=1e-4)
        os._exit(0 if right else 1)

    threads = [Thread(target=repeat) for _ in range(2)]
    for thread in threads:
        thread.start()
    said = _ended(check)
    done.set()
    for thread in threads:
        thread.join()
    return said


def _ended(work: Callable[[], None]) -> list[str]:
    children = [get_context("fork").Process(target=work) for _ in range(CHILDREN)]
    for child in children:
        child.start()
    said: list[str] = []
    for child in children:
        child.join(1 if "hangs" in said else LIMIT_S)
        said.append({None: "hangs", 0: "right", 1: "wrong"}.get(child.exitcode, "died"))
        child.kill()
        child.join()
    return said


if __name__ == "__main__":
    print(" ".join(storm(sys.argv[1])))
