"""What a node costs at 100 000 nodes: ours beside torch.fx, where torch is installed.

    python benchmarks/graph.py [--nodes 100000] [--repeats 5]

The same random program of neg, add and mul is built in both; microseconds are CPU time with
Python's collector running, the median over processes that alternate between the two; bytes are what
tracemalloc sees of the finished graph.  `sweep` visits every node with a rule that changes nothing:
ours by `Graph.rewrite`, torch.fx by `node_copy` into a new graph.
"""

from __future__ import annotations

import argparse
import gc
import operator
import random
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType


def choices(nodes: int) -> list[tuple[str, int, int]]:
    """Op and operands of each node, by position: made before, so that the clock sees none of it."""
    rng, made = random.Random(0), []
    for k in range(nodes):
        a, b = (max(0, k - int(rng.random() * reach)) for reach in (4, 8))
        made.append((rng.choice(("neg", "add", "mul")), a, b))
    return made


def build_ours(program: list[tuple[str, int, int]]) -> Graph:
    values: list[Any] = [Input(TensorType("f32", (4,)), None, "x")]
    neg, two = ops.neg, {"add": ops.add, "mul": ops.mul}
    for op, a, b in program:
        values.append(neg(values[a]) if op == "neg" else two[op](values[a], values[b]))
    return Graph.of(values[:1], values[-4:], order=values)


def sweep_ours(graph: Graph) -> Graph:
    return graph.rewrite(lambda node: None)


def build_fx(program: list[tuple[str, int, int]]) -> Any:
    import torch.fx

    graph = torch.fx.Graph()
    values = [graph.placeholder("x")]
    for op, a, b in program:
        inputs = (values[a],) if op == "neg" else (values[a], values[b])
        values.append(graph.call_function(getattr(operator, op), inputs))
    graph.output(tuple(values[-4:]))
    return graph


def sweep_fx(graph: Any) -> Any:
    import torch.fx

    made = torch.fx.Graph()
    env: dict[Any, Any] = {}
    for node in graph.nodes:
        env[node] = made.node_copy(node, env.__getitem__)
    return made


def measure(build: Callable[..., Any], sweep: Callable[..., Any], program: Any) -> list[float]:
    """Microseconds to build a node, microseconds to sweep it, bytes it takes."""
    build(program[:100])  # what is made once is not the graph's
    gc.collect()
    start = time.process_time()
    graph = build(program)
    built = time.process_time()
    sweep(graph)
    swept = time.process_time()
    del graph
    times = [(built - start) / len(program) * 1e6, (swept - built) / len(program) * 1e6]
    return [*times, size_of(build, program)]


def size_of(build: Callable[..., Any], program: Any) -> float:
    gc.collect()
    tracemalloc.start()
    graph = build(program)
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert graph is not None
    return size / len(program)


PEERS = {"byparts": (build_ours, sweep_ours), "torch.fx": (build_fx, sweep_fx)}


def in_a_process(peer: str, nodes: int) -> list[float]:
    """One measurement in a process of its own: torch's many objects slow everybody's collector."""
    command = [sys.executable, __file__, "--only", peer, "--nodes", str(nodes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", choices=PEERS, help="one measurement of one, as bare numbers")
    given = parser.parse_args()
    if given.only:
        print(*measure(*PEERS[given.only], choices(given.nodes)))
        return
    peers = [p for p in PEERS if p == "byparts" or find_spec("torch")]
    if "torch.fx" not in peers:
        print("torch is not installed: no torch.fx to compare with")
    found: dict[str, list[list[float]]] = {p: [] for p in peers}
    for _ in range(given.repeats):
        for p in peers:
            found[p].append(in_a_process(p, given.nodes))
    print(f"{'':10} {'build us':>9} {'sweep us':>9} {'bytes':>7}   a node, at {given.nodes} nodes")
    for p in peers:
        build, sweep, size = (statistics.median(column) for column in zip(*found[p], strict=True))
        print(f"{p:10} {build:9.2f} {sweep:9.2f} {size:7.0f}")


if __name__ == "__main__":
    main()
