"""A run that raises an error where an index is out of range, alone and amid others."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from byparts_graph_ir import GraphError, Op, TensorType
from byparts_graph_ir.backend.instruction import Host, Jump, Label
from byparts_kernels_native import code
from byparts_opset.dtypes import numpy_dtype
from byparts_opset.index import check_range


class Checked:
    """A call of a function that stores 1 in `error` where an index is out of range, else 0.

    Args:
        op, types: what the function computes.
        position: of the indices among the inputs.
        name: of the function.
        pointers: its inputs and outputs.
        workspace: its address.
    """

    def __init__(
        self,
        op: Op,
        types: Sequence[TensorType],
        position: int,
        name: str,
        pointers: Sequence[int],
        workspace: int,
    ) -> None:
        self.error = ctypes.c_int64()
        where = ctypes.addressof(self.error)
        self.run = code.call(name, [*pointers, where, workspace], self.error)
        self.explain = partial(_explain, op, types, position, pointers)

    def __call__(self) -> None:
        self.run()
        if self.error.value:
            self.explain()

    def lines(self, backend: object) -> tuple[Any, ...]:
        """The call as instructions of a walk, which an error ends."""
        over = Label()
        return self.run, Jump(over, ctypes.addressof(self.error), False), Host(self.explain), over


def _explain(op: Any, types: Sequence[TensorType], position: int, pointers: Sequence[int]) -> None:
    """Find the index that is out of range.

    Raises:
        GraphError: always.
    """
    t = types[position]
    memory = ctypes.string_at(pointers[position], t.size_bytes)
    indices = np.frombuffer(memory, numpy_dtype(t.dtype)).reshape(t.dims)
    whole = types[2 if position == 0 else 0]  # scatter_add(indices, updates, like)
    check_range(op.name, indices, whole.dims[op.axis], op.axis)
    raise GraphError(f"{op.name}: an index was out of range, and no longer is")
