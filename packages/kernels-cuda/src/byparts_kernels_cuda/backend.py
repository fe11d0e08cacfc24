"""The backend: which nodes it joins, and how regions and single ops become launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import (
    Backend,
    Fused,
    Graph,
    Kernel,
    KernelFamily,
    Op,
    Refused,
    TensorType,
)
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_cuda import graph, memory
from byparts_kernels_cuda.epilogues import epilogue_launches, is_epilogue
from byparts_kernels_cuda.gpu import Context, Gpu, gpu
from byparts_kernels_cuda.launch import launched, launched_by
from byparts_kernels_cuda.memory import DeviceArray
from byparts_kernels_cuda.space import space_of
from byparts_kernels_cuda.stream_call import run_of
from byparts_kernels_cuda.sums import PASSES
from byparts_op_loops.elementwise import takes
from byparts_op_loops.keys import kinds_of
from byparts_op_loops.regions.axes import RESHAPES, wanted
from byparts_op_loops.regions.joins import joins
from byparts_op_loops.regions.updates import UPDATES
from byparts_op_loops.rules import (
    LoopKernels,
    Pairs,
    Rule,
    for_all_sizes,
    is_symbolic,
    later,
    stages_of,
)
from byparts_opset.dtypes import numpy_dtype

if TYPE_CHECKING:
    from byparts_gpu_ir.launches import Launches

_MOST_NAMES = 4  # of ops in the name of a kernel


kernels = LoopKernels(later("byparts_kernels_cuda.functions", "whole"))


def make(index: int = 0) -> Backend:
    """The backend on the GPU of this number.

    Raises:
        RuntimeError: there is no driver, or no such GPU.
        DriverError: it does not start.
    """
    device = gpu(index)
    return Backend(
        "cuda" if index == 0 else f"cuda:{index}",
        partial(view, device),
        kernels,
        space=space_of(device),
        passes=PASSES,
        around=partial(Context, device),
        wants=wanted,
        joins=joins,
        capture=partial(graph.record, device),
        stretches=True,
        copy=owned,
    )


def view(gpu: Gpu, memory_: Any, offset: int, type: TensorType) -> DeviceArray:
    """The array at `offset` of memory of this GPU: ours, or a tensor of torch."""
    return memory.array(memory_, offset, type, gpu)


def owned(x: DeviceArray) -> DeviceArray:
    """An array of its own with this value."""
    with x.gpu:
        block = memory.DeviceMemory.allocated(x.gpu, x.type.size_bytes)
    y = DeviceArray(block, block.address, x.type)
    y[...] = x
    return y


# -- rules ----------------------------------------------------------------------------------------


def region_kernel(graph: Graph) -> Kernel:
    """A region as launches."""

    def launches() -> Launches:
        # Not where the text is on the disk.
        from byparts_gpu_ir.mapping import mapped
        from byparts_op_loops.regions.region import RegionLoops

        loops = RegionLoops(graph)
        return mapped(replace(loops.func, name=_title(graph)), loops.inplace)

    about = b"region" + graph.digest
    kernel = launched(about, launches, len(graph.inputs), kinds_of(graph))
    return replace(kernel, stages=partial(stages_of, graph))


def _title(graph: Graph) -> str:
    """The name of the region in profiles: its first ops and its last."""
    names = [node.op.name for node in graph.nodes]
    return "_".join(names if len(names) <= _MOST_NAMES else [*names[:_MOST_NAMES], "to", names[-1]])


@kernels.compiles(Fused, symbolic=True)
def fused(
    op: Fused, types: Sequence[TensorType], constants: frozenset[int]
) -> Kernel | KernelFamily:
    """A region as launches; or a product and what is computed of each of its elements."""
    if is_symbolic(op, types):
        return region_family(op.graph)
    if is_epilogue(op.graph):
        about = b"epilogue" + op.graph.digest
        make = partial(epilogue_launches, op.graph)
        return launched(about, make, len(types), kinds_of(op.graph))
    return region_kernel(op.graph)


def _nothing(pairs: Pairs) -> Kernel:
    """The kernel of what has no elements: it does nothing."""
    return Kernel(lambda _, outputs, *__: run_of(outputs[0].gpu, ()))


def _constant(op: Op, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """A copy of what an op gives that has no input, or inputs of no element."""
    for kind in op.infer(*types):
        if not takes(kind.dtype):
            raise Refused(f"{type(op).__name__} of {kind} is not generated")

    def bind(
        inputs: Sequence[DeviceArray], outputs: Sequence[DeviceArray], workspace: Any, _: Any
    ) -> Run:
        empty = [np.empty(t.dims, numpy_dtype(t.dtype)) for t in types]
        arrays = [np.ascontiguousarray(a) for a in op.evaluate(*empty)]
        return partial(_store, tuple(zip(outputs, arrays, strict=True)))

    return Kernel(bind)


def _store(pairs: Sequence[tuple[DeviceArray, Any]]) -> None:
    """Copy arrays of the host."""
    for y, array in pairs:
        if array.nbytes:
            space_of(y.gpu).write(y, 0, array.reshape(-1).view(np.uint8).data)


def _bytes(op: Op, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """A copy, where the planner does not make the output bytes of the input."""

    def bind(
        inputs: Sequence[DeviceArray], outputs: Sequence[DeviceArray], workspace: Any, _: Any
    ) -> Run:
        return run_of(outputs[0].gpu, outputs[0].filled_by(inputs[0]))

    return Kernel(bind)


kernels.compiles(*RESHAPES, symbolic=True)(for_all_sizes(_bytes))


def _made_by(module: str, name: str) -> Rule:
    """A rule from a function of (op, types) that gives `Launches`."""

    def rule(op: Op, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
        return launched_by(module, name, op, types)

    return rule


def region_family(graph: Graph) -> KernelFamily:
    """A region as launches for all sizes of its named dimensions.

    Raises:
        Refused: as `named.region_family`.
    """
    if is_epilogue(graph):
        raise Refused("a region with a product has code for one size alone")
    from byparts_kernels_cuda import named  # only where dimensions have names

    return named.region_family(graph)


kernels.add_regions(region_kernel, _nothing, _constant, region_family)
_OURS = "byparts_kernels_cuda"
kernels.compiles(ops.Print)(later(f"{_OURS}.functions", "printed"))
kernels.compiles(ops.MatMul, ops.AddMatmul, symbolic=True)(
    later(f"{_OURS}.libraries.rules", "named_or_product")
)
kernels.compiles(ops.Conv2d, ops.Conv2dTranspose, ops.Conv2dFilterGradient)(
    later(f"{_OURS}.libraries.rules", "convolution")
)
kernels.compiles(ops.Attention)(_made_by("attention.forward", "attention_launches"))
kernels.compiles(ops.AttentionGradient)(
    _made_by("attention.backward", "attention_gradient_launches")
)
kernels.compiles(*UPDATES)(_made_by("updates", "update_launches"))
