"""The threads of a block, as teams that each do one row at a time.

    size 32, 8 teams           threads 0..31 are team 0, 32..63 team 1, ...
    size 8, 32 teams, across   thread t is member t // 32 of team t % 32

The members of a team are neighbours where neighbours in memory are in one row, and sum by exchanges
within a warp.  Where neighbours in memory are in different rows, such as the columns of a matrix
whose rows are added, teams lie across the warps: a warp then reads 32 neighbours of 32 rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from byparts_tensor_ir.expression import Expr, const
from byparts_tensor_ir.statement import WARP


@dataclass(frozen=True)
class Team:
    """The division of a block into teams.

    Attributes:
        size: members of a team, a power of two.
        teams: the number of teams of a block.
        across: whether neighbouring threads are of different teams.
    """

    size: int
    teams: int
    across: bool = False

    @property
    def threads(self) -> int:
        """The number of threads of a block."""
        return self.size * self.teams

    def member(self, thread: Expr) -> Expr:
        """The number of a thread within its team."""
        if self.size == 1:
            return const(0)
        return thread // self.teams if self.across else thread % self.size

    def number(self, thread: Expr) -> Expr:
        """The number of the team, within its block, that a thread belongs to."""
        if self.teams == 1:
            return const(0)
        return thread % self.teams if self.across else thread // self.size

    @property
    def lanes(self) -> int:
        """Members that are in one warp, and exchange values without memory."""
        return 1 if self.across and self.teams % WARP == 0 else min(self.size, WARP)
