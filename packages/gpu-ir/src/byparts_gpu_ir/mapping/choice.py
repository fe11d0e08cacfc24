"""Chooses how many threads take on a row, and how many rows a block has.

A thread that has some sixteen elements to itself reads enough at a time, so long rows have large
teams, up to a block; rows of up to a thousand elements a warp, and short ones a part of a warp.
Where there are too few rows to keep the GPU busy their teams are larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from byparts_gpu_ir.launches import likely
from byparts_gpu_ir.mapping.machine import Machine
from byparts_gpu_ir.mapping.phases import Chosen, Phase, Repeated, Shared, all_phases
from byparts_gpu_ir.mapping.rows import Rows
from byparts_gpu_ir.mapping.team import Team
from byparts_gpu_ir.mapping.traffic import neighbours
from byparts_tensor_ir.statement import WARP, Statement

_ELEMENTS, _MOST = 16, 32  # of a thread of a long row; of a warp, which need not meet
_FEW = 4  # elements of a thread of a short row


def team_for(rows: Rows, phases: Sequence[Phase], machine: Machine) -> Team:
    """The teams of a block for these rows."""
    shared = [p for p in all_phases(phases) if isinstance(p, Shared)]
    longest = max([prod(p.extents) for p in shared], default=1)
    if longest < _FEW:
        return Team(1, machine.block_threads)
    if _across(rows, shared):
        size = _power_below(
            min(longest // _FEW, machine.most_threads // WARP, _wanted(rows, machine))
        )
        return Team(size, WARP, True) if size > 1 else Team(1, machine.block_threads)
    least = WARP if longest <= WARP * _MOST else longest // _ELEMENTS
    size = _power_below(min(least, longest // _FEW))
    size = max(size, _power_below(min(_wanted(rows, machine), longest // _FEW)))
    size = min(size, machine.most_threads)
    if not _alike(phases):
        return Team(
            max(size, WARP, _power_below(min(machine.block_threads // 2, longest // _FEW))), 1
        )
    if size >= machine.block_threads:
        return Team(size, 1)
    most = max(2 * _power_below(rows.count - 1), WARP // size, 1)
    return Team(size, min(machine.block_threads // size, most))


def resized(team: Team, threads: int, phases: Sequence[Phase]) -> Team | None:
    """A team like this one in a block of so many threads; `None` where there is none."""
    if team.size == 1:
        return Team(1, threads)
    if team.across:
        return Team(threads // team.teams, team.teams, True) if threads > team.teams else None
    if team.teams == 1 or team.size > threads:
        return Team(threads, 1)
    return Team(team.size, threads // team.size)


def _across(rows: Rows, shared: Sequence[Shared]) -> bool:
    """Whether neighbours in memory are in different rows."""
    if not rows.loops or likely(rows.loops[-1].attr.extent) < WARP // 4:
        return False
    by_row = neighbours(rows.loops[-1], rows.body)
    within = sum(neighbours(p.loops[-1].var, _body(p)) for p in shared)
    return by_row > within


def _body(p: Shared) -> tuple[Statement, ...]:
    body = p.body
    for loop in reversed(p.loops):
        body = (type(loop)(loop.var, body),)
    return body


def _wanted(rows: Rows, machine: Machine) -> int:
    """Threads of a row that keep the GPU busy."""
    return max(1, machine.threads // rows.count)


def _alike(phases: Sequence[Phase]) -> bool:
    """Whether all rows go through the same phases, so that several teams may meet in a block."""
    for p in all_phases(phases):
        if isinstance(p, Chosen) or (isinstance(p, Repeated) and p.loop.extent.op != "const"):
            return False
    return True


def _power_below(n: int) -> int:
    """The greatest power of two that is not greater."""
    return 1 << (max(1, n).bit_length() - 1)
