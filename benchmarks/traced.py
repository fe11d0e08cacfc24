"""Traced networks as graphs: joint forward and backward passes, recorded with their bytes.

    python benchmarks/traced.py FOLDER

prints what a plan of each has to hold at its worst step.  A file `NET_MODE.json.gz` says, for each
op, which storages it reads and makes, over which of them it may write (`ip`), and its `flops`.
Those that it calls views make no storage, so they are left out: who reads a view reads the storage.
What remains is opaque, so these graphs can be ordered, planned and drawn, but not run.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

from byparts_graph_ir import Graph, Input, Node, Op, TensorType, Types, Value

GRAIN = 64  # sizes are rounded up to this, as in the tables of these networks


class Traced(Op):
    """Bytes out of bytes.

    Attributes:
        label: the name of the op that was traced.
        sizes: bytes of each output.
        over: pairs (input, output): may be the same bytes.
        work: floating point operations.
    """

    label: str
    sizes: tuple[int, ...]
    over: tuple[tuple[int, int], ...] = ()
    work: int = 0

    @property
    def inplace(self) -> tuple[tuple[int, int], ...]:  # type: ignore[override]  # of each node here
        return self.over

    def infer(self, *types: TensorType) -> Types:
        return tuple(TensorType("u8", (size,)) for size in self.sizes)

    infer_unranked = infer

    def flops(self, *types: TensorType) -> int:
        return self.work


def load(path: Path | str) -> Graph:
    """The graph of a file; its inputs are the values that live outside the arena.  O(file)."""
    with gzip.open(path) as file:
        record = json.load(file)
    known: dict[int, Value] = {
        v: Input(TensorType("u8", (_rounded(record["size"][v]),)), None, f"v{v}")
        for v in record["ext"]
    }
    inputs, nodes = tuple(known.values()), []
    for op in record["ops"]:
        if not op["out"]:
            continue
        node = Node(_op(op, record["size"]), tuple(known[v] for v in op["inp"]), "")
        known.update(zip(op["out"], node.outputs, strict=True))
        nodes.append(node)
    return Graph(inputs, tuple(nodes), tuple(known[v] for v in record["outs"]))


def external(graph: Graph) -> frozenset[int]:
    """Positions of the inputs outside the arena: parameters and the batch, so all of them."""
    return frozenset(range(len(graph.inputs)))


def files(folder: Path | str, mode: str = "") -> list[Path]:
    """The networks of a folder, by name; those of one mode (`infer_b1`, `train_b8`) if given."""
    return sorted(Path(folder).glob(f"*{mode}.json.gz"))


def _op(record: dict[str, Any], size: list[int]) -> Traced:
    """Only an output of its own size may be written over an input."""
    sizes = tuple(_rounded(size[v]) for v in record["out"])
    over = tuple(
        (p, o)
        for o in range(len(sizes))
        for p, v in enumerate(record["inp"])
        if v in record["ip"] and _rounded(size[v]) == sizes[o]
    )
    return Traced(record["name"], sizes, over, int(record["flops"]))


def _rounded(size_bytes: int) -> int:
    return size_bytes + -size_bytes % GRAIN


def main() -> None:
    """Print a table."""
    from byparts_memplan import peak_bytes

    print("| graph | nodes | values | peak, MiB |\n| --- | ---: | ---: | ---: |")
    for path in files(sys.argv[1]):
        graph = load(path)
        peak = peak_bytes(graph, external(graph)) / 2**20
        name = path.name.partition(".")[0]
        print(f"| {name} | {len(graph.nodes)} | {len(graph.values)} | {peak:.1f} |")


if __name__ == "__main__":
    main()
