"""Mutants of any op that compute the right numbers but use their planned memory wrongly.

They are compiled kernels: each declares the memory that it needs and the pairs that may share
bytes, and then breaks its declaration.  They get NumPy arrays with a margin (`trial_memory.py`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from byparts_conformance.memory_mutants import Array, Arrays, compute, disturb
from byparts_graph_ir import Op, Types
from byparts_graph_ir.backend.kernel import Kernel, Run, Workspace

CompiledRule = Callable[[Op, Types, frozenset[int]], Kernel]
WorkspaceRule = Callable[[Op, Arrays, Arrays, Workspace], Run]
Step = Callable[[Op, Arrays, Arrays, Array], None]  # the last argument is the u8 block

BLOCK_BYTES = 64
USUAL = 1000  # one mutant raises for larger numbers


def right(op: Op, types: Types, constants: frozenset[int]) -> Kernel:
    """A right kernel, which the kit must accept: fills its workspace before reading it."""

    def bind(inputs: Arrays, outputs: Arrays, workspace: Array, persistent: Array) -> Run:
        persistent.fill(2)

        def run() -> None:
            workspace.fill(1)
            compute(op, inputs, outputs)
            _disturb_unless(bool((workspace + 1 == persistent).all()), outputs)

        return run

    return Kernel(bind, BLOCK_BYTES, BLOCK_BYTES, _pairs(op, types))


def _with_workspace(step: Step, fill: int | None = None) -> CompiledRule:
    """`step` runs with a workspace, which `bind` fills with a byte value if `fill` is given."""

    def rule(op: Op, types: Types, constants: frozenset[int]) -> Kernel:
        def bind(inputs: Arrays, outputs: Arrays, workspace: Array, persistent: Array) -> Run:
            if fill is not None:
                workspace.fill(fill)
            return partial(step, op, inputs, outputs, workspace)

        return Kernel(bind, BLOCK_BYTES, 0, _pairs(op, types))

    return rule


def _with_persistent(step: Step) -> CompiledRule:
    """`step` runs with a persistent block that has room for all outputs, and 8 bytes more."""

    def rule(op: Op, types: Types, constants: frozenset[int]) -> Kernel:
        def bind(inputs: Arrays, outputs: Arrays, workspace: Array, persistent: Array) -> Run:
            return partial(step, op, inputs, outputs, persistent)

        room = sum(t.size_bytes for t in op.infer(*types))
        return Kernel(bind, 0, 8 + room, _pairs(op, types))

    return rule


def _writes_beyond(place: int) -> Step:
    """Writes the byte behind the block (`place` 0), `place` further, or the one before it (-1)."""

    def step(op: Op, inputs: Arrays, outputs: Arrays, block: Array) -> None:
        compute(op, inputs, outputs)
        start = -1 if place < 0 else len(block) + place
        ctypes.c_ubyte.from_address(block.ctypes.data + start).value = 1

    return step


def _expects(byte: int) -> Step:
    """Right only while every byte of the workspace is this one."""

    def step(op: Op, inputs: Arrays, outputs: Arrays, block: Array) -> None:
        compute(op, inputs, outputs)
        _disturb_unless(bool((block == byte).all()), outputs)

    return step


def _keeps_state(op: Op, types: Types, constants: frozenset[int]) -> Kernel:
    """Later runs need what the first run has left in the workspace."""

    def bind(inputs: Arrays, outputs: Arrays, workspace: Array, persistent: Array) -> Run:
        runs: list[int] = []

        def run() -> None:
            compute(op, inputs, outputs)
            _disturb_unless(not runs or workspace[0] == 7, outputs)
            workspace[0] = 7
            runs.append(1)

        return run

    return Kernel(bind, BLOCK_BYTES, 0, _pairs(op, types))


def _remembers(op: Op, inputs: Arrays, outputs: Arrays, block: Array) -> None:
    """Stores the results of the first run and returns them in all later runs."""
    if not block[0]:
        compute(op, inputs, outputs)
        block[0], block[8:] = 1, np.frombuffer(b"".join(y.tobytes() for y in outputs), np.uint8)
    start = 8
    for y in outputs:
        y[...] = np.frombuffer(block[start : start + y.nbytes].tobytes(), y.dtype).reshape(y.shape)
        start += y.nbytes


def _asks_for_more_when_bound(op: Op, inputs: Arrays, outputs: Arrays, workspace: Workspace) -> Run:
    workspace.scratch((2 * BLOCK_BYTES if workspace._planned else BLOCK_BYTES,), "u8")
    return partial(compute, op, inputs, outputs)


def _writes_before_it_reads(op: Op, types: Types, constants: frozenset[int]) -> Kernel:
    """Declares that each output may overwrite each input of its type."""
    outputs_of = op.infer(*types)
    pairs = [(i, o) for i, t in enumerate(types) for o, y in enumerate(outputs_of) if t == y]

    def bind(inputs: Arrays, outputs: Arrays, workspace: Array, persistent: Array) -> Run:
        def run() -> None:
            for y in outputs:
                y[...] = 0
            compute(op, inputs, outputs)

        return run

    return Kernel(bind, inplace=tuple(pairs))


def _atomic_in_python(op: Op, types: Types, constants: frozenset[int]) -> Kernel:
    def bind(inputs: Arrays, outputs: Arrays, workspace: Array, persistent: Array) -> Run:
        return partial(compute, op, inputs, outputs)

    return Kernel(bind, inplace=_pairs(op, types), atomic=True)


def _atomic_and_raises(op: Op, types: Types, constants: frozenset[int]) -> Kernel:
    """A function of C that raises for large and for negative numbers."""

    def bind(inputs: Arrays, outputs: Arrays, workspace: Array, persistent: Array) -> Run:
        def once(_: object, __: object) -> None:
            for i, x in enumerate(inputs):
                if i not in op.ignores and x.size and not (np.abs(x) < USUAL).all():
                    raise ValueError(f"{x.dtype} beyond {USUAL}")
            compute(op, inputs, outputs)

        return partial(reduce, once, (None,), None)

    return Kernel(bind, inplace=_pairs(op, types), atomic=True)


def _last_binding_wins(op: Op, types: Types, constants: frozenset[int]) -> Kernel:
    """All bound steps use the arrays of the latest `bind`."""
    latest: list[Sequence[Any]] = []

    def bind(inputs: Arrays, outputs: Arrays, workspace: Array, persistent: Array) -> Run:
        latest[:] = inputs, outputs
        return lambda: compute(op, *latest)

    return Kernel(bind, inplace=_pairs(op, types))


def _pairs(op: Op, types: Types) -> tuple[tuple[int, int], ...]:
    """All pairs that the op allows: `compute` reads all inputs before it writes."""
    outputs = op.infer(*types)
    return tuple(
        (i, o)
        for i, o in op.inplace
        if i < len(types) and o < len(outputs) and types[i] == outputs[o]
    )


def _disturb_unless(right: bool, outputs: Arrays) -> None:
    for y in () if right else outputs:
        disturb(y, np.float32(np.nan))


COMPILED_MUTANTS: dict[str, CompiledRule] = {
    "writes beyond its workspace": _with_workspace(_writes_beyond(0)),
    "writes before its workspace": _with_workspace(_writes_beyond(-1)),
    "asks for less than it uses": _with_workspace(_writes_beyond(15)),
    "expects zeros in its workspace": _with_workspace(_expects(0)),
    "expects what bind wrote": _with_workspace(_expects(3), fill=3),
    "keeps state in its workspace": _keeps_state,
    "writes beyond its persistent memory": _with_persistent(_writes_beyond(0)),
    "remembers results": _with_persistent(_remembers),
    "says in place and reads late": _writes_before_it_reads,
    "says atomic and is Python": _atomic_in_python,
    "says atomic and raises": _atomic_and_raises,
    "last binding wins": _last_binding_wins,
}
WORKSPACE_MUTANTS: dict[str, WorkspaceRule] = {
    "asks for more when bound": _asks_for_more_when_bound
}
