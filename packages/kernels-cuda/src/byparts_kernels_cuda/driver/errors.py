"""Meaning of the driver's status numbers: which error to raise, and what is left to do."""

from __future__ import annotations

from byparts_graph_ir import GraphError

SUCCESS, OUT_OF_MEMORY, NOT_INITIALIZED, DEINITIALIZED = 0, 2, 3, 4

# After these the context is lost: each further call in this process gives the same status.
STICKY = frozenset(
    {
        *(214, 220),  # memory that cannot be corrected, NVLink
        *(700, 702, 709, 710),  # illegal address, timeout, context destroyed, assert
        *range(714, 720),  # stack, instruction, misaligned, address space, pc, launch failed
        *(721, 226),  # cooperative launch, contained
    }
)
GONE = frozenset({NOT_INITIALIZED, DEINITIALIZED, *STICKY})  # nothing need be freed any more


class DriverError(GraphError):
    """A call of the driver that failed.

    Attributes:
        call: the function.
        status: the number that it returned.
    """

    def __init__(self, message: str, call: str = "", status: int = 0) -> None:
        super().__init__(message)
        self.call, self.status = call, status


class DeviceLost(DriverError):
    """A kernel has failed, and with it all that this process does on the GPU from now on."""


class DeviceMemoryError(MemoryError):
    """The GPU has no room; says how much was asked for, and how much is free."""


def error_of(call: str, status: int, name: str, words: str) -> DriverError:
    """The error for a status of the driver.

    Args:
        call: the function that returned it.
        status: not 0.
        name: what the driver calls the status.
        words: what it says of it.
    """
    said = f"{call} failed with {status}, {name}: {words}"
    if status in STICKY:
        return DeviceLost(
            f"{said}; the GPU is lost for this process: restart the process "
            "(CUDA_LAUNCH_BLOCKING=1 and build(..., capture=False) tell which step it was)",
            call,
            status,
        )
    return DriverError(said, call, status)
