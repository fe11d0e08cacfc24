"""Runs one kernel of the torch backend, as a program would, and counts what torch allocates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from byparts_graph_ir import HOST, Input, Node, Op, TensorType
from byparts_graph_ir.backend import Run
from byparts_opset.dtypes import dtype_name, numpy_dtype

torch = pytest.importorskip("torch", reason="needs torch")
make = pytest.importorskip("byparts_kernels_torch").make

Array = NDArray[Any]
BACKEND = make()


class Bound:
    """A kernel on arrays of the host's memory."""

    def __init__(self, op: Op, *inputs: Array) -> None:
        self.node = Node(op, tuple(Input(_type_of(x)) for x in inputs))
        given = [_placed(v.type) for v in self.node.inputs]
        for (array, _), x in zip(given, inputs, strict=True):
            array[...] = x
        results = [_placed(v.type) for v in self.node.outputs]
        self.outputs: list[Array] = [array for array, _ in results]
        with BACKEND.around():
            self.step: Run = BACKEND.bind(
                self.node, [tensor for _, tensor in given], [tensor for _, tensor in results]
            )

    def run(self) -> None:
        """Compute, in the context of a program."""
        with BACKEND.around():
            self.step()


def kernel(op: Op, *inputs: Array) -> tuple[Array, ...]:
    """The outputs."""
    bound = Bound(op, *inputs)
    bound.run()
    return tuple(bound.outputs)


def allocations(run: Run) -> list[int]:
    """Bytes of each allocation torch makes on the host, in a second run."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    run()
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        run()
    tree = profile.profiler.kineto_results.experimental_event_tree()
    sizes = [e.extra_fields.alloc_size for e in _events(tree) if e.name == "[memory]"]
    return [size for size in sizes if size > 0]


def _events(found: list[Any]) -> Iterator[Any]:
    for event in found:
        yield event
        yield from _events(event.children)


def _type_of(x: Array) -> TensorType:
    return TensorType(dtype_name(x.dtype), x.shape)


def _placed(t: TensorType) -> tuple[Array, Any]:
    """The same memory as NumPy and as torch see it."""
    memory = HOST.allocate(t.size_bytes)
    array = np.frombuffer(memory, numpy_dtype(t.dtype), t.size).reshape(t.dims)
    return array, BACKEND.view(memory, 0, t)
