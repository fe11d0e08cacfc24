"""Updates of weights by an optimizer: each weight is a region of its own, all of them one call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from byparts_graph_ir import Graph, Kernel, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_native import walk
from byparts_kernels_native.regions import nothing, region_kernel
from byparts_op_loops.regions.updates import updates_of_each


def update(op: Any, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """The kernel of an op that updates many weights.

    Raises:
        Refused: a dtype that C does not have.
    """
    count, size = op.count, len(op.groups) * op.count
    graphs = updates_of_each(op, types)
    kernels = [_kernel(graph) for graph in graphs]
    outputs = len(graphs[0].outputs)
    inplace = tuple(
        (g * count + i, o * count + i)
        for i, k in enumerate(kernels)
        for g, o in k.inplace
        if g == o
    )

    def bind(inputs: Sequence[int], results: Sequence[int], workspace: Any, more: Any) -> Run:
        runs = []
        for i, k in enumerate(kernels):
            mine = [*inputs[i:size:count], *inputs[size:]]
            runs.append(k.bind(mine, results[i : outputs * count : count], workspace, more))
        return walk.captured(runs, False)

    return Kernel(
        bind,
        max(k.workspace_bytes for k in kernels),
        0,
        inplace,
        True,
        "\n".join({k.source: None for k in kernels}),
        partial(_stages, kernels),
    )


def _stages(kernels: Sequence[Kernel]) -> str:
    """The stages of the regions, equal ones once."""
    return "\n".join({k.stages(): None for k in kernels if k.stages is not None})


def _kernel(graph: Graph) -> Kernel:
    """Make the kernel of one weight's update; for a weight without elements it does nothing."""
    if any(v.type.size for v in graph.outputs):
        return region_kernel(graph)
    return nothing([(i, i) for i, v in enumerate(graph.outputs) if v.type == graph.inputs[i].type])
