"""Compiles and binds kernels of the torch backend as a program does; counts torch's allocations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from byparts_graph_ir import HOST, Backend, Kernel, Op, Space, TensorType, Types
from byparts_graph_ir.backend.kernel import Run
from byparts_opset.dtypes import dtype_name, numpy_dtype

torch = pytest.importorskip("torch", reason="needs torch")
make = pytest.importorskip("byparts_kernels_torch").make

Array = NDArray[Any]
BACKEND = make()


class Bound:
    """A kernel on arrays of the host's memory, with the workspace that it asks for.

    Attributes:
        inputs, outputs: the arrays, as NumPy sees them.
        workspace: its bytes, as NumPy sees them; at first all ones, which floats read as nan.
    """

    def __init__(self, op: Op, *inputs: Array, over: slice = slice(0)) -> None:
        """`over` says which pairs of `Kernel.inplace` share their bytes."""
        types = tuple(TensorType(dtype_name(x.dtype), x.shape) for x in inputs)
        self.kernel = compiled(op, types)
        given = [_placed(t) for t in types]
        self.inputs = [array for array, _ in given]
        for array, x in zip(self.inputs, inputs, strict=True):
            array[...] = x
        results = [_placed(t) for t in op.infer(*types)]
        for i, o in self.kernel.inplace[over]:
            results[o] = given[i]
        self.outputs: list[Array] = [array for array, _ in results]
        blocks = [_block(n) for n in (self.kernel.workspace_bytes, self.kernel.persistent_bytes)]
        self.workspace = blocks[0][0]
        self.workspace[...] = 255
        self.bind: Callable[[], Run] = lambda: self.kernel.bind(
            *([tensor for _, tensor in placed] for placed in (given, results)),
            *(block for _, block in blocks),
        )
        with BACKEND.around():
            self.step = self.bind()

    def run(self) -> None:
        """Compute, in the context of a program."""
        with BACKEND.around():
            self.step()


class Nowhere(Space):
    """Memory of torch's device "meta": shapes without bytes."""

    name = "meta"

    def allocate(self, size_bytes: int) -> Any:
        """No byte."""
        return torch.empty(max(1, size_bytes), dtype=torch.uint8, device="meta")


WITHOUT_MEMORY = Backend(
    "meta", BACKEND.view, BACKEND.kernels, space=Nowhere(), around=BACKEND.around
)


def compiled(op: Op, types: Types, backend: Backend | None = None) -> Kernel:
    """The kernel, compiled in the context of a program, and anew: tests set sizes of chunks."""
    backend = backend or make()
    assert backend.around is not None
    with backend.around():
        return backend.compile(op, types)


def kernel(op: Op, *inputs: Array) -> tuple[Array, ...]:
    """The outputs."""
    bound = Bound(op, *inputs)
    bound.run()
    return tuple(bound.outputs)


def allocations(run: Run) -> list[int]:
    """Bytes of each allocation torch makes on the host, in a second run."""
    run()
    return [size for size in _memory_events(run) if size > 0]


def retained(run: Run) -> int:
    """Bytes that torch allocates on the host in a second run, and has not freed when it is over."""
    run()
    kept: list[object] = []
    return sum(_memory_events(lambda: kept.append(run())))


def _memory_events(run: Run) -> list[int]:
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        run()
    tree = profile.profiler.kineto_results.experimental_event_tree()
    return [e.extra_fields.alloc_size for e in _events(tree) if e.name == "[memory]"]


def _events(found: list[Any]) -> Iterator[Any]:
    for event in found:
        yield event
        yield from _events(event.children)


def _placed(t: TensorType) -> tuple[Array, Any]:
    """The same memory as NumPy and as torch see it."""
    memory = HOST.allocate(t.size_bytes)
    array = np.frombuffer(memory, numpy_dtype(t.dtype), t.size).reshape(t.dims)
    return array, BACKEND.view(memory, 0, t)


def _block(size_bytes: int) -> tuple[Array, Any]:
    """Bytes for a kernel, `None` for none."""
    array, tensor = _placed(TensorType("u8", (size_bytes,)))
    return array, tensor if size_bytes else None
