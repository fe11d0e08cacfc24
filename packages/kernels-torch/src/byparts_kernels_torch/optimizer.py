"""Steps of an optimizer: one C call for all weights of a dtype, in place.

Where the new values are the old ones' memory, the rule returns just that call, and the runtime may
run it on the variables as its commit.  Elsewhere the old values are copied over first.  torch's
fused kernels read the rate and the number of the step as tensors; they read memory from the first
element on, whatever the strides, so a gradient with strides is copied into scratch memory before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.table import Tensor, Tensors, kernels, same_memory
from byparts_kernels_torch.wide import HALVES, in_turn
from byparts_kernels_torch.workspace import scratch
from byparts_opset.optimizer import Adam, GradientDescent, Momentum

Group = tuple[Tensor, ...]  # a new weight, its new state, its gradient


@kernels.on(GradientDescent, workspace=True)
def gradient_descent(
    op: GradientDescent, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    rate = inputs[-1]

    def step(groups: Sequence[Group]) -> Run:
        weights, gradients = _columns(groups)
        return _descent((weights, gradients, []), rate, 0.0, False, workspace)

    return _updated(op.count, inputs, outputs, step, workspace)


@kernels.on(Momentum, workspace=True)
def momentum(op: Momentum, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    rate = inputs[-1]

    def step(groups: Sequence[Group]) -> Run:
        weights, velocities, gradients = _columns(groups)
        tensors = (weights, gradients, velocities)
        return _descent(tensors, rate, op.momentum, op.nesterov, workspace)

    return _updated(op.count, inputs, outputs, step, workspace)


@kernels.on(Adam, workspace=True)
def adam(op: Adam, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    rate, number = inputs[-2:]

    def step(groups: Sequence[Group]) -> Run:
        weights, means, squares, gradients = _columns(groups)
        return partial(
            torch._fused_adam_,
            *(weights, gradients, means, squares, [], [number] * len(weights)),
            **{"lr": rate, "beta1": op.beta1, "beta2": op.beta2, "eps": op.epsilon},
            **{"weight_decay": 0.0, "amsgrad": False, "maximize": False},
        )

    return _updated(op.count, inputs, outputs, step, workspace)


def _descent(
    tensors: Sequence[list[Tensor]],
    rate: Tensor,
    momentum: float,
    nesterov: bool,
    workspace: Workspace,
) -> Run:
    """For weights, gradients and velocities, if there are any.

    Half types as f32: on the CPU torch 2.13 steps four elements of them and leaves the rest.
    """
    wide, gradients, like = tensors, tensors[1], tensors[0][0]
    halves = like.dtype in HALVES and like.device.type == "cpu"
    if halves:
        wide = [[scratch(workspace, t.shape, t, torch.float32) for t in ts] for ts in tensors]
    step = partial(
        torch._fused_sgd_,
        *wide,
        **{"lr": rate, "momentum": momentum, "nesterov": nesterov, "weight_decay": 0.0},
        **{"dampening": 0.0, "maximize": False, "is_first_step": False},
    )
    if not halves:
        return step
    before = [
        (to, t)
        for tos, ts in zip(wide, tensors, strict=True)
        for to, t in zip(tos, ts, strict=True)
    ]
    after = [(t, to) for to, t in before if not any(t is dw for dw in gradients)]
    return in_turn([*_copies(before), step, *_copies(after)])


def _updated(
    count: int,
    inputs: Tensors,
    outputs: Tensors,
    step: Callable[[Sequence[Group]], Run],
    workspace: Workspace,
) -> Run:
    """Copies where memory differs, then a step for each dtype."""
    news = list(outputs)
    moved = [(y, x) for y, x in zip(news, inputs, strict=False) if not same_memory(x, y)]
    gradients = list(inputs[len(news) : len(news) + count])
    for i, dw in enumerate(gradients):
        if not dw.is_contiguous():
            gradients[i] = scratch(workspace, dw.shape, dw)
            moved.append((gradients[i], dw))
    groups: list[Group] = [(*news[i::count], gradients[i]) for i in range(count)]
    return in_turn([*_copies(moved), *(step(g) for g in _by_dtype(groups))])


def _copies(moved: Sequence[tuple[Tensor, Tensor]]) -> Iterator[Run]:
    if moved:
        to, sources = zip(*moved, strict=True)
        yield partial(torch._foreach_copy_, list(to), list(sources))


def _by_dtype(groups: Sequence[Group]) -> Iterator[list[Group]]:
    """The fused kernels take one dtype at a time, and tensors with elements."""
    by_dtype: dict[torch.dtype, list[Group]] = {}
    for group in groups:
        if group[0].numel():
            by_dtype.setdefault(group[0].dtype, []).append(group)
    yield from by_dtype.values()


def _columns(groups: Sequence[Group]) -> Iterator[list[Tensor]]:
    return map(list, zip(*groups, strict=True))
