"""Updates of weights by an optimizer: each weight is a region of its own, all of them one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from byparts_graph_ir import Graph, Kernel, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_native import walk
from byparts_tensor_ir.lowering.regions.updates import updates_of_each

RegionKernel = Callable[[Graph], Kernel]


def update(op: Any, types: Sequence[TensorType], of_region: RegionKernel) -> Kernel:
    """The kernel of an op that updates many weights.

    Args:
        op: one of `UPDATES`.
        types: of its inputs.
        of_region: compiles the update of one weight.

    Raises:
        Refused: a dtype that C does not have.
    """
    count, size = op.count, len(op.groups) * op.count
    parts = updates_of_each(op, types)
    kernels = [of_region(g) for g in parts]
    outputs = len(parts[0].outputs)
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
    )
