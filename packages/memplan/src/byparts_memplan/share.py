"""Which values lie in the same buffer: views, values written over others, donated variables.

A kernel says which output may be written over which input; where no kernels are given, the op does
(`op.inplace`).  It is done where the types are equal and nobody needs the old bytes afterwards.
Where several outputs of a node could take several inputs, a maximum matching saves most bytes: the
larger output chooses first, and gives way only if it can still have another.  Which of two inputs
an output takes changes nothing in what is alive, as long as both are in the arena; one whose bytes
are those of a donated variable leaves it altogether, so a chain of such steps is followed back from
the variable's new value as far as the old one is dead.  After this nothing is left to decide but
offsets.

Buffers that share are long rectangles, which are harder to place.  Where the arena comes out above
its bound, `loosened` takes back what was shared at steps that have room to spare.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from byparts_memplan.donate import donations, forbids, reads_of
from byparts_memplan.lifetimes import Decision, Values, apart, needed


class Sharing:
    """Buffers, and what lives in each.

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
        self.donated, found = donations(values, self.home, donate)
        self.decisions += found
        ids, graph = values.graph.ids, values.graph
        for k, j in self.donated.items():
            root = values.root[ids[graph.outputs[j]]]
            self.home[root] = ~k
            self._follow_back(k, root)
        for k in range(len(graph.inputs)):
            self._settle(k)
        for step in range(len(graph.nodes)):
            self._overwrite(step)
            for y in range(values.first[step], values.first[step] + len(graph.nodes[step].outputs)):
                self._settle(y)

    def _follow_back(self, k: int, y: int) -> None:
        """What `y`, the new value of input `k`, is written over may lie in those bytes as well.

        As far back as the old value is dead; of several candidates, the one that is alive longest.
        """
        values = self.values
        while values.last[k] < (step := values.born[y]):
            o, reads = y - values.first[step], values.reads[step]
            pairs = values.inplace[step]
            able = [reads[p] for p, q in pairs if q == o and p < len(reads)]
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
            and values.types[x] == values.types[y]
            and values.space[root] == values.space[y]
            and values.size[root] == values.size[x] == values.size[k]
            and values.last[root] == step
            and values.last[k] <= values.born[root]
            and not forbids(values, step, reads_of(values, step, root), y)
            and not forbids(values, values.born[root], reads_of(values, values.born[root], k), root)
        )

    def _settle(self, v: int) -> None:
        """A buffer of its own for a root that has no home yet."""
        if self.values.root[v] == v and v not in self.home:
            self.home[v] = len(self.size)
            self.size.append(self.values.size[v])
            self.born.append(self.values.born[v])
            self.last.append(self.values.last[v])
            self.space.append(self.values.space[v])

    def _overwrite(self, step: int) -> None:
        """Let outputs of this node take over the buffers of inputs."""
        values = self.values
        if not values.inplace[step]:
            return
        able: dict[int, list[int]] = {}  # output -> inputs it may be written over
        asked: set[tuple[int, int]] = set()  # a value may be several inputs of a node
        for p, o in values.inplace[step]:
            if p >= len(values.reads[step]) or o >= len(values.graph.nodes[step].outputs):
                continue  # an optional input or output, not there
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
        if values.root[y] != y:
            return f"the output is a view of %{values.root[y]}"
        if y in self.home:
            return f"the output is written over input {~self.home[y]}"
        if values.types[x] != values.types[y]:
            return f"types differ: {values.types[x]} and {values.types[y]}"
        home = self.home[values.root[x]]
        if home < 0:
            return f"the bytes are those of input {~home}, outside the arena"
        if reason := apart(values, values.root[x], y):
            return reason
        if self.last[home] > step:
            return needed(values, self.last[home])
        if self.last[home] < step:
            return f"the bytes are free, and perhaps taken, after step {self.last[home]}"
        if self.size[home] != values.size[x]:
            return f"it is only {values.size[x]} bytes of a buffer of {self.size[home]}"
        return self._other_reader(step, x, o) or self._not_needed(step, y)

    def _not_needed(self, step: int, y: int) -> str:
        """Where the step has room for both, apart is easier to place."""
        if self.spare is None:
            return ""
        if y not in self.apart:
            if self.spare[step] < self.values.size[y]:
                return ""
            self.spare[step] -= self.values.size[y]
            self.apart.add(y)
        return f"not needed: step {step} has room for both, and apart they are easier to place"

    def _other_reader(self, step: int, x: int, o: int) -> str:
        """The node may read the same bytes through another input, which it may not overwrite."""
        op, values, home = self.values.graph.nodes[step].op, self.values, self.home
        for p, v in enumerate(values.reads[step]):
            same = home[values.root[v]] == home[values.root[x]] and p not in op.ignores
            if same and ((p, o) not in values.inplace[step] or values.types[v] != values.types[x]):
                return f"input {p} reads the same bytes and may not be overwritten"
        return ""

    def _take(self, step: int, able: Mapping[int, list[int]]) -> None:
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
