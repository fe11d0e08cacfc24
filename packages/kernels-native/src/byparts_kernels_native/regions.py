"""Regions as kernels: the loops of tensor-ir, of which threads share the large ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from byparts_graph_ir import Graph, Kernel
from byparts_kernels_native import walk
from byparts_kernels_native.generated import Pairs, generated

if TYPE_CHECKING:
    from byparts_tensor_ir.statement import Func

_FEW_COLUMNS = 16  # a cache line of f32: their sums stay in registers


def nothing(inplace: Iterable[tuple[int, int]] = ()) -> Kernel:
    """The kernel of what has no elements: it does nothing."""
    return Kernel(lambda *_: walk.captured([], False), inplace=tuple(inplace), atomic=True)


def region_kernel(graph: Graph) -> Kernel:
    """The kernel of a graph of elementwise ops, reductions and movements, all types static.

    Raises:
        Refused: its values have no iteration space in common.
    """

    def loops() -> tuple[Func, Pairs]:
        # Imported here: where the code is on the disk, nothing needs them.
        from byparts_kernels_native.threads import shared
        from byparts_tensor_ir.lowering.regions.region import RegionLoops

        region = RegionLoops(graph, _FEW_COLUMNS)
        return shared(region.func), region.inplace

    return generated(b"region" + graph.digest, loops).kernel()
