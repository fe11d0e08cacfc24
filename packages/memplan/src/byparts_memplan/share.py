"""Values that lie in the same buffer: views, values written over others, donated variables.

An output is written over an input where `overwrite.py` allows it and no later step needs the old
bytes.
Where several outputs of a node could take several inputs, a maximum matching saves most bytes: the
larger output chooses first, and gives way only if it can still have another.  Which of two inputs
an output takes changes nothing in what is alive, as long as both are in the arena; one whose bytes
are those of a donated variable leaves it altogether, so a chain of such steps is followed back from
the variable's new value as far as the old one is dead.  After this nothing is left to decide but
offsets.

A buffer that many values share is a long rectangle, which is harder to place.  Where the arena
comes out above its bound, `plan` shares less: nothing at steps that have room to spare.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from byparts_memplan.donate import donations, replace_refusal
from byparts_memplan.lifetimes import Decision, Values, still_needed
from byparts_memplan.overwrite import overwrite_refusal


class Sharing:
    """The buffers of a graph, and which values lie in each.

    Attributes:
        home: by value id of a root (see `Values`): its buffer, or `~k`, the bytes of input `k`.
        size, born, last, space: by buffer; steps are inclusive here.
        donated: input position -> output position, for those taken.

    `spare` says how many bytes more each step could have alive: where the output fits in there,
    nothing is shared.  Values in different spaces (`values.space`) never share.
    """

    def __init__(
        self,
        values: Values,
        external: Iterable[int],
        donate: Mapping[int, int],
        spare: Sequence[int] | None = None,
    ) -> None:
        self.values = values
        self.spare = None if spare is None else list(spare)
        self.apart: set[int] = set()
        self.size: list[int] = []
        self.born: list[int] = []
        self.last: list[int] = []
        self.space: list[str] = []
        self.home: dict[int, int] = {k: ~k for k in external}
        self.decisions = list(values.decisions)
        self.donated, decisions = donations(values, self.home, donate)
        self.decisions += decisions
        ids, graph = values.graph.ids, values.graph
        for k, j in self.donated.items():
            root = values.root[ids[graph.outputs[j]]]
            self.home[root] = ~k
            self._follow_back(k, root)
        for k in range(len(graph.inputs)):
            self._give_own_buffer(k)
        for step in range(len(graph.nodes)):
            self._overwrite(step)
            for y in range(values.first[step], values.first[step] + len(graph.nodes[step].outputs)):
                self._give_own_buffer(y)

    def _follow_back(self, k: int, y: int) -> None:
        """Put what `y`, the new value of input `k`, is written over into the bytes of `k` too.

        This goes back as far as the old value of `k` is dead.  Of several candidates for a step,
        the value that is alive longest is taken.
        """
        values = self.values
        while values.last[k] < (step := values.born[y]):
            o, reads = y - values.first[step], values.reads[step]
            able = [reads[p] for p, q in values.inplace[step] if q == o]
            able = [x for x in able if self._fits(k, step, x, y)]
            if not able:
                return
            x = min(able, key=lambda x: values.born[values.root[x]])
            self.decisions.append(Decision("in place", step, x, y))
            y = values.root[x]
            self.home[y] = ~k

    def _fits(self, k: int, step: int, x: int, y: int) -> bool:
        """Whether `x`, which `y` is written over, may be computed in the bytes of input `k`."""
        values, root = self.values, self.values.root[x]
        return (
            root not in self.home
            and root >= len(values.graph.inputs)
            and values.last[root] == step
            and not overwrite_refusal(values, step, x, y)
            and not replace_refusal(values, k, root)
        )

    def _give_own_buffer(self, v: int) -> None:
        """Make a buffer for value `v`, unless it is a view or lies in a buffer already."""
        if self.values.root[v] == v and v not in self.home:
            self.home[v] = len(self.size)
            self.size.append(self.values.size[v])
            self.born.append(self.values.born[v])
            self.last.append(self.values.last[v])
            self.space.append(self.values.space[v])

    def _overwrite(self, step: int) -> None:
        """Write outputs of a step over inputs of it, as many bytes as may be."""
        values = self.values
        if not values.inplace[step]:
            return
        able: dict[int, list[int]] = {}  # output -> inputs it may be written over
        asked: set[tuple[int, int]] = set()  # a value may be several inputs of a node
        for p, o in values.inplace[step]:
            x, y = values.reads[step][p], values.first[step] + o
            if not values.size[y] or (x, y) in asked:
                continue
            asked.add((x, y))
            if y in self.home and self.home[y] == self.home[values.root[x]]:
                continue  # in the bytes of a donated variable, both of them
            reason = self._refusal(step, x, o)
            if reason:
                self.decisions.append(Decision("in place", step, x, y, reason))
            else:
                able.setdefault(y, []).append(x)
        if able:
            self._take(step, able)

    def _refusal(self, step: int, x: int, o: int) -> str:
        """Why output `o` may not be written over the value `x`; "" if it may."""
        values, y = self.values, self.values.first[step] + o
        if y in self.home:
            return f"the output is written over input {~self.home[y]}"
        home, last = self.home[values.root[x]], values.last[values.root[x]]
        if home < 0:
            return f"the bytes are those of input {~home}, outside the arena"
        if reason := overwrite_refusal(values, step, x, y):
            return reason
        if last > step:
            return still_needed(values, last)
        if last < step:
            return f"the bytes are free, and perhaps taken, after step {last}"
        return self._not_needed(step, y)

    def _not_needed(self, step: int, y: int) -> str:
        """Why output `y` is kept apart although it may be shared: the step has room for both."""
        if self.spare is None:
            return ""
        if y not in self.apart:
            if self.spare[step] < self.values.size[y]:
                return ""
            self.spare[step] -= self.values.size[y]
            self.apart.add(y)
        return f"not needed: step {step} has room for both, and apart they are easier to place"

    def _take(self, step: int, able: Mapping[int, list[int]]) -> None:
        """Match outputs with inputs that they may be written over, and record what was decided."""
        values = self.values
        homes = {y: [self.home[values.root[x]] for x in xs] for y, xs in able.items()}
        chosen = match(homes, sorted(able, key=lambda y: -values.size[y]))
        for y, xs in able.items():
            for x, home in zip(xs, homes[y], strict=True):
                reason = "" if chosen.get(y) == home else "the bytes of another input were taken"
                if reason and y not in chosen:
                    reason = "another output has taken the bytes"
                self.decisions.append(Decision("in place", step, x, y, reason))
        for y, home in chosen.items():
            self.home[y] = home
            self.last[home] = values.last[y]


def match(able: Mapping[int, list[int]], order: Iterable[int]) -> dict[int, int]:
    """Match as many outputs as possible, each with one of its homes: a maximum matching.

    `able` gives the homes of each output; outputs earlier in `order` are matched before others.
    Augmenting paths, O(outputs x pairs).
    """
    owner: dict[int, int] = {}  # home -> output
    chosen: dict[int, int] = {}  # output -> home
    for first in order:
        reached: dict[int, int] = {}  # home -> the output that asks for it
        todo = [first]
        for output in todo:  # grows while we walk it: breadth first
            new = [home for home in able[output] if home not in reached]
            reached.update((home, output) for home in new)
            free = [home for home in new if home not in owner]
            if free:
                _augment(free[0], first, reached, owner, chosen)
                break
            todo += [owner[home] for home in new]
    return chosen


def _augment(
    home: int, first: int, reached: Mapping[int, int], owner: dict[int, int], chosen: dict[int, int]
) -> None:
    """Give each output on the augmenting path back to `first` the home that it asked for."""
    while True:
        output = reached[home]
        old = chosen.get(output)
        owner[home], chosen[output] = output, home
        if output == first or old is None:
            return
        home = old
