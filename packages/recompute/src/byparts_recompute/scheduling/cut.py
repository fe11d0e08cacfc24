"""Chooses what to keep across one moment of a schedule, and what to compute again: a minimum cut.

Every storage that is read after the moment is kept, which costs its bytes, or computed again, which
costs a price times its cost; then the same holds for everything that this computation reads.  The
cheapest choice is a minimum cut, found by maximum flow.  PyTorch's partitioner does this between
forward and backward pass with all-or-nothing costs; here a unit of cost has a price in bytes, and
several prices give several compromises.  A cut knows of one moment only: peaks
elsewhere are left to `repair.py`.
"""

from __future__ import annotations

from collections.abc import Collection

from byparts_memplan.ordering.max_flow import FOREVER, Network
from byparts_recompute import tuning
from byparts_recompute.scheduling.editable_schedule import EditableSchedule

_SOURCE, _SINK = 0, 1


def cuts(schedule: EditableSchedule, moment: int, most: int = 12) -> list[frozenset[int]]:
    """Different sets of steps to compute again after base step `moment`, from most to fewest.

    Bisects the logarithm of the price; each cut is one maximum flow, quick in practice.
    """
    problem = _CutProblem(schedule, moment)
    if not problem.ratios:
        return []
    lower, upper = problem.ratios[0] / tuning.PRICE_RANGE, problem.ratios[-1] * tuning.PRICE_RANGE
    known = {lower: problem.solve(lower), upper: problem.solve(upper)}
    todo = [(lower, upper)]
    for low, high in todo:  # `todo` grows meanwhile: breadth first
        if len(set(known.values())) >= most or len(known) > 2 * most:
            break
        if known[low] != known[high] and high / low > tuning.PRICE_STEP:
            middle = (low * high) ** 0.5
            known[middle] = problem.solve(middle)
            todo += [(low, middle), (middle, high)]
    by_price = dict.fromkeys(known[price] for price in sorted(known))
    return [steps for steps in by_price if steps]


def keys_of(schedule: EditableSchedule, moment: int, steps: Collection[int]) -> list[int]:
    """The keys that compute each of the steps again where it is first read after a moment.

    O(graph).
    """
    n, writer = schedule.n, schedule.writer
    again: set[int] = set()
    keys: list[int] = []
    for interval in range(moment + 1, n):
        todo = [interval]
        while todo:
            for x in schedule.reads[todo.pop()]:
                w = writer.get(x, -1)
                if w in steps and w not in again and w < interval:
                    again.add(w)
                    keys.append(interval * n + w)
                    todo.append(w)
    return keys


class _CutProblem:
    """Storages that may have to be kept, and the steps that could compute them again."""

    def __init__(self, schedule: EditableSchedule, moment: int) -> None:
        self.schedule = schedule
        n, border = schedule.n, moment * (schedule.n + 1)
        self.needed = [
            v
            for v, readers in schedule.readers.items()
            if readers and readers[-1] > border and schedule.starts[v][0] <= border
        ]
        self.storages = list(self.needed)
        self.steps: dict[int, None] = {}
        seen = set(self.needed)
        for v in self.storages:  # the list grows meanwhile
            w = schedule.writer.get(v)
            if w is None or not schedule.again[w] or w in self.steps:
                continue
            self.steps[w] = None
            new = [x for x in schedule.reads[w] if x not in seen]
            seen.update(new)
            self.storages += new
        least = max((schedule.size[v] for v in self.needed), default=0) // 1000
        self.ratios = sorted(
            schedule.size[v] / max(1e-9, schedule.price[schedule.writer[v]])
            for v in self.storages
            if schedule.size[v] > least and schedule.writer.get(v, -1) in self.steps
        )
        assert n > 0, "a schedule has steps"

    def solve(self, price: float) -> frozenset[int]:
        """The steps to compute again, where a unit of cost is worth `price` bytes."""
        schedule = self.schedule
        names = {v: i for i, v in enumerate(self.storages, 2)}
        first = len(names) + 2
        steps = {s: first + i for i, s in enumerate(self.steps)}
        network = Network(first + len(steps), _SOURCE, _SINK)
        for v in self.needed:
            network.connect(_SOURCE, names[v], FOREVER)
        for v in self.storages:
            w = schedule.writer.get(v, -1)
            network.connect(names[v], steps.get(w, _SINK), schedule.size[v])
        for s, name in steps.items():
            network.connect(name, _SINK, int(min(price * schedule.price[s], 1 << 60)) + 1)
            for x in schedule.reads[s]:
                network.connect(name, names[x], FOREVER)
        network.flow()
        again = network.source_side()  # not separated from the source
        return frozenset(s for s, name in steps.items() if again[name])
