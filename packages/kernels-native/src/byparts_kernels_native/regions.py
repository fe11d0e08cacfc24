"""Regions as kernels: the loops of tensor-ir, of which threads share the large ones."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from byparts_graph_ir import Graph, Kernel, KernelFamily
from byparts_graph_ir.model.frozen import replace
from byparts_kernels_native import symbolic, walk
from byparts_kernels_native.generated import Pairs, generated
from byparts_op_loops.keys import kinds_of
from byparts_op_loops.rules import stages_of
from byparts_tensor_ir.target import target

if TYPE_CHECKING:
    from byparts_tensor_ir.statement import Func

_FEW_COLUMNS = 16  # a cache line of f32: their sums stay in registers
_SMALL_BYTES = 1 << 16  # arrays whose place costs less than the time below


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
        from byparts_op_loops.regions.region import RegionLoops

        region = RegionLoops(graph, _FEW_COLUMNS)
        small = {o for o, y in enumerate(graph.outputs) if y.type.size_bytes <= _SMALL_BYTES}
        inplace = region.inplace
        if _has_short_rows(region.func):
            inplace = tuple([(i, o) for i, o in inplace if o not in small])
        return shared(region.func), inplace

    kernel = generated(b"region" + graph.digest, loops, kinds_of(graph)).kernel()
    return replace(kernel, stages=partial(stages_of, graph, _FEW_COLUMNS))


def region_family(graph: Graph) -> KernelFamily:
    """The kernels of a graph as above whose types have named dimensions, for all sizes.

    Raises:
        Refused: as above, whatever the sizes are; or its types do not say a size.
    """
    return symbolic.region_family(graph, _FEW_COLUMNS)


def _has_short_rows(func: Func) -> bool:
    """Whether an inner loop over some vectors and a part of one is run again and again.

    In place, the first load of a row would overlap the store of a part of a vector before it, and
    wait until that is in the cache: a softmax of rows of 10 takes 1.7 times as long.
    """
    from byparts_tensor_ir.statement import For, walk

    lanes = target().vector_bytes // 4
    inner = [s for loop in func.body if isinstance(loop, For) for s in walk(loop.body)]
    extents = [s.extent for s in inner if isinstance(s, For) and s.kind == "vectorize"]
    return any(e.op == "const" and e.attr < 4 * lanes and e.attr % lanes for e in extents)
