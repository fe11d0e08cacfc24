"""Plain C11: a language that is one file computes what ops and programs mean."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from byparts_conformance.cases import usual_cases
from byparts_conformance.fuzz.graphs import all_ops
from byparts_conformance.meaning import graph_of
from byparts_conformance.programs import Program, expected, generate
from byparts_graph_ir import FLOATS, Fused, Graph, Input, Node, Refused, Value
from byparts_op_loops.regions.axes import taken
from byparts_op_loops.regions.region import RegionLoops
from byparts_opset.dtypes import numpy_dtype
from byparts_runtime import Variable, build
from byparts_tensor_ir.emit.c11 import FLAGS, HEADER, emit_c11
from byparts_tensor_ir.emit.source import Source

STRICT = ("-pedantic", "-Wall", "-Werror")
PATTERNS = ("elementwise", "reduction", "injective")
Region = tuple[Graph, Source]
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on the path")


def region_of(graph: Graph) -> Region | None:
    """The graph and its C11; `None` where it is no region."""
    read = any(v.type.size for v in graph.inputs)
    if not read or not all(taken(n) for n in graph.nodes):
        return None
    try:
        return graph, emit_c11(RegionLoops(graph).func)
    except Refused:
        return None


def compiled(regions: Sequence[Region], folder: Path) -> ctypes.CDLL:
    """All functions in one library, each under its number."""
    bodies = [source.renamed(f"f{k}").body for k, (_, source) in enumerate(regions)]
    path = folder / "all.c"
    path.write_text(HEADER + "\n".join(bodies), "utf-8")
    command = ["cc", *FLAGS, *STRICT, "-O1", "-shared", "-fPIC", str(path), "-lm"]
    subprocess.run([*command, "-o", str(folder / "all.so")], check=True)
    return ctypes.CDLL(str(folder / "all.so"))


def results(function: Any, region: Region, arrays: Sequence[Any]) -> list[Any]:
    graph, source = region
    outputs = [np.empty(v.type.dims, numpy_dtype(v.type.dtype)) for v in graph.outputs]
    given = [np.ascontiguousarray(a) for a in arrays]
    workspace = np.zeros(source.workspace_bytes + 64, np.uint8)
    aligned = -(-workspace.ctypes.data // 64) * 64
    places = [*[a.ctypes.data for a in (*given, *outputs)], aligned, 0]
    function((ctypes.c_void_p * len(places))(*places))
    return outputs


def wrong(regions: Sequence[tuple[Region, Sequence[Any]]], folder: Path) -> list[str]:
    """What differs from `evaluate`, a sentence for each."""
    library, said = compiled([r for r, _ in regions], folder), []
    for k, (region, arrays) in enumerate(regions):
        outputs = results(getattr(library, f"f{k}"), region, arrays)
        wants = expected(Program(region[0], tuple(arrays), seed=k))
        for want, got in zip(wants, outputs, strict=True):
            if difference := want.difference(got):
                said.append(f"{difference}\n{region[0]}")
    return said


def regions_of_ops() -> Iterator[tuple[Region, Sequence[Any]]]:
    for op in all_ops().values():
        for case in usual_cases(op) if op.pattern in PATTERNS else ():
            region = region_of(graph_of(case))
            if region is not None:
                yield region, case.arrays()


def test_ops_compile_strictly_and_compute_what_they_mean(tmp_path: Path) -> None:
    regions = list(regions_of_ops())

    assert len(regions) > 1000
    assert wrong(regions, tmp_path) == []


def regions_of_program(seed: int) -> Iterator[tuple[Region, Sequence[Any]]]:
    """The regions that the native backend makes of a program, with what they get in a run."""
    program = generate(seed)
    first = program.feeds
    variables = [Variable(f"v{i}", np.array(a)) for i, a in enumerate(program.arrays[first:])]
    named = dict(zip(program.graph.inputs[first:], variables, strict=True))
    updates = variables[: program.updates]
    graph = build(
        program.graph, backends=("native", "numpy"), variables=named, updates=updates
    ).graph
    known: dict[Value, Any] = dict(zip(graph.inputs, program.arrays, strict=False))
    for v in graph.inputs[len(program.arrays) :]:  # constants of the build; any number does
        known[v] = np.full(v.type.dims, v.type.dtype in FLOATS, numpy_dtype(v.type.dtype))
    for node in graph.nodes:
        arrays = [known[v] for v in node.inputs]
        region = region_of(node.op.graph if isinstance(node.op, Fused) else alone(node))
        if region is not None:
            yield region, arrays
        with np.errstate(all="ignore"):
            known.update(zip(node.outputs, node.op.evaluate(*arrays), strict=True))


def alone(node: Node) -> Graph:
    inputs = tuple([Input(v.type) for v in node.inputs])
    return Graph.of(inputs, Node(node.op, inputs).outputs)


@pytest.mark.parametrize(
    "first", [0, *[pytest.param(n, marks=pytest.mark.long) for n in range(20, 100, 20)]]
)
def test_regions_of_random_programs_compute_what_they_mean(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Building them compiles native code, too: LLVM does that in half of the time of a compiler."""
    if find_spec("llvmlite") is not None:
        monkeypatch.setenv("BYPARTS_EMITTER", "llvm")
    regions = [r for seed in range(first, first + 20) for r in regions_of_program(seed)]

    assert len(regions) > 40
    assert wrong(regions, tmp_path) == []
