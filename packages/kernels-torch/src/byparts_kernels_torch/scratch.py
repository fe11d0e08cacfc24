"""Scratch memory, shared by all steps of a program: they run one after the other.

A rule asks for it when it is bound, and its run may leave anything in it, for nobody: the next
step writes over it.  What must stay between runs (a mask, a padded border) is a tensor of the
rule's own.

All scratch of a program is one storage, as large as the step that needs most.  It is not known how
large that is until all are bound, but torch can enlarge a storage under the views of it.  Outside a
program (`Lent` is not entered), scratch is memory like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from threading import local
from typing import Optional

import torch

from byparts_kernels_torch.table import Tensor

ALIGNMENT = 64


def empty(
    shape: Sequence[int],
    like: Tensor,
    dtype: Optional[torch.dtype] = None,
    order: torch.memory_format = torch.contiguous_format,
) -> Tensor:
    """Scratch on the device of `like`, and in its dtype unless another is given."""
    dtype, shape = dtype or like.dtype, tuple(shape)
    lent = _now.lent
    if lent is None or like.is_meta:
        return torch.empty(shape, dtype=dtype, device=like.device, memory_format=order)
    return lent.take(shape, dtype, like.device, order)


class Lent:
    """What a program lends to its steps; a context while they are bound."""

    __slots__ = ("_before", "_storage", "_top")

    def __init__(self) -> None:
        self._storage: Optional[torch.UntypedStorage] = None
        self._top = 0
        self._before: Optional[Lent] = None

    def __enter__(self) -> Lent:
        self._before, _now.lent = _now.lent, self
        return self

    def __exit__(self, *raised: object) -> None:
        _now.lent, self._before = self._before, None

    def take(
        self,
        shape: tuple[int, ...],
        dtype: torch.dtype,
        device: torch.device,
        order: torch.memory_format,
    ) -> Tensor:
        """The next bytes that this step has not taken."""
        if self._storage is None:
            self._storage = torch.UntypedStorage(0, device=device)
        start, size = self._top, prod(shape) * dtype.itemsize
        self._top = start + size + -size % ALIGNMENT
        if self._top > self._storage.nbytes():
            self._storage.resize_(self._top)
        strides = torch.empty(shape, dtype=dtype, device="meta", memory_format=order).stride()
        found = torch.empty(0, dtype=dtype, device=device)
        return found.set_(self._storage, start // dtype.itemsize, shape, strides)

    def again(self) -> None:
        """For the next step."""
        self._top = 0


class _Now(local):
    lent: Optional[Lent] = None


_now = _Now()


def next_step() -> None:
    """What the steps before have taken may be taken again."""
    if _now.lent is not None:
        _now.lent.again()
