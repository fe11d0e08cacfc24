"""One training step of a residual network of 1000 blocks, in a process that may not have it all.

    python integration/limited_memory.py                                 # as much as it takes
    python integration/limited_memory.py --more-bytes 450_000_000 --budget-bytes 170_000_000

With `--more-bytes` the address space of the process may grow by so much from where the network is
written down (`RLIMIT_AS`); what is then built without a budget must fail, and leave all as it was.
Prints what happened, as JSON: arenas, the error, digests of loss, gradients and new weights.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from functools import partial
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import byparts_opset as ops
from byparts_graph_ir import Graph, Input
from byparts_kernels_numpy import make
from byparts_recompute import rematerialize
from byparts_runtime import Program, Store, Variable, build
from memory.deep_resnet import narrow_resnet

BLOCKS, BATCH = 1000, 16
RATE = 0.01


def main(arguments: list[str]) -> dict[str, Any]:
    """Do what is asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=BLOCKS)
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--more-bytes", type=int)
    parser.add_argument("--budget-bytes", type=int)
    asked = parser.parse_args(arguments)
    graph, variables = network(asked.blocks, asked.batch)
    before, answer = digest(v.read() for v in variables), dict[str, Any]()
    if asked.more_bytes is not None:
        np.matmul(
            *[np.ones((999, 999), np.float32)] * 2
        )  # BLAS takes its buffers, or ends the process
        limit = address_space_bytes() + asked.more_bytes
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        answer["error"] = failure(graph, variables)
    start = perf_counter()
    program = built(graph, variables, budget_bytes=asked.budget_bytes)
    answer["build_s"], start = perf_counter() - start, perf_counter()
    answer["before"] = before == digest(v.read() for v in variables)
    loss, *gradients = program(*feeds(graph))
    answer |= {"step_s": perf_counter() - start, "loss": float(loss)}
    answer |= {"gradients": digest([loss, *gradients]), "steps": len(program.steps)}
    answer["weights"] = digest(v.read() for v in variables)
    answer |= {"arena_bytes": program.plan.arena_bytes, "changed": before != answer["weights"]}
    return answer


def network(blocks: int, batch: int = BATCH) -> tuple[Graph, tuple[Variable, ...]]:
    """The step: (feeds, weights, velocities) -> (loss, gradients, new weights and velocities)."""
    graph, weights = narrow_resnet(blocks, batch)
    random, store = np.random.default_rng(0), Store()
    old = [graph.inputs[k] for k in sorted(weights)]
    velocities = [Input(v.type, None, f"velocity{i}") for i, v in enumerate(old)]
    variables = []
    for v in old:
        value = random.standard_normal(v.type.dims) / np.sqrt(max(1, v.type.size // 8))
        variables.append(store.create(getattr(v, "name", ""), value.astype(np.float32)))
    variables += [store.create(v.name, v.type) for v in velocities]
    new, moved = ops.momentum(old, velocities, graph.outputs[1:], RATE)
    outputs = (*graph.outputs, *new, *moved)
    whole = Graph.of((*graph.inputs, *velocities), outputs, order=(*graph.values, *new))
    return whole, tuple(variables)


def failure(graph: Graph, variables: tuple[Variable, ...]) -> list[str]:
    """Building without a budget; what it says."""
    try:
        built(graph, variables)
    except MemoryError as error:
        return [str(error), *getattr(error, "__notes__", ())]
    return []


def built(
    graph: Graph, variables: tuple[Variable, ...], budget_bytes: int | None = None
) -> Program:
    """The program.  The network is one chain, and one strategy for chains is enough here."""
    ways: dict[str, Any] = {"variables": variables, "updates": variables}
    ways["rematerialize"] = partial(rematerialize, strategy="chain", effort=0.0)
    return build(graph, backends=(make(),), budget_bytes=budget_bytes, **ways)


def feeds(graph: Graph) -> tuple[Any, ...]:
    """Images and labels."""
    random = np.random.default_rng(1)
    images, labels = [v.type.dims for v in graph.inputs[:2]]
    return random.standard_normal(images).astype(np.float32), random.integers(0, 10, labels)


def digest(values: Any) -> str:
    """Of their bytes."""
    total = sha256()
    for value in values:
        total.update(value.tobytes())
    return total.hexdigest()


def address_space_bytes() -> int:
    """What the process has mapped."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    return int(pages) * resource.getpagesize()


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
