"""Runs one kernel of the NumPy backend, as a program would."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import Input, Node, Op, TensorType
from byparts_graph_ir.backend import Run
from byparts_kernels_numpy import make
from byparts_opset.dtypes import dtype_name, numpy_dtype

Array = NDArray[Any]
BACKEND = make()


def node_on(op: Op, *inputs: Array) -> Node:
    """The op on values of these types."""
    return Node(op, tuple(Input(TensorType(dtype_name(x.dtype), x.shape)) for x in inputs))


def kernel(op: Op, *inputs: Array, into: int | None = None) -> tuple[Array, ...]:
    """The outputs; `into`: output 0 is written over that input (copied first)."""
    node = node_on(op, *inputs)
    arrays = [x.copy() for x in inputs] if into is not None else list(inputs)
    outputs = [np.empty(v.type.dims, numpy_dtype(v.type.dtype)) for v in node.outputs]
    if into is not None:
        outputs[0] = arrays[into]
    run = BACKEND.bind(node, arrays, outputs)
    with np.errstate(all="ignore"):
        run()
    return tuple(outputs)


def bound(op: Op, *inputs: Array) -> Run:
    """The step, to run more than once."""
    node = node_on(op, *inputs)
    outputs = [np.empty(v.type.dims, numpy_dtype(v.type.dtype)) for v in node.outputs]
    return BACKEND.bind(node, inputs, outputs)


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
