"""Which values lie in the same buffer: views, values written over others, donated variables.

An op says which output may be written over which input (`op.inplace`).  It is done where the types
are equal and nobody needs the old bytes afterwards.  Where several outputs of a node could take
several inputs, a maximum matching saves most bytes: the larger output chooses first, and gives way
only if it can still have another.  After this nothing is left to decide but offsets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from byparts_memplan.donate import donations
from byparts_memplan.lifetimes import Decision, Values, needed


class Sharing:
    """Buffers, and what lives in each.

    Attributes:
        home: by value id of a root (see `Values`): its buffer, or `~k`, the bytes of input `k`.
        size, born, last: by buffer; steps are inclusive here.
        donated: input position -> output position, for those taken.
    """

    def __init__(self, values: Values, external: Iterable[int], donate: Mapping[int, int]) -> None:
        self.values = values
        self.size: list[int] = []
        self.born: list[int] = []
        self.last: list[int] = []
        self.home: dict[int, int] = {k: ~k for k in external}
        self.decisions = list(values.decisions)
        self.donated, found = donations(values, self.home, donate)
        self.decisions += found
        ids, graph = values.graph.ids, values.graph
        for k, j in self.donated.items():
            self.home[values.root[ids[graph.outputs[j]]]] = ~k
        for k in range(len(graph.inputs)):
            self._settle(k)
        for step in range(len(graph.nodes)):
            self._overwrite(step)
            for y in range(values.first[step], values.first[step] + len(graph.nodes[step].outputs)):
                self._settle(y)

    def _settle(self, v: int) -> None:
        """A buffer of its own for a root that has no home yet."""
        if self.values.root[v] == v and v not in self.home:
            self.home[v] = len(self.size)
            self.size.append(self.values.size[v])
            self.born.append(self.values.born[v])
            self.last.append(self.values.last[v])

    def _overwrite(self, step: int) -> None:
        """Let outputs of this node take over the buffers of inputs."""
        op, values = self.values.graph.nodes[step].op, self.values
        if not op.inplace:
            return
        able: dict[int, list[int]] = {}  # output -> inputs it may be written over
        asked: set[tuple[int, int]] = set()  # a value may be several inputs of a node
        for p, o in op.inplace:
            if p >= len(values.reads[step]) or o >= len(values.graph.nodes[step].outputs):
                continue  # an optional input or output, not there
            x, y = values.reads[step][p], values.first[step] + o
            if not values.size[y] or (x, y) in asked:
                continue
            asked.add((x, y))
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
        if values.root[y] != y:
            return f"the output is a view of %{values.root[y]}"
        if y in self.home:
            return f"the output is written over input {~self.home[y]}"
        if values.types[x] != values.types[y]:
            return f"types differ: {values.types[x]} and {values.types[y]}"
        home = self.home[values.root[x]]
        if home < 0:
            return f"the bytes are those of input {~home}, outside the arena"
        if self.last[home] > step:
            return needed(values, self.last[home])
        if self.last[home] < step:
            return f"the bytes are free, and perhaps taken, after step {self.last[home]}"
        if self.size[home] != values.size[x]:
            return f"it is only {values.size[x]} bytes of a buffer of {self.size[home]}"
        return self._other_reader(step, x, o)

    def _other_reader(self, step: int, x: int, o: int) -> str:
        """The node may read the same bytes through another input, which it may not overwrite."""
        op, values, home = self.values.graph.nodes[step].op, self.values, self.home
        for p, v in enumerate(values.reads[step]):
            same = home[values.root[v]] == home[values.root[x]] and p not in op.ignores
            if same and ((p, o) not in op.inplace or values.types[v] != values.types[x]):
                return f"input {p} reads the same bytes and may not be overwritten"
        return ""

    def _take(self, step: int, able: Mapping[int, list[int]]) -> None:
        values = self.values
        homes = {y: [self.home[values.root[x]] for x in xs] for y, xs in able.items()}
        chosen = _match(homes, sorted(able, key=lambda y: -values.size[y]))
        for y, xs in able.items():
            for x, home in zip(xs, homes[y], strict=True):
                reason = "" if chosen.get(y) == home else "the bytes of another input were taken"
                if reason and y not in chosen:
                    reason = "another output has taken the bytes"
                self.decisions.append(Decision("in place", step, x, y, reason))
        for y, home in chosen.items():
            self.home[y] = home
            self.last[home] = values.last[y]


def _match(able: Mapping[int, list[int]], order: Iterable[int]) -> dict[int, int]:
    """As many outputs as possible, each with one of its own homes (augmenting paths)."""
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
                _shift(free[0], first, reached, owner, chosen)
                break
            todo += [owner[home] for home in new]
    return chosen


def _shift(
    home: int, first: int, reached: Mapping[int, int], owner: dict[int, int], chosen: dict[int, int]
) -> None:
    """Along the path back to `first`, everyone moves on to the home they asked for."""
    while True:
        output = reached[home]
        old = chosen.get(output)
        owner[home], chosen[output] = output, home
        if output == first or old is None:
            return
        home = old
