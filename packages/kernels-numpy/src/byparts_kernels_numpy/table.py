"""The table of kernels, how NumPy sees the arena, and which kernels cannot avoid an allocation.

A rule gets arrays that are already placed and returns what computes into them:

    @kernels.on(Tanh)
    def tanh(op, inputs, outputs):
        (x,), (y,) = inputs, outputs
        return partial(np.tanh, x, y)          # right also when y is x

Floating point warnings are silenced by whoever runs a program, once for all its kernels: entering
`np.errstate` costs more than a small kernel does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_graph_ir import KernelRule, Op, Table, TensorType
from byparts_opset.dtypes import Array, numpy_dtype

# Module of kernels = "the modules of ops that it has them for"; add yours here.
kernels: Table[KernelRule] = Table.lazily(
    "kernel",
    "byparts_kernels_numpy",
    "byparts_opset",
    constant="constant identity",
    unary="unary trigonometric cast compare logic",
    error_function="error_function",
    activation="activation gelu",
    activation_gradient="activation gelu",
    binary="binary compare logic",
    select="select",
    matmul="matmul",
    conv2d="conv2d",
    pool="pool",
    softmax="softmax",
    cross_entropy="cross_entropy",
    random="random",
    random_normal="random_normal",
    dropout="dropout",
    batch_norm="batch_norm",
    layer_norm="layer_norm",
    attention="attention",
    optimizer="optimizer",
    reduce="reduce prod",
    argmax="argmax",
    cumulative="cumulative",
    copies="axes join pad reshape slicing",
    index="along_axis argmax index",
    order="order",
    signs="signs",
)
allocates: dict[type[Op], str] = {}  # op -> why its kernel allocates at each run


def takes_sub_byte(op: Op) -> bool:
    """Whether the kernel for the op takes i4: those of this package do, others need not."""
    return kernels[op].__module__.startswith("byparts_kernels_numpy.")


def view(memory: Any, offset: int, type: TensorType) -> Array:
    """`memory` from `offset` on, as an array."""
    dtype = numpy_dtype(type.dtype)
    if type.size == 0:
        return np.empty(type.dims, dtype)
    return np.frombuffer(memory, dtype, type.size, offset).reshape(type.dims)
