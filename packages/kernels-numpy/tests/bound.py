"""Runs one kernel of the NumPy backend, as a program would."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import Input, Node, Op, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_numpy import make
from byparts_opset.dtypes import dtype_name, numpy_dtype

Array = NDArray[Any]
BACKEND = make()


def node_on(op: Op, *inputs: Array) -> Node:
    """The op on values of these types."""
    return Node(op, tuple(Input(TensorType(dtype_name(x.dtype), x.shape)) for x in inputs))


def kernel(op: Op, *inputs: Array, into: int | None = None) -> tuple[Array, ...]:
    """The outputs; `into`: output 0 is written over that input (copied first)."""
    arrays = [x.copy() for x in inputs] if into is not None else list(inputs)
    outputs = outputs_of(op, *inputs)
    if into is not None:
        outputs[0] = arrays[into]
    run = step(op, arrays, outputs)
    with np.errstate(all="ignore"):
        run()
    return tuple(outputs)


def bound(op: Op, *inputs: Array) -> Run:
    """The step, to run more than once."""
    return step(op, inputs, outputs_of(op, *inputs))


def outputs_of(op: Op, *inputs: Array) -> list[Array]:
    """Arrays for what the op gives, with anything in them."""
    types = [v.type for v in node_on(op, *inputs).outputs]
    return [np.empty(t.dims, numpy_dtype(t.dtype)) for t in types]


def step(op: Op, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
    """Compiled and bound as a program does it; arrays with gaps are for trials."""
    node = node_on(op, *inputs)
    if not all(a.flags.c_contiguous for a in (*inputs, *outputs)):
        return BACKEND.bind(node, inputs, outputs)
    made = BACKEND.compile(op, [v.type for v in node.inputs])
    return made.bind(
        inputs, outputs, block(made.workspace_bytes, 0xFF), block(made.persistent_bytes)
    )


def block(size_bytes: int, fill: int = 0) -> Array | None:
    """A planned block: u8, aligned, `None` for 0 bytes."""
    if not size_bytes:
        return None
    memory = BACKEND.view(BACKEND.space.allocate(size_bytes), 0, TensorType("u8", (size_bytes,)))
    memory.fill(fill)
    return memory  # type: ignore[no-any-return]


def spread(x: Array) -> Array:
    """The same elements, with gaps between them in memory."""
    gaps = np.zeros((*x.shape, 2), x.dtype)
    gaps[..., 0] = x
    return gaps[..., 0]


def peak_bytes(run: Run) -> int:
    """The most memory a run holds beyond what it found, after a first run."""
    run()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
