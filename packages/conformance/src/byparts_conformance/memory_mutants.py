"""Mutants of any op that compute the right numbers but use memory wrongly.

They are bound on NumPy arrays with a margin (`trial_memory.TrialMemory`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from byparts_graph_ir import Op

Array = NDArray[Any]
Arrays = Sequence[Array]
Run = Callable[[], None]
Rule = Callable[[Op, Arrays, Arrays], Run]


def compute(op: Op, inputs: Arrays, outputs: Arrays) -> None:
    """The right kernel.  Reads all inputs before it writes an output."""
    for y, result in zip(outputs, op.evaluate(*(a.copy() for a in inputs)), strict=True):
        y[...] = result


def _changes_input(op: Op, inputs: Arrays, outputs: Arrays) -> Run:
    def run() -> None:
        compute(op, inputs, outputs)
        for a in inputs:
            if not any(np.shares_memory(a, y) for y in outputs):
                a[...] = 0

    return run


def _reads_when_bound(op: Op, inputs: Arrays, outputs: Arrays) -> Run:
    results = op.evaluate(*(a.copy() for a in inputs))

    def run() -> None:
        for y, result in zip(outputs, results, strict=True):
            y[...] = result

    return run


def _adds_to_what_was_there(op: Op, inputs: Arrays, outputs: Arrays) -> Run:
    def run() -> None:
        before = [y.copy() for y in outputs]
        compute(op, inputs, outputs)
        for y, old in zip(outputs, before, strict=True):
            y[...] = y ^ old if y.dtype == bool else y + old

    return run


def _right_once(op: Op, inputs: Arrays, outputs: Arrays) -> Run:
    """The first run is right; later runs add to the old contents of the outputs."""
    runs = [lambda: compute(op, inputs, outputs)]
    again = _adds_to_what_was_there(op, inputs, outputs)

    def run() -> None:
        (runs.pop() if runs else again)()

    return run


def _writes_before_it_reads(op: Op, inputs: Arrays, outputs: Arrays) -> Run:
    def run() -> None:
        for y in outputs:
            y[...] = 0
        compute(op, inputs, outputs)

    return run


def _ignores_strides(op: Op, inputs: Arrays, outputs: Arrays) -> Run:
    dense = [as_strided(a, a.shape, np.empty(a.shape, a.dtype).strides) for a in inputs]
    return lambda: compute(op, dense, outputs)


def _writes_at(place: int) -> Rule:
    """Also writes the element behind the last one (`place` 1), or before the first one (-1)."""

    def rule(op: Op, inputs: Arrays, outputs: Arrays) -> Run:
        def run() -> None:
            compute(op, inputs, outputs)
            for y in outputs:
                if y.size:  # the address of no elements may be anywhere
                    _neighbour(y, place)[...] = 1

        return run

    return rule


def _reads_at(place: int) -> Rule:
    """Reads the element next to its input; the outputs become wrong if that is NaN, -1 or true."""

    def rule(op: Op, inputs: Arrays, outputs: Arrays) -> Run:
        def run() -> None:
            values = [
                _neighbour(a, place).copy() for a in inputs if a.size and a.flags.c_contiguous
            ]
            compute(op, inputs, outputs)
            for y in outputs:
                for v in values:
                    disturb(y, v)

        return run

    return rule


def _reads_ignored(op: Op, inputs: Arrays, outputs: Arrays) -> Run:
    """Reads the contents of an input of which the op uses the type only (`Op.ignores`)."""

    def run() -> None:
        compute(op, inputs, outputs)
        for i in op.ignores:
            if i < len(inputs) and inputs[i].size:
                for y in outputs:
                    disturb(y, inputs[i].reshape(-1)[0])

    return run


def _first_output_only(op: Op, inputs: Arrays, outputs: Arrays) -> Run:
    def run() -> None:
        results = op.evaluate(*(a.copy() for a in inputs))
        outputs[0][...] = results[0]

    return run


def disturb(y: Array, v: Any) -> None:
    """Make y wrong if v is NaN, -1 or true."""
    if y.dtype == bool:
        y[...] = y ^ (bool(v != v) or bool(v))
    elif y.dtype.kind in "iu":
        y[...] = y ^ y.dtype.type(1 if v != v or v != 0 else 0)
    else:
        y[...] = y + y.dtype.type(0) * np.asarray(np.nan if v != v or v == -1 else 0, y.dtype)


def _neighbour(a: Array, place: int) -> Array:
    """The element behind a contiguous array, or before it."""
    offset = a.size if place > 0 else -1
    address = a.ctypes.data + offset * a.itemsize
    memory: Any = (ctypes.c_char * a.itemsize).from_address(address)
    element: Array = np.frombuffer(memory, a.dtype)
    return element


MEMORY_MUTANTS: dict[str, Rule] = {
    "changes its input": _changes_input,
    "reads when bound": _reads_when_bound,
    "adds to what was there": _adds_to_what_was_there,
    "right once": _right_once,
    "wrong in place": _writes_before_it_reads,
    "strides ignored": _ignores_strides,
    "writes one beyond": _writes_at(1),
    "writes one before": _writes_at(-1),
    "reads one beyond": _reads_at(1),
    "reads one before": _reads_at(-1),
    "reads an ignored input": _reads_ignored,
    "first output only": _first_output_only,
}
