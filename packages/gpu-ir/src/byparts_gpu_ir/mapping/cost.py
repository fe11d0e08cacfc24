"""About how long a launch takes.

The longer of two times: that in which the bytes pass, at the speed that so many threads reach; and
that which one row takes, as often as rows follow each other.  The numbers are those of an H100, as
far as they are known without one; they choose between ways of doing the same, and need be right
within a factor of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from byparts_gpu_ir.mapping.independence import rounds
from byparts_gpu_ir.mapping.machine import Machine
from byparts_gpu_ir.mapping.phases import Alone, Phase, Repeated, Shared
from byparts_gpu_ir.mapping.team import Team
from byparts_tensor_ir.statement import WARP, For, If, Statement

_ROUND_S = 5e-9  # of a loop of one thread
_READ_S = 0.4e-6  # from asking memory to having the answer
_EXCHANGE_S, _MEET_S = 0.1e-6, 0.4e-6  # to put partial results together in a warp, in a block


def seconds_of(
    phases: Sequence[Phase], team: Team, rows: int, bytes: int, machine: Machine
) -> float:
    """Estimate how long the rows take, in seconds, without the launch.

    Args:
        phases: the work for a row.
        team: the threads that do it.
        rows: the number of rows.
        bytes: the number of bytes between memory and processors.
        machine: the GPU.
    """
    threads = rows * team.size
    speed = machine.bytes_a_second * min(1.0, threads / machine.threads)
    turns = max(1.0, threads / (2 * machine.threads))
    return max(bytes / speed, turns * sum(_seconds(p, team.size) for p in phases))


def _seconds(p: Phase, size: int) -> float:
    if isinstance(p, Alone):
        return _longest([p.statement]) * _ROUND_S
    if isinstance(p, Shared):
        most = -(-prod(p.extents) // size) * max(1, _longest(p.body))
        sum_s = 0.0 if not p.sums or size == 1 else _EXCHANGE_S if size <= WARP else _MEET_S
        return most * _ROUND_S + _READ_S + sum_s
    times = rounds([p.loop]) if isinstance(p, Repeated) else 1
    return times * sum(_seconds(inner, size) for inner in p.phases)


def _longest(body: Sequence[Statement]) -> int:
    """Rounds of the innermost loops, one after the other."""
    total = 0
    for s in body:
        if isinstance(s, For):
            total += rounds([s]) * max(1, _longest(s.body))
        elif isinstance(s, If):
            total += _longest(s.body)
    return total
