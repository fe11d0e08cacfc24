"""Decides whether buffers fit in a capacity: branch and bound over placements, exact.

Only tightly packed placements are tried, where each buffer lies at 0 or on top of another: every
other one can be pushed down to such.  The arena fills from below.  Where the floors of sections
have a local minimum, a valley, a buffer must come to lie on it, or it is left empty and all that
could lie there rise to the next height.  A branch is dead when in some section the waiting members
no longer fit above its floor (the monotonic floor of MinimaLLoc, ASPLOS 2023; its canonical order
is our rule of valleys, but any valley will do, so we take the one with fewest choices, those that
made trouble first).

A conflict is explained by the decisions that led to it, and the search jumps back to the last of
them: what happened elsewhere is not tried again (conflict-directed backjumping, Prosser 1993).
When nothing is left to explain, no placement exists.  The cost of such searches has a heavy tail;
restarts with other preferences cut it, and `feasibility.py` does that.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from byparts_graph_ir.model.frozen import Frozen
from byparts_memplan.effort import Effort
from byparts_memplan.placement.partial import FINE, PartialPlacement
from byparts_memplan.placement.sections import Sections
from byparts_memplan.tuning import LONG_JUMP

_WALL = 1 << 62  # the floor of a section in which no member waits
_LEAVE_EMPTY = -1  # a move: no member lies on the floor


class Preferences(Frozen):
    """Preferences of a run: the members and offsets that it tries first.

    Attributes:
        rank: by member; lower ranks come first among those that suit a valley as well.
        noise: the chance that two neighbours in that order are exchanged.
        spare: whether valleys with little to spare come first, not only those with few choices.
        level: whether to prefer members as high as a neighbouring floor.
    """

    rank: Sequence[int]
    noise: float
    spare: bool
    level: bool


class _Valley:
    """Sections with the same floor, and the floors beside them."""

    def __init__(self, floor: int, left: int) -> None:
        self.floor, self.left, self.right = floor, left, _WALL
        self.sections: list[int] = []


class _Choice:
    """A decision of the search: which member lies on the floor of section `s`.

    Attributes:
        able: the members that could.
        moves: members, or `_LEAVE_EMPTY`, that are still to be tried; the best is the last.
        mark: the length of the trail before it.
        reason: earlier decisions that conflict with the moves already tried.
    """

    def __init__(self, s: int, floor: int, able: list[int]) -> None:
        self.s, self.floor, self.able = s, floor, able
        self.moves: list[int] = []
        self.mark = self.reason = 0


class BranchAndBound:
    """Runs of the search on one problem; later runs know which sections made trouble."""

    def __init__(self, problem: Sections, random: Random) -> None:
        self.problem, self.random = problem, random
        self.state = PartialPlacement(problem)

    def run(
        self, capacity_bytes: int, preferences: Preferences, fails: int, effort: Effort
    ) -> bool | None:
        """Whether all fit; `None` after `fails` conflicts, or when the effort is spent.

        After `True`, `offsets` are those of the members in bytes.
        """
        self.preferences, self.fails = preferences, fails
        state = self.state
        if state.start(capacity_bytes) != FINE:
            return False
        choices: list[_Choice] = []
        while True:
            choice = self._choose()
            if choice is None:
                return True
            choice.mark = len(state.trail)
            choices.append(choice)
            if not self._advance(choices):
                return False
            state.work += len(state.floor)
            if not effort.spend(state.work) or self.fails < 0:
                return None
            state.work = 0

    @property
    def offsets(self) -> list[int]:
        """Offsets of the members, in bytes."""
        return [at * self.problem.unit for at in self.state.offset]

    def _advance(self, choices: list[_Choice]) -> bool:
        """Make the next move without a conflict, after going back if needed; `False`: none left."""
        state = self.state
        while True:
            choice, level = choices[-1], len(choices) - 1
            conflict = FINE
            while choice.moves:
                move = choice.moves.pop()
                if move == _LEAVE_EMPTY:
                    conflict = state.leave_empty(choice.s, choice.floor, level)
                else:
                    conflict = state.place(move, choice.floor, level)
                if conflict == FINE:
                    return True
                self.fails -= 1
                state.undo(choice.mark)
                if not conflict >> level & 1:
                    break  # it stands whatever is chosen here
                choice.reason |= conflict ^ 1 << level
                conflict = FINE
            if conflict == FINE:
                able = state.reason_for_only(choice.able, choice.s, choice.floor)
                conflict = choice.reason | able
            if not conflict:
                return False
            level = conflict.bit_length() - 1  # the last decision of the conflict is taken back
            self.fails -= (len(choices) - 1 - level) // LONG_JUMP
            del choices[level + 1 :]
            state.undo(choices[level].mark)
            choices[level].reason |= conflict ^ 1 << level

    def _choose(self) -> _Choice | None:
        """A choice in the valley with fewest moves; `None` when no member waits any more."""
        state, spare_counts = self.state, self.preferences.spare
        ready, room, total, trouble = state.ready, state.room, state.total, state.trouble
        least, best, place = float("inf"), None, None
        for valley in self._valleys():
            for s in valley.sections:
                spare = room[s] - valley.floor - total[s]
                weight = (spare + 1 if spare_counts else 1) / trouble[s]
                able = ready[s]
                if able is None:
                    if weight >= least:
                        continue  # one move would be too many
                    able = ready[s] = self._able(s, valley.floor)
                score = (len(able) + (spare > 0)) * weight
                if score < least:
                    least, best, place = score, _Choice(s, valley.floor, able), valley
        if best is None or place is None:
            return None
        best.moves = self._moves(best, place)
        if not best.moves:
            trouble[best.s] += 1
        return best

    def _able(self, s: int, floor: int) -> list[int]:
        """The waiting members of section `s` that would rest on its floor."""
        low, rest = self.state.low, self.state.rest
        return [b for b in self.state.waiting[s] or () if low[b] == floor == rest[b]]

    def _valleys(self) -> list[_Valley]:
        """Local minima of the floors.

        With gaps in lives only the lowest, where no member can lie lower in another section.
        """
        valleys, valley, floors = [], _Valley(_WALL, _WALL), self.state.floor
        for s, some in enumerate(self.state.waiting):
            if some is None:
                continue  # as the one before
            floor = floors[s] if some else _WALL
            if floor != valley.floor:
                valley.right = floor
                if valley.left > valley.floor < floor:
                    valleys.append(valley)
                valley = _Valley(floor, valley.floor)
            valley.sections.append(s)
        if valley.left > valley.floor:
            valleys.append(valley)
        if self.problem.gapped:
            lowest = min([v.floor for v in valleys], default=0)
            valleys = [v for v in valleys if v.floor == lowest]
        return valleys

    def _moves(self, choice: _Choice, valley: _Valley) -> list[int]:
        """Members to try, the best last: those that fill the valley from side to side."""
        p, rank, noise = self.problem, self.preferences.rank, self.preferences.noise
        first, last = valley.sections[0], valley.sections[-1]
        begins, ends = p.begins, p.ends
        heights = (valley.left, valley.right) if self.preferences.level else ()

        def suits(b: int) -> tuple[int, int]:
            flush = (begins[b] <= first) + (ends[b] > last)
            return -flush - heights.count(choice.floor + p.size[b]), rank[b]

        order = sorted(choice.able, key=suits)
        if noise:
            for k in range(len(order) - 1):
                if self.random.random() < noise:
                    order[k], order[k + 1] = order[k + 1], order[k]
        moves = list({p.group[b]: b for b in reversed(order)}.values())
        state, s = self.state, choice.s
        if state.room[s] - choice.floor > state.total[s]:
            moves.insert(0, _LEAVE_EMPTY)
        return moves
