"""Faults of GPU functions that checked emulation finds, as errors that show the statements."""

from __future__ import annotations

from collections.abc import Sequence

from byparts_gpu_ir.emit.emulated import EmulatedSource
from byparts_gpu_ir.emit.shadow import HOLDERS
from byparts_graph_ir import GraphError
from byparts_tensor_ir.nest import MOST_THREADS


class KernelFault(GraphError):
    """A GPU function breaks a rule; the message shows statements, threads and blocks."""


class DataRace(KernelFault):
    """Two threads touch one element, one writes it, and nothing orders them."""


class OutsideBuffer(KernelFault):
    """An index outside of its buffer."""


class NeverWritten(KernelFault):
    """An element of shared memory is read that nobody in this block has written."""


class Divergence(KernelFault):
    """Threads do not meet as they must.

    Some of a block reach a barrier and others do not; some of a warp reach a collective and others
    do not, or would do it at another place.
    """


class Misaligned(KernelFault):
    """A wide access that does not begin at a multiple of its size."""


class CopyUnderWay(KernelFault):
    """A thread touches a copy's target, or writes its source, before it waited for the copy."""


_KINDS = (
    *(KernelFault, DataRace, OutsideBuffer, NeverWritten, Divergence, Misaligned, Divergence),
    CopyUnderWay,
)


def raise_fault(source: EmulatedSource, record: Sequence[int]) -> None:
    """Raise the error for the record that a checked kernel left.

    Args:
        source: of the kernel.
        record: `shadow.FAULT_WORDS` numbers, of which the first is not 0.

    Raises:
        KernelFault: the fault.
    """
    kind, buffer = record[0], record[1]
    first = _access(source, record[2], record[3], record[4])
    second = _access(source, record[7], record[8], record[9])
    verbs = ["reads", "writes"]
    name = source.name.removeprefix("byparts_")
    at = ", ".join(map(str, record[12 : 12 + record[11]]))
    what = f"{source.buffers[buffer]} at [{at}]" if buffer >= 0 else ""
    if kind in (1, 7):
        how = "nothing orders" if kind == 1 else "a copy is under way"
        text = (
            f"{name}: a race on {what}: {how}\n"
            f"  {first[0]}, which {verbs[record[5]]} it: {first[1]}\n"
            f"  {second[0]}, which {verbs[record[10]]} it: {second[1]}"
        )
    elif kind == 6:
        text = f"{name}: {first[0]} and {second[0]} are not at one place: {first[1]}"
    elif kind == 4:
        text = f"{name}: {first[0]} reaches {first[1]}, and {second[0]} does not"
    else:
        how = {2: "outside of", 3: "what nobody has written in", 5: "misaligned in"}[kind]
        text = f"{name}: {first[0]} {verbs[record[5]]} {how} {what}: {first[1]}"
    raise _KINDS[kind](text)


def _access(source: EmulatedSource, block: int, thread: int, place: int) -> tuple[str, str]:
    """(who, in which statement)."""
    who = f"thread {_point(thread, source.block)}"
    if thread >= MOST_THREADS:
        who = f"warp {(thread - MOST_THREADS) // HOLDERS}"
    who += f" of block {_point(block, [int(n) for n in source.grid])}"
    return who, source.statements[place]


def _point(number: int, extents: Sequence[int]) -> str:
    """A number as x, y, z."""
    x, y, _ = extents
    return f"({number % x}, {number // x % y}, {number // (x * y)})"
