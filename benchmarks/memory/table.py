"""What each stage of planning saves: bytes of the networks of this folder, and of TinyFlow's.

    python benchmarks/memory/table.py                 # prints, and writes memory.json
    python benchmarks/memory/table.py resnet18,unet   # prints these rows

Columns, MiB: every value on its own ("naive"); NNVM's blocks; our arena in the order in which
frameworks run a step; in the order that `order` finds; the bound there; and torch eager.  Feeds and
results count, weights do not.  Eager's feeds lie outside, so a column adds them.  "as built" is the
arena of the program that `build` makes for NumPy's kernels, and the constants beside it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "integration"))
sys.path.insert(0, str(Path(__file__).parents[2] / "packages/tinyflow/tests"))

import test_tinyflow_golden as golden

import byparts_tinyflow as tf
from byparts_graph_ir import Graph
from byparts_memplan import order, plan
from byparts_optimize import optimize
from byparts_runtime import BuildOptions
from byparts_runtime.building.build import bodies_for
from byparts_runtime.building.compile import compile_kernels
from byparts_runtime.building.discover import find_parts
from byparts_runtime.building.lower import lower
from byparts_runtime.building.signature import Signature
from memory.networks import NETWORKS, External, inference, training
from nnvm_blocks import blocks

FILE = Path(__file__).with_name("memory.json")
MIB = 2**20
MODES: dict[str, Callable[[str], tuple[Graph, External]]] = {
    "train": training,  # batch 8
    "infer": inference,  # batch 1
}
# Peak live bytes of PyTorch 2.13 eager, inputs and weights apart: what it saves for the backward
# pass and has alive meanwhile, from traces of the same networks (MobileNetV2 with relu there; relu6
# costs eager a third more).  The last is of `eager.py`, which counts oneDNN's scratch too.
EAGER = {
    "resnet18": (205_873_984, 6_423_040),
    "resnet50": (732_941_120, 11_241_472),
    "vgg16": (1_107_371_328, 25_690_112),
    "mobilenetv2": (436_731_904, 10_485_760),
    "densenet121": (1_044_258_880, 12_845_056),
    "unet": (1_507_876_288, 46_137_600),
    "bert_base": (1_186_046_080, 16_413_696),
    "gpt2_small": (6_943_506_560, 106_072_064),
    "lstm50": (14_973_504, 309_568),
    "inception_like": (388_893_480, 6_423_040),
}


def main(names: list[str]) -> None:
    """Print the table, and write all of it; TinyFlow's last."""
    print(HEAD)
    found = {}
    for name in names or NETWORKS:
        for mode in MODES:
            row, seconds = measured(name, mode)
            found[f"{name} {mode}"] = row
            print(line(f"{name} {mode}", row, seconds), flush=True)
    if not names:
        record = {"networks": found, "tinyflow": tinyflow()}
        for name, row in record["tinyflow"].items():
            print(f"tinyflow {name}: {row['arena']:,} bytes; NNVM {row['nnvm']:,}")
        FILE.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


BYTES = (
    "naive",
    "blocks",
    "given",
    "ordered",
    "bound",
    "eager",
    "eager_and_feeds",
    "built",
    "constants",
)
HEAD = """\
| network | nodes | naive | blocks | given | ordered | bound | eager | and feeds | as built | \
constants | optimize s | order s | plan s |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"""


def line(name: str, row: dict[str, int], seconds: dict[str, float]) -> str:
    """A row of the table."""
    cells = [f"{row[k] / MIB:,.1f}" for k in BYTES]
    times = [f"{seconds[k]:.2f}" for k in ("optimize", "order", "plan")]
    return " | ".join((f"| {name}", str(row["nodes"]), *cells, *times)) + " |"


def measured(name: str, mode: str) -> tuple[dict[str, int], dict[str, float]]:
    """Bytes of a row, and the seconds of each stage."""
    written, external = MODES[mode](name)
    seconds: dict[str, float] = {}
    graph = timed(seconds, "optimize", optimize, written)
    better = timed(seconds, "order", order, graph, external=external)
    given = plan(graph, external=external)
    best = timed(seconds, "plan", plan, better, external=external)
    eager = EAGER[name][mode == "infer"]
    return {
        "nodes": len(graph.nodes),
        "naive": given.naive_bytes,
        "blocks": blocks(graph, external=external).total_bytes,
        "given": given.arena_bytes,
        "ordered": best.arena_bytes,
        "bound": best.lower_bound_bytes,
        "eager": eager,
        "eager_and_feeds": eager + feeds_bytes(graph, external),
        **built(written, external),
    }, seconds


def timed(
    seconds: dict[str, float], stage: str, run: Callable[..., Any], *given: Any, **ways: Any
) -> Any:
    """What it gives; how long it took is noted."""
    start = perf_counter()
    found = run(*given, **ways)
    seconds[stage] = perf_counter() - start
    return found


def feeds_bytes(graph: Graph, external: External) -> int:
    """Of the inputs that are no weights."""
    return sum(v.type.size_bytes for k, v in enumerate(graph.inputs) if k not in external)


def built(graph: Graph, external: External) -> dict[str, int]:
    """Arena and constants of what `build` runs on NumPy's kernels."""
    options = BuildOptions()
    parts = find_parts(options)
    signature = Signature(len(graph.inputs), (), len(graph.outputs), ())
    compiled = compile_kernels(lower(graph, signature, parts), parts, bodies_for(parts, options))
    found, kernels = compiled.graph, compiled.kernels
    constants = frozenset(range(len(graph.inputs), len(found.inputs)))
    outside = external | constants
    ordered = order(found, external=outside, kernels=kernels)
    made = plan(ordered, external=outside, kernels=kernels)
    return {
        "built": made.arena_bytes,
        "constants": sum(found.inputs[k].type.size_bytes for k in constants),
    }


def tinyflow() -> dict[str, dict[str, int]]:
    """Arenas of TinyFlow's programs, a step with its optimizer, beside what NNVM planned."""
    found = {}
    for name, define in golden.NETWORKS.items():
        tf.reset_default_graph()
        arena = define().program().plan.arena_bytes
        found[name] = {"arena": arena, "nnvm": golden.NNVM_BYTES[name]}
    return found


if __name__ == "__main__":
    main([name for word in sys.argv[1:] for name in word.split(",")])
