"""A run that raises an error where an index is out of range, alone and amid others."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from byparts_graph_ir import Op, TensorType
from byparts_graph_ir.backend.instruction import Host, Jump, Label
from byparts_kernels_native import code
from byparts_op_loops.function import ERROR_WORDS, refuse


class Checked:
    """A call of a function that has an `error_buffer` behind its outputs.

    Args:
        op, types: what the function computes; `op.check_indices` says which index it was.
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
        self.error = (ctypes.c_int64 * ERROR_WORDS)()
        where = ctypes.addressof(self.error)
        self.run = code.call(name, [*pointers, where, workspace], self.error)
        self.explained = op, types, position

    def __call__(self) -> None:
        self.run()
        if self.error[0]:
            self.explain()

    def explain(self) -> None:
        """Say which index it was.

        Raises:
            GraphError: always.
        """
        refuse(*self.explained, list(self.error))

    def lines(self, backend: object) -> tuple[Any, ...]:
        """The call as instructions of a walk, which an error ends."""
        over = Label()
        return self.run, Jump(over, ctypes.addressof(self.error), False), Host(self.explain), over
