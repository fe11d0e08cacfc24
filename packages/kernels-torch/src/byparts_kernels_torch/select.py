"""Choosing between tensors.  On the CPU by bits: `torch.where` branches at each element.

(x ^ y) & mask ^ y is x where the mask is all ones and y where it is 0.  Five passes over pieces
that fit the cache are faster than one that mispredicts (65536 random f32: 39 us against 293, and
masked_fill_ is the same), but not below some thousand elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.elementwise import number, rounded
from byparts_kernels_torch.table import Tensor, Tensors, kernels
from byparts_kernels_torch.wide import in_turn, widened
from byparts_kernels_torch.workspace import scratch
from byparts_opset.dropout import Dropout
from byparts_opset.select import Clip, Select

SMALL = 4096  # elements up to which one call that branches is faster
PIECE = 1 << 16  # elements at a time, for each thread
THREADS = torch.get_num_threads()  # now: what a rule asks for may not change between its bindings
BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@kernels.on(Select, workspace=True)
def select(op: Select, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    c, x, y = inputs
    (z,) = outputs
    bits = BITS[z.element_size()]
    pieces = _pieces(c, x.view(bits), y.view(bits), z.view(bits))
    if not pieces:
        return partial(torch.where, c, x, y, out=z)
    mask, mixed = (_room(pieces, workspace) for _ in range(2))
    return in_turn([step for piece in pieces for step in _choose(piece, mask, mixed)])


@kernels.on(Dropout, workspace=True)
@widened
def dropout(op: Dropout, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (x, dropped), (y,) = inputs, outputs
    whole = y.view(BITS[y.element_size()])
    scale = partial(torch.mul, x, number(1 / (1 - op.rate), y), out=y)
    pieces = _pieces(dropped, whole)
    if not pieces:
        return in_turn([scale, partial(y.masked_fill_, dropped, 0)])
    mask, one = _room(pieces, workspace), number(1, whole)
    return in_turn([scale, *(step for piece in pieces for step in _clear(piece, mask, one))])


@kernels.on(Clip)
def clip(op: Clip, inputs: Tensors, outputs: Tensors) -> Run:
    (x,), (y,) = inputs, outputs
    return partial(torch.clamp, x, rounded(op.low, y), rounded(op.high, y), out=y)


def _room(pieces: Sequence[Tensors], workspace: Workspace) -> Tensor:
    """For one piece."""
    (*_, first) = pieces[0]
    return scratch(workspace, first.shape, first)


def _choose(piece: tuple[Tensor, ...], mask: Tensor, mixed: Tensor) -> list[Run]:
    c, x, y, z = piece
    mask, mixed = mask[: z.numel()], mixed[: z.numel()] if x.dim() or y.dim() else mixed[0]
    return [
        partial(mask.copy_, c),
        partial(torch.neg, mask, out=mask),  # 1 -> all ones
        partial(torch.bitwise_xor, x, y, out=mixed),
        partial(torch.bitwise_and, mixed, mask, out=mask),
        partial(torch.bitwise_xor, mask, y, out=z),
    ]


def _clear(piece: tuple[Tensor, ...], mask: Tensor, one: Tensor) -> list[Run]:
    dropped, y = piece
    mask = mask[: y.numel()]
    return [
        partial(mask.copy_, dropped),
        partial(torch.sub, mask, one, out=mask),  # 0 -> all ones
        partial(torch.bitwise_and, y, mask, out=y),
    ]


def _pieces(*tensors: Tensor) -> list[tuple[Tensor, ...]]:
    """Flat pieces, cut alike, the output last; none where one call is the better way.

    An input of one element is in each piece as it is.
    """
    (*_, z) = tensors
    if z.device.type != "cpu" or z.numel() <= SMALL:
        return []
    if not all(t.numel() == 1 or (t.shape == z.shape and t.is_contiguous()) for t in tensors):
        return []
    size = PIECE * THREADS
    flat = [t.reshape(()) if t.numel() == 1 else t.view(-1) for t in tensors]
    return [
        tuple(t[i : i + size] if t.dim() else t for t in flat) for i in range(0, z.numel(), size)
    ]
