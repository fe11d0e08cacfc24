"""The backend: which nodes it joins, and how regions and single ops become code."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import (
    Backend,
    Fused,
    Kernel,
    KernelFamily,
    Op,
    Pass,
    TensorType,
)
from byparts_graph_ir.backend.instruction import Move
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_native import panels, products, sums, updates, walk
from byparts_kernels_native.converted import in_f32
from byparts_kernels_native.regions import nothing, region_family, region_kernel
from byparts_op_loops.regions import columns
from byparts_op_loops.regions.axes import RESHAPES, wanted
from byparts_op_loops.regions.joins import joins
from byparts_op_loops.regions.updates import UPDATES
from byparts_op_loops.rules import LoopKernels, for_all_sizes, is_symbolic, later
from byparts_opset.dtypes import numpy_dtype

kernels = LoopKernels(later("byparts_kernels_native.functions", "named_or_whole"), symbolic=True)
PASSES = (*sums.PASSES, Pass("share panels", panels.share_panels, needs=("static",)))


def make() -> Backend:
    """The backend of this process."""
    return Backend(
        "native",
        view,
        kernels,
        passes=PASSES,
        wants=wanted,
        joins=joins,
        capture=walk.captured,
        stretches=True,
        loops=True,
        sub_byte=_takes_sub_byte,
        slow_to_build=True,
    )


def _takes_sub_byte(op: Op) -> bool:
    """Whether the kernel for the op takes i4: our own do, those of others need not."""
    return str(kernels[op].__module__).startswith(("byparts_kernels_native.", "byparts_op_loops."))


def view(memory: Any, offset: int, type: TensorType) -> int:
    """The address of an array; the planner keeps the memory alive."""
    if isinstance(memory, int):
        return memory + offset
    if memory is None:  # of a body whose values have no bytes
        return 0
    return ctypes.addressof(ctypes.c_char.from_buffer(memory)) + offset


@kernels.compiles(Fused, symbolic=True)
def fused(
    op: Fused, types: Sequence[TensorType], constants: frozenset[int]
) -> Kernel | KernelFamily:
    """A region as one function."""
    return region_family(op.graph) if is_symbolic(op, types) else region_kernel(op.graph)


def _constant(op: Op, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """A copy of what an op gives that has no input, or inputs of no element."""

    def bind(inputs: Sequence[int], outputs: Sequence[int], workspace: Any, _: Any) -> Run:
        empty = [np.empty(t.dims, numpy_dtype(t.dtype)) for t in types]
        arrays = [np.ascontiguousarray(a) for a in op.evaluate(*empty)]
        moves = [Move(y, a.ctypes.data, a.nbytes) for y, a in zip(outputs, arrays, strict=True)]
        return walk.captured(moves, False, arrays)

    return Kernel(bind)


@kernels.compiles(ops.MatMul, symbolic=True)
def _matmul(
    op: Op, types: Sequence[TensorType], constants: frozenset[int]
) -> Kernel | KernelFamily:
    if is_symbolic(op, types):
        return products.family(op, types, constants)
    rows = columns.sums_of_rows(op, types)
    return products.matmul(op, types, constants) if rows is None else region_kernel(rows)


@kernels.compiles(*RESHAPES, symbolic=True)
@for_all_sizes
def _bytes(op: Op, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """A copy, where the planner does not make the output bytes of the input."""

    def bind(inputs: Sequence[int], outputs: Sequence[int], workspace: Any, _: Any) -> Run:
        return walk.captured([Move(outputs[0], inputs[0], types[0].size_bytes)], False)

    return Kernel(bind)


kernels.add_regions(region_kernel, nothing, _constant, region_family)
_OURS = "byparts_kernels_native"
# What NumPy does as fast, or faster than loops of ours would (a sort, a search), and printing.
kernels.compiles(
    *(ops.Print, ops.Sort, ops.ArgSort, ops.SearchSorted, ops.CumProd, ops.LinearRecurrence),
    *(ops.TakeAlongAxis, ops.AddAlongAxis, ops.NextAfter),
    symbolic=True,
)(for_all_sizes(later(f"{_OURS}.functions", "evaluated")))
kernels.compiles(ops.TopK, symbolic=True)(later(f"{_OURS}.functions", "top_k"))
kernels.compiles(*UPDATES)(updates.update)
kernels.compiles(ops.AddMatmul, symbolic=True)(sums.add_matmul)
kernels.compiles(panels.PackPanels)(panels.pack)
kernels.compiles(panels.PanelMatmul)(panels.multiply)
kernels.compiles(ops.Attention, symbolic=True)(in_f32(later(f"{_OURS}.attention", "forward")))
kernels.compiles(ops.AttentionGradient, symbolic=True)(
    in_f32(later(f"{_OURS}.attention", "backward"))
)
kernels.compiles(ops.Conv2d, ops.Conv2dTranspose, ops.Conv2dFilterGradient, symbolic=True)(
    in_f32(later(f"{_OURS}.convolution.kernels", "convolution"))
)
