"""What a program costs beside the bare NumPy calls that it makes.

The chain of the benchmark w8: 1000 tiny ops on 8 floats, `(x * b) + a` 500 times, where calling is
all the time.  Then the two ways to commit, on a step that does nothing but update 3 variables.

    python benchmarks/step_overhead.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from byparts_graph_ir import Graph, Input, TensorType, Value
from byparts_kernels_numpy import make
from byparts_memplan import plan
from byparts_opset import add, mul
from byparts_runtime import Store, build

LENGTH, ROUNDS = 1000, 300
OPTIONS: dict[str, Any] = {"passes": (), "legalize": None, "planner": plan}


def main() -> None:
    """Print microseconds."""
    x, a, b = (np.full(8, v, np.float32) for v in (1.0, 0.25, 0.5))
    bare = best(lambda: bare_chain(x, a, b))
    loop = best(calls_in_a_loop(x, a, b))
    program = build(chain(), backends=(make(),), **OPTIONS)
    bound = program.bind(x, a, b)
    rows = {
        "numpy, written out": bare,
        "numpy, bound calls in a list": loop,
        "program(*feeds)": best(lambda: program(x, a, b)),
        "program.bind(*feeds)()": best(bound),
    }
    print(f"{LENGTH} ops on f32[8]       us a run   us a step   x bound calls")
    for name, s in rows.items():
        print(f"{name:30} {s * 1e6:8.1f} {s / LENGTH * 1e6:11.3f} {s / loop:11.3f}")
    empty = build(Graph.of(*identity()), backends=(make(),), **OPTIONS)
    print(f"\na program of no steps, one feed, one fetch: {best(lambda: empty(x)) * 1e6:.2f} us")
    print("\nstep v = 1.5 v of 3 variables      bytes each     copy us  in place us")
    for size in (2**10, 2**14, 2**18, 2**20, 2**22):
        copy, in_place = (update_s(size, commit) for commit in ("copy", "auto"))
        print(f"{size * 4:45,} {copy * 1e6:11.1f} {in_place * 1e6:12.1f}")


def chain() -> Graph:
    """The chain as a graph."""
    inputs = [Input(TensorType("f32", (8,)), None, name) for name in "xab"]
    y, a, b = inputs
    value: Value = y
    for _ in range(LENGTH // 2):
        value = add(mul(value, b), a)
    return Graph.of(inputs, [value])


def identity() -> tuple[Sequence[Value], Sequence[Value]]:
    """A graph that only copies its feed to its fetch."""
    x = Input(TensorType("f32", (8,)), None, "x")
    return [x], [x]


def bare_chain(x: Any, a: Any, b: Any) -> None:
    """What a person would write."""
    y = x.copy()
    multiply, add = np.multiply, np.add
    for _ in range(LENGTH // 2):
        multiply(y, b, y)
        add(y, a, y)


def calls_in_a_loop(x: Any, a: Any, b: Any) -> Callable[[], None]:
    """The same calls, bound beforehand: the floor for anything that calls NumPy once an op."""
    from functools import partial

    y = x.copy()
    calls = [partial(np.multiply, y, b, y), partial(np.add, y, a, y)] * (LENGTH // 2)

    def run() -> None:
        for call in calls:
            call()

    return run


def update_s(size: int, commit: Any) -> float:
    """Seconds of a step that reads and writes each variable once, commit included."""
    store = Store()
    variables = tuple(store.create(f"v{i}", TensorType("f32", (size,))) for i in range(3))
    inputs = [Input(v.type, None, v.name) for v in variables]
    graph = Graph.of(inputs, [v * 1.5 for v in inputs])
    options = {**OPTIONS, "variables": variables, "updates": variables, "commit": commit}
    return best(build(graph, backends=(make(),), **options), rounds=50)


def best(run: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The best of many rounds, in seconds."""
    best_s = float("inf")
    for _ in range(rounds):
        start = perf_counter()
        run()
        best_s = min(best_s, perf_counter() - start)
    return best_s


if __name__ == "__main__":
    main()
