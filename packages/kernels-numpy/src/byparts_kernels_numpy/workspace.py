"""Arrays of NumPy in the workspace of a step, and memory that the blocks of a step share.

The workspace is planned: what stands in it is undefined when the step begins, and other steps write
over it afterwards.  A rule keeps no memory of its own that grows with its arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Literal

import numpy as np

from byparts_graph_ir.backend.kernel import Workspace
from byparts_opset.dtypes import Array

Order = Literal["C", "F"]


def empty(workspace: Workspace, dims: Sequence[int], dtype: Any, order: Order = "C") -> Array:
    """An array with undefined contents, for this step alone while it runs; of any NumPy dtype."""
    return _array(workspace.scratch, dims, dtype).reshape(dims, order=order)


def kept(workspace: Workspace, value: Array) -> Array:
    """A copy of a constant of the op and its types, which stays between runs."""
    copy = _array(workspace.kept, value.shape, value.dtype).reshape(value.shape)
    np.copyto(copy, value)
    return copy


def ones(workspace: Workspace, count: int, dtype: Any) -> Array:
    """`count` ones, which stay between runs: sums are products with them."""
    line = _array(workspace.kept, (count,), dtype)
    line.fill(1)
    return line


class Shared:
    """Arrays that the blocks of one step share: the blocks are computed one after the other.

    The first request under a name is the largest; those that follow get the front of its memory.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._lines: dict[str, Array] = {}

    def take(self, name: str, dims: Sequence[int], dtype: Any, order: Order = "C") -> Array:
        """An array with undefined contents; what an earlier block left there is still there."""
        if name not in self._lines:
            self._lines[name] = empty(self.workspace, (prod(dims),), dtype)
        return self._lines[name][: prod(dims)].reshape(dims, order=order)

    def ones(self, count: int, dtype: Any) -> Array:
        """`count` ones."""
        if "ones" not in self._lines:
            self._lines["ones"] = ones(self.workspace, count, dtype)
        return self._lines["ones"][:count]

    def counting(self, count: int) -> Array:
        """0, 1, 2, ... in u64: `count` of them."""
        if "counting" not in self._lines:
            self._lines["counting"] = kept(self.workspace, np.arange(count, dtype=np.uint64))
        return self._lines["counting"][:count]


def _array(take: Callable[[Sequence[int], str], Array], dims: Sequence[int], dtype: Any) -> Array:
    """1-d: as bytes, for NumPy has dtypes that graphs have not."""
    kind = np.dtype(dtype)
    line: Array = take((prod(dims) * kind.itemsize,), "u8").view(kind)
    return line
