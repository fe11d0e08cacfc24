"""A GPU function as plain C, which a CPU runs: that a kernel is right before there is a GPU.

    void byparts_NAME(void **a);  // the parameters, the sizes, then what `EmulatedSource` says

It means what the CUDA C of the same function means, and follows it (`thread.py`).  Modes:

    forward   threads and blocks in the order of their numbers
    reversed  in the opposite order: what depends on the order comes out differently
    checked   as forward; each access is checked against its buffer, and against those of other
              threads and blocks: right numbers do not prove that no barrier is missing
"""

from __future__ import annotations

from collections.abc import Sequence

from byparts_gpu_ir.emit.emulated import MODES, EmulatedSource
from byparts_gpu_ir.emit.emulator import Emulator
from byparts_tensor_ir.access import EmitError
from byparts_tensor_ir.statement import Buffer, Func


def emulate(
    func: Func, mode: str = "forward", aliases: Sequence[tuple[Buffer, Buffer]] = ()
) -> EmulatedSource:
    """Plain C that does what a GPU would do.

    Args:
        func: loops bound to blocks and threads (`nest_of`).
        mode: one of `MODES`.
        aliases: pairs of parameters that the caller may give as one block of memory; any may be,
            and that they are is found out when it runs.

    Raises:
        NestError: it is no GPU function.
        EmitError: threads of a block go through a loop around a meeting another number of times,
            or a statement that has no emulation.
    """
    if mode not in MODES:
        raise EmitError(f"no mode {mode!r}; one of {', '.join(MODES)}")
    return Emulator(func, mode).source()
