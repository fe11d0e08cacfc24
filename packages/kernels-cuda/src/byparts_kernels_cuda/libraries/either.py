"""A kernel that is our own or a library's, whichever is faster where it is bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from byparts_graph_ir import Kernel, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_cuda.gpu import Gpu
from byparts_kernels_cuda.libraries import choice
from byparts_kernels_cuda.libraries.library import LibraryError
from byparts_kernels_cuda.memory import DeviceArray, check_places
from byparts_kernels_cuda.stream_call import StreamCall, run_of

_LARGE = 1 << 22  # multiplications; where nothing is measured, a library gets what is larger
Addresses = Sequence[int]


@dataclass(frozen=True)
class Way:
    """A way to compute an op with a library.

    Attributes:
        name: of the library, as choices are remembered.
        workspace_bytes: that the library may ask for, at most.
        work: multiplications.
        call: (gpu, addresses of inputs and outputs, of the workspace) -> its call; raises
            `LibraryError` where the library has no algorithm.
    """

    name: str
    workspace_bytes: int
    work: int
    call: Callable[[Gpu, Addresses, int], StreamCall]


def either(
    own: Kernel, way: Way, key: str, types: Sequence[TensorType], results: Sequence[TensorType]
) -> Kernel:
    """A kernel of both.

    Args:
        own: our kernel.
        way: the library's.
        key: says which op on which types it is.
        types: of the inputs.
        results: of the outputs.
    """
    every = (*types, *results)
    workspace_bytes = max(own.workspace_bytes, way.workspace_bytes)

    def of_own(gpu: Gpu, addresses: Addresses) -> Run:
        *places, workspace = addresses
        arrays = [DeviceArray(None, at, t, gpu) for at, t in zip(places, every, strict=True)]
        memory = DeviceArray(None, workspace, TensorType("u8", (workspace_bytes,)), gpu)
        return own.bind(arrays[: len(types)], arrays[len(types) :], memory, None)

    def of_library(gpu: Gpu, addresses: Addresses, kept: Any = ()) -> Run:
        *places, workspace = addresses
        call = way.call(gpu, places, workspace)
        call.kept = (*call.kept, *kept)
        return run_of(gpu, (call,))

    def bind(
        inputs: Sequence[DeviceArray], outputs: Sequence[DeviceArray], workspace: Any, more: Any
    ) -> Run:
        check_places((*inputs, *outputs))
        gpu = outputs[0].gpu
        ways: choice.Ways = {
            "own": lambda addresses: of_own(gpu, addresses),
            way.name: lambda addresses: of_library(gpu, addresses),
        }
        sizes = [max(1, t.size_bytes) for t in every] + [max(1, workspace_bytes)]
        rule = way.name if way.work >= _LARGE else "own"
        arrays = (*inputs, *outputs, *([] if workspace is None else [workspace]))
        places = [x.address for x in arrays] + [0] * (workspace is None)
        with gpu:
            try:
                if choice.fastest(gpu, f"{way.name} {key}", ways, sizes, rule) != "own":
                    return of_library(gpu, places, arrays)
            except LibraryError:  # it has no algorithm for this
                pass
        return own.bind(inputs, outputs, workspace, more)

    return Kernel(bind, workspace_bytes, 0, own.inplace, own.atomic, own.source)
