"""Picking rows or elements, adding them back, assigning rows, one-hot rows, the greatest of a row.

On the CPU torch checks each index and raises; we say which one it was.  On a GPU an index out of
range is an assertion of the device, which ends the process: to ask first would wait for the device.
"""

from __future__ import annotations

from functools import partial
from typing import Union

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.dense import dense
from byparts_kernels_torch.elementwise import filled, nothing, number
from byparts_kernels_torch.table import Tensor, Tensors, allocates, kernels, same_memory
from byparts_kernels_torch.wide import in_turn, widened
from byparts_kernels_torch.workspace import counted, scratch
from byparts_opset.along_axis import AddAlongAxis, TakeAlongAxis
from byparts_opset.argmax import TopK
from byparts_opset.index import Gather, InRange, OneHot, Scatter, ScatterAdd, check_range

Indexing = Union[Gather, Scatter, ScatterAdd, TakeAlongAxis, AddAlongAxis]
WIDE = (torch.int32, torch.int64)  # the integers that torch indexes with

allocates[TakeAlongAxis] = "torch's gather along the first axis copies its indices"
allocates[TopK] = "torch's sort makes its indices anew"


@kernels.on(Gather, workspace=True)
@dense
def gather(op: Gather, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (x, indices), (y,) = inputs, outputs
    axis, (index, steps) = op.axis % x.dim(), _line(indices, workspace)
    to = y.view(*x.shape[:axis], index.numel(), *x.shape[axis + 1 :])
    pick = partial(torch.index_select, x, axis, index, out=to)
    return in_turn([*steps, _checked(op, pick, indices, x.shape[axis])])


@kernels.on(ScatterAdd, workspace=True)
def scatter_add(op: ScatterAdd, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    return _scatter_add(op, inputs[:2], outputs, workspace)  # nobody may read the third


@kernels.on(TakeAlongAxis, workspace=True)
@dense
def take_along_axis(
    op: TakeAlongAxis, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    (x, indices), (y,) = inputs, outputs
    index, steps = _wide(indices, workspace)
    pick = partial(torch.gather, x, op.axis, index, out=y)
    return in_turn([*steps, _checked(op, pick, indices, x.shape[op.axis])])


@kernels.on(AddAlongAxis, workspace=True)
def add_along_axis(
    op: AddAlongAxis, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    return _add_along_axis(op, inputs[:2], outputs, workspace)  # nobody may read the third


@kernels.on(Scatter, workspace=True)
@dense
def scatter(op: Scatter, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    """Each update is first replaced by the last one at its index.

    Torch writes equal indices in any order; now they bring the same elements.
    """
    (x, indices, updates), (y,) = inputs, outputs
    axis, (index, steps) = op.axis % y.dim(), _wide_line(indices, workspace)
    if index.numel() == 0:
        return nothing if same_memory(x, y) else partial(y.copy_, x)
    place = counted(index.numel(), y, torch.int64, workspace)
    last = scratch(workspace, (y.shape[axis],), y, torch.int64)
    owner, rows = (scratch(workspace, t.shape, t) for t in (index, updates))
    find = partial(last.scatter_reduce_, 0, index, place, "amax")
    copy = [] if same_memory(x, y) else [partial(y.copy_, x)]
    return in_turn(
        [
            *steps,
            partial(last.fill_, -1),
            _checked(op, find, indices, y.shape[axis]),
            partial(torch.index_select, last, 0, index, out=owner),
            partial(torch.index_select, updates, axis, owner, out=rows),
            *copy,
            partial(y.index_copy_, axis, index, rows),
        ]
    )


@kernels.on(InRange)
def in_range(op: InRange, inputs: Tensors, outputs: Tensors) -> Run:
    (indices,), (y,) = inputs, outputs
    copy = partial(y.copy_, indices)
    if indices.device.type != "cpu":
        return copy
    return in_turn([lambda: check_range(op.of, indices.numpy(), op.size, op.axis), copy])


@kernels.on(OneHot, workspace=True)
def one_hot(op: OneHot, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (indices,), (y,) = inputs, outputs
    index, steps = (indices, []) if indices.dtype in WIDE else _widely(indices, workspace)
    each = counted(op.depth, y, index.dtype, workspace)
    hot = scratch(workspace, y.shape, y, torch.bool)
    choose = partial(torch.where, hot, number(op.on, y), number(op.off, y), out=y)
    if (op.on, op.off) == (1, 0):
        choose = partial(y.copy_, hot)
    return in_turn([*steps, partial(torch.eq, index.unsqueeze(-1), each, out=hot), choose])


@kernels.on(TopK, workspace=True)
def top_k(op: TopK, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    """The front of a stable sort: torch's own top-k takes any of equals."""
    (x,), (values, indices) = inputs, outputs
    if values.numel() == 0:
        return nothing
    sorted_values, places = (scratch(workspace, x.shape, t) for t in (x, indices))
    sort = partial(torch.sort, x, stable=True, dim=-1, descending=True, out=(sorted_values, places))
    front = [t.narrow(-1, 0, op.k) for t in (sorted_values, places)]
    return in_turn([sort, partial(values.copy_, front[0]), partial(indices.copy_, front[1])])


@widened
@dense
def _scatter_add(op: ScatterAdd, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (indices, updates), (y,) = inputs, outputs
    axis, (index, steps) = op.axis % y.dim(), _line(indices, workspace)
    rows = updates.view(*y.shape[:axis], index.numel(), *y.shape[axis + 1 :])
    add = partial(y.index_add_, axis, index, rows)
    return in_turn([*steps, filled(y, 0), _checked(op, add, indices, y.shape[axis])])


@widened
@dense
def _add_along_axis(
    op: AddAlongAxis, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    (indices, updates), (y,) = inputs, outputs
    index, steps = _wide(indices, workspace)
    add = partial(y.scatter_add_, op.axis, index, updates)
    return in_turn([*steps, filled(y, 0), _checked(op, add, indices, y.shape[op.axis])])


def _line(indices: Tensor, workspace: Workspace) -> tuple[Tensor, list[Run]]:
    """The indices as one axis of integers that torch indexes with, and the steps that make them."""
    if indices.dtype in WIDE:
        return indices.view(-1), []
    index, steps = _widely(indices, workspace)
    return index.view(-1), steps


def _wide_line(indices: Tensor, workspace: Workspace) -> tuple[Tensor, list[Run]]:
    """`_line` in i64, the only indices that torch writes by."""
    index, steps = _wide(indices, workspace)
    return index.view(-1), steps


def _wide(indices: Tensor, workspace: Workspace) -> tuple[Tensor, list[Run]]:
    """The indices in i64, and the steps that make them."""
    return (indices, []) if indices.dtype == torch.int64 else _widely(indices, workspace)


def _widely(indices: Tensor, workspace: Workspace) -> tuple[Tensor, list[Run]]:
    index = scratch(workspace, indices.shape, indices, torch.int64)
    return index, [partial(index.copy_, indices)]


def _checked(op: Indexing, run: Run, indices: Tensor, size: int) -> Run:
    """The step, whose error on the host says which index it was."""
    if indices.device.type != "cpu":
        return run

    def checked() -> None:
        try:
            run()
        except (IndexError, RuntimeError):
            check_range(op.name, indices.numpy(), size, op.axis)
            raise

    return checked
