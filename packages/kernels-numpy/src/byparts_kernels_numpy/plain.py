"""Rules that work in blocks of memory: contiguous arrays, no half types, cut to fit a cache.

NumPy computes half types and i4 element by element and strided arrays slowly; a rule marked `plain`
never sees them.  It takes a workspace, in which stand-ins are; they are copied around the step when
it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from math import prod
from typing import Any

import numpy as np

from byparts_graph_ir import KernelRule
from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.workspace import empty
from byparts_opset.dtypes import Array, wide_dtype

BLOCK_BYTES = 1 << 17  # of one operand; several of them fit a second-level cache
LONGEST = 4096  # numbers that are added up one after the other: longer sums lose too many digits


def plain(rule: KernelRule) -> Callable[..., Run]:
    """The rule, for any arrays; half types are computed in f32 and rounded once, i4 in i8."""

    @wraps(rule)
    def bind(
        op: Any, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
    ) -> Run:
        xs, ys = ([_stand_in(x, workspace) for x in arrays] for arrays in (inputs, outputs))
        run = rule(op, xs, ys, workspace)
        before = [(s, x) for s, x in zip(xs, inputs, strict=True) if s is not x]
        after = [(y, s) for s, y in zip(ys, outputs, strict=True) if s is not y]
        return _surrounded(run, before, after) if before or after else run

    return bind


def wrapping(y: Array) -> dict[str, Any]:
    """Keywords for a ufunc that writes to y: for i4 they choose the loop of i8, whose results wrap.

    The loop for i4 itself is one of ml_dtypes, which may crash where it divides by 0.
    """
    dtype = wide_dtype(y.dtype)
    return {"dtype": dtype, "casting": "unsafe"} if dtype == np.int8 != y.dtype else {}


def in_turn(runs: Sequence[Run]) -> Run:
    """A run that makes these runs, one after the other."""
    if len(runs) == 1:
        return runs[0]
    several = tuple(runs)

    def run() -> None:
        for step in several:
            step()

    return run


def blocks(axis: int, *arrays: Array, most: int | None = None) -> list[tuple[Array, ...]]:
    """Contiguous arrays of one shape, cut alike into views [outer, size, inner] around `axis`.

    Views are [outer, size] where inner is 1.  A block has whole lines along the axis, and about
    BLOCK_BYTES, `most` lines where that is given; all but the last ones are of one shape.
    """
    shape = arrays[0].shape
    axis %= len(shape)
    outer, size, inner = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
    if arrays[0].size == 0:
        return []
    lines = [a.reshape((outer, size) if inner == 1 else (outer, size, inner)) for a in arrays]
    fitting = max(1, BLOCK_BYTES // (size * arrays[0].itemsize))  # lines of one block
    if inner <= fitting:
        step = max(1, min(fitting // inner, most or fitting))
        return [tuple(a[i : i + step] for a in lines) for i in range(0, outer, step)]
    cuts = [(i, j) for i in range(outer) for j in range(0, inner, fitting)]
    return [tuple(a[i : i + 1, :, j : j + fitting] for a in lines) for i, j in cuts]


def split_rows(x: Array, cut: Sequence[tuple[Array, ...]]) -> list[Array]:
    """Views of x, which has one number for each row of an array that `blocks` cut: one a block."""
    ends = np.cumsum([len(b[0]) for b in cut])[:-1]
    return np.split(x.reshape(-1), ends)


def _stand_in(x: Array, workspace: Workspace) -> Array:
    dtype = wide_dtype(x.dtype)
    same = dtype == x.dtype and x.flags.c_contiguous
    return x if same else empty(workspace, x.shape, dtype)


def _surrounded(
    run: Run, before: list[tuple[Array, Array]], after: list[tuple[Array, Array]]
) -> Callable[[], None]:
    def copied() -> None:
        for to, x in before:
            np.copyto(to, x, casting="unsafe")
        run()
        for to, x in after:
            np.copyto(to, x, casting="unsafe")

    return copied
