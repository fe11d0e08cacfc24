"""The backend: the kernels, how torch sees memory, and the context of a run.

On the CPU a `torch.Tensor` is a view of the arena, never memory of its own, so what another backend
of the host wrote is read without a copy.  Importing this module imports torch.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Optional

import torch

from byparts_graph_ir import Backend, GraphError, Pass
from byparts_graph_ir.contract import checked
from byparts_kernels_torch import (
    activation,
    activation_gradient,
    add_matmul,
    add_mul,
    argmax,
    attention,
    batch_norm,
    binary,
    constant,
    conv2d,
    copies,
    cross_entropy,
    cumulative,
    index,
    layer_norm,
    matmul,
    optimizer,
    order,
    pool,
    pool_indices,
    random,
    reduce,
    select,
    softmax,
    table,
    unary,
)
from byparts_kernels_torch.context import Context
from byparts_kernels_torch.cuda import find_gpu, on_gpu
from byparts_kernels_torch.join import join

# One module of kernels for each module of ops, which are in the table once it is imported; add
# yours here.
MODULES = (
    *(constant, unary, activation, binary, select, matmul, random),
    *(reduce, argmax, cumulative, copies, index, order),
    *(activation_gradient, softmax, cross_entropy, optimizer, conv2d),
    *(pool, pool_indices, add_matmul, add_mul, batch_norm, layer_norm, attention),
)

PASSES = (Pass("join", join, needs=("static",)),)


@checked
def make_backend(device: str, threads: Optional[int], keep_denormals: bool, tf32: bool) -> Backend:
    """See `byparts_kernels_torch.make`."""
    if device == "cpu" and tf32:
        raise GraphError("tf32 is a way of GPUs to multiply; the device is the CPU")
    if device != "cpu" and (threads is not None or keep_denormals):
        raise GraphError(f"threads and keep_denormals are for the CPU; the device is {device!r}")
    around = partial(Context, threads, keep_denormals)
    facts: dict[str, Any] = {"around": around, "passes": PASSES, "copy": owned}
    facts["lacks"] = table.LACKS
    host = Backend("torch", table.view, table.kernels, flushes=not keep_denormals, **facts)
    return host if device == "cpu" else on_gpu(host, find_gpu(device), tf32)


def owned(x: torch.Tensor) -> torch.Tensor:
    """An ordinary tensor with this value: autograd may use it."""
    with torch.inference_mode(False):
        return x.clone()
