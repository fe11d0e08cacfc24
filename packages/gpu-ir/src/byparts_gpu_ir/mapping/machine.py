"""The GPU that kernels are made for: threads that keep it busy, and the limits of a block."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """The numbers that decide how work is shared; they change speed, never results' meaning.

    The limits are those of every NVIDIA GPU since 2017, the other numbers those of an H100.

    Attributes:
        processors: multiprocessors of the GPU.
        busy_threads: of a processor that reads at full speed; twice as many are the limit.
        block_threads: of a block, where nothing asks for another number.
        most_threads: of a block.
        shared_bytes: of a block.
        bytes_a_second: that all processors read and write together.
        launch_s: what one more kernel costs.
    """

    processors: int = 132
    busy_threads: int = 1024
    block_threads: int = 256
    most_threads: int = 1024
    shared_bytes: int = 48 << 10
    bytes_a_second: float = 3e12
    launch_s: float = 2.5e-6

    @property
    def threads(self) -> int:
        """The number of threads that keep the whole GPU busy."""
        return self.processors * self.busy_threads


H100 = Machine()
