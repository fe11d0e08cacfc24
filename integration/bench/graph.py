"""What a node costs at 100 000 nodes: ours beside torch.fx, where torch is installed.

    python integration/bench/graph.py [--nodes 100000] [--repeats 5]

The same random program of neg, add and mul is built in both; microseconds are CPU time, the median
over repeats that alternate between the two; bytes are what tracemalloc sees of the finished graph.
`sweep` visits every node with a rule that changes nothing (ours: `Graph.rewrite`; torch.fx:
`Transformer`, its rebuilding counterpart).
"""

from __future__ import annotations

import argparse
import gc
import operator
import random
import statistics
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType

Figures = dict[str, list[float]]


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


def measure(
    build: Callable[..., Any], sweep: Callable[..., Any], program: Any, into: Figures
) -> None:
    gc.collect()
    start = time.process_time()
    graph = build(program)
    built = time.process_time()
    sweep(graph)
    swept = time.process_time()
    into.setdefault("build us", []).append((built - start) / len(program) * 1e6)
    into.setdefault("sweep us", []).append((swept - built) / len(program) * 1e6)


def size_of(build: Callable[..., Any], program: Any) -> float:
    build(program[:100])  # what is made once is not the graph's
    gc.collect()
    tracemalloc.start()
    graph = build(program)
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert graph is not None
    return size / len(program)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    peers: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
        "byparts": (build_ours, sweep_ours)
    }
    try:
        import torch.fx  # noqa: F401
    except ImportError:
        print("torch is not installed: no torch.fx to compare with")
    else:
        peers["torch.fx"] = (build_fx, sweep_fx)
    program, figures = choices(given.nodes), {name: Figures() for name in peers}
    for _ in range(given.repeats):
        for name, (build, sweep) in peers.items():
            measure(build, sweep, program, figures[name])
    print(f"{'':10} {'build us':>9} {'sweep us':>9} {'bytes':>7}   a node, at {given.nodes} nodes")
    for name, (build, _) in peers.items():
        us = [statistics.median(figures[name][k]) for k in ("build us", "sweep us")]
        print(f"{name:10} {us[0]:9.2f} {us[1]:9.2f} {size_of(build, program):7.0f}")


if __name__ == "__main__":
    main()
